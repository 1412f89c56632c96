import Quire
import Testing

private enum GoodsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Good.self] }

  /// `price` is text that became a number: `priceInCents` has been filled from it.
  @Model final class Good {
    var price: String
    var priceInCents: Int?
    var front: String
    var back: String
    init(_ price: String, cents: Int?, front: String, back: String) {
      (self.price, priceInCents, self.front, self.back) = (price, cents, front, back)
    }
  }
}

private enum GoodsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Good.self] }

  @Model final class Good {
    @Attribute(originalName: "priceInCents") var price: Int = -1
    @Attribute(originalName: "back") var front: String
    @Attribute(originalName: "front") var back: String
    init(front: String, back: String) { (self.front, self.back) = (front, back) }
  }
}

private enum GoodsV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Good.self] }

  /// The former names stay in the source, and one of them is that of a new property.
  @Model final class Good {
    @Attribute(originalName: "priceInCents") var price: Int = -1
    @Attribute(originalName: "back") var front: String
    @Attribute(originalName: "front") var back: String
    var priceInCents = 7
    init(front: String, back: String) { (self.front, self.back) = (front, back) }
  }
}

private enum GoodsV4: VersionedSchema {
  static let versionIdentifier = Schema.Version(4, 0, 0)
  static var models: [any PersistentModel.Type] { [Good.self] }

  @Model final class Good {
    @Attribute(originalName: "priceInCents") var price: Int = -1
    @Attribute(originalName: "back") var front: String
    @Attribute(originalName: "front") var back: String
    var priceInCents = 7
    var note = "none"
    init(front: String, back: String) { (self.front, self.back) = (front, back) }
  }
}

private enum FleetV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Ship.self, Port.self] }

  @Model final class Ship {
    #Index<Ship>([\.name])
    var name: String
    var home: Port?
    var visits: [Port] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Port {
    var name: String
    @Relationship(inverse: \Ship.home) var ships: [Ship] = []
    @Relationship(inverse: \Ship.visits) var visitors: [Ship] = []
    init(_ name: String) { self.name = name }
  }
}

private enum FleetV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Ship.self, Port.self] }

  @Model(table: "vessels") final class Ship {
    #Index<Ship>([\.name])
    var name: String
    @Relationship(originalName: "home") var base: Port?
    @Relationship(originalName: "visits") var calls: [Port] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Port {
    var name: String
    @Relationship(inverse: \Ship.base) var ships: [Ship] = []
    @Relationship(inverse: \Ship.calls) var visitors: [Ship] = []
    init(_ name: String) { self.name = name }
  }
}

/// Former names, where an older version has a property of the new name, too.
@Suite struct RenameTests {
  private enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [GoodsV1.self, GoodsV2.self, GoodsV3.self, GoodsV4.self] }
    static var stages: [MigrationStage] { [] }
  }

  @Test func `a former name counts more than the same name, once`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-renames-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration(url: folder.appending(path: "goods.store"))
    func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: version), migrationPlan: Plan.self, configurations: configuration))
    }
    do {
      let context = try open(GoodsV1.self)
      context.insert(GoodsV1.Good("1.20", cents: 120, front: "A", back: "B"))
      context.insert(GoodsV1.Good("free", cents: nil, front: "C", back: "D"))
      try context.save()
    }
    let second = try open(GoodsV2.self).fetch(FetchDescriptor<GoodsV2.Good>(sortBy: [SortDescriptor(\.front)]))
    #expect(second.map(\.price) == [120, -1])
    #expect(second.map(\.front) == ["B", "D"] && second.map(\.back) == ["A", "C"])
    let fourth = try open(GoodsV4.self).fetch(FetchDescriptor<GoodsV4.Good>(sortBy: [SortDescriptor(\.front)]))
    #expect(fourth.map(\.price) == [120, -1] && fourth.map(\.priceInCents) == [7, 7])
    #expect(fourth.map(\.front) == ["B", "D"] && fourth.map(\.back) == ["A", "C"])
    #expect(fourth.map(\.note) == ["none", "none"])
  }

  @Test func `a table and its references with other names have their own indexes, and no others`() throws {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [FleetV1.self, FleetV2.self] }
      static var stages: [MigrationStage] { [] }
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-renames-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration(url: folder.appending(path: "fleet.store"))
    do {
      let store = try ModelContainer(for: Schema(versionedSchema: FleetV1.self), configurations: configuration)
      let context = ModelContext(store)
      let (ship, port) = (FleetV1.Ship("Argo"), FleetV1.Port("Iolkos"))
      context.insert(ship)
      (ship.home, ship.visits) = (port, [port])
      try context.save()
      try store.execute("CREATE INDEX by_length ON ship (length(name))")
    }
    let store = try ModelContainer(
      for: Schema(versionedSchema: FleetV2.self), migrationPlan: Plan.self, configurations: configuration)
    let context = ModelContext(store)
    let ship = try #require(try context.fetchOne(FetchDescriptor<FleetV2.Ship>()))
    #expect(ship.base?.name == "Iolkos" && ship.calls.map(\.name) == ["Iolkos"])
    func indexes(_ store: ModelContainer) throws -> [String] {
      let rows = try store.query("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL ORDER BY 1")
      return rows.map { "\($0["name"])" }
    }
    let new = try ModelContainer(
      for: Schema(versionedSchema: FleetV2.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    #expect(try indexes(store) == ["'by_length'"] + indexes(new))
  }
}
