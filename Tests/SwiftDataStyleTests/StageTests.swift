import Quire
import Testing

private enum PlayersV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Club.self, Player.self] }

  @Model final class Club {
    var name = ""
    init() {}
  }

  @Model final class Player {
    var name: String
    var points: String
    init(name: String, points: String) { (self.name, self.points) = (name, points) }
  }
}

private enum TeamsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Team.self, Scout.self] }

  @Model final class Team {
    var name = ""
    @Relationship(inverse: \Scout.team) var scouts: [Scout] = []
    init() {}
  }

  @Model final class Scout {
    var team: Team?
    init() {}
  }
}

private enum TeamsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Team.self, Scout.self] }

  @Model final class Team {
    var name = ""
    @Relationship(deleteRule: .cascade, inverse: \Scout.team) var scouts: [Scout] = []
    init() {}
  }

  @Model final class Scout {
    var team: Team
    init(_ team: Team) { self.team = team }
  }
}

private enum PlayersV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Player.self] }

  @Model final class Player {
    var first = ""
    var last = ""
    var points: Int
    init(points: Int) { self.points = points }
  }
}

/// What the closures of a stage tell each other, and what a stage cannot convert.
@Suite struct StageTests {
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "quire-stages-\(UUID().uuidString)")
    var file: URL { url.appending(path: "players.store") }
    deinit { try? FileManager.default.removeItem(at: url) }
  }

  private func first(_ file: URL, points: [String]) throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: PlayersV1.self), configurations: ModelConfiguration(url: file))
    let context = ModelContext(container)
    for (index, points) in points.enumerated() {
      context.insert(PlayersV1.Player(name: "Player \(index)", points: points))
    }
    try context.save()
  }

  private func open(_ file: URL, with plan: any SchemaMigrationPlan.Type) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: PlayersV2.self), migrationPlan: plan, configurations: ModelConfiguration(url: file))
  }

  @Test func `what willMigrate notes by identifier is found in didMigrate`() throws {
    enum Plan: SchemaMigrationPlan {
      nonisolated(unsafe) static var names: [PersistentIdentifier: String] = [:]
      static var schemas: [any VersionedSchema.Type] { [PlayersV1.self, PlayersV2.self] }
      static var stages: [MigrationStage] {
        [
          .custom(
            fromVersion: PlayersV1.self, toVersion: PlayersV2.self,
            willMigrate: { context in
              for player in try context.fetch(FetchDescriptor<PlayersV1.Player>()) {
                names[player.persistentModelID] = player.name
              }
            },
            didMigrate: { context in
              for (id, name) in names {
                let player = try #require(context.model(for: id) as? PlayersV2.Player)
                #expect(names[player.persistentModelID] == name)
                let parts = name.split(separator: " ").map(String.init)
                (player.first, player.last) = (parts[0], parts[1])
              }
            })
        ]
      }
    }
    let folder = Folder()
    try first(folder.file, points: ["3", "4"])
    let context = ModelContext(try open(folder.file, with: Plan.self))
    let players = try context.fetch(FetchDescriptor<PlayersV2.Player>(sortBy: [SortDescriptor(\.last)]))
    #expect(players.map(\.first) == ["Player", "Player"] && players.map(\.last) == ["0", "1"])
    #expect(players.map(\.points) == [3, 4])
  }

  @Test func `a value that is none of the new type is refused with model and property`() throws {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [PlayersV1.self, PlayersV2.self] }
      static var stages: [MigrationStage] { [] }
    }
    let folder = Folder()
    try first(folder.file, points: ["3", "many"])
    for _ in 0..<2 {
      let error = #expect(throws: SchemaError.self) { try open(folder.file, with: Plan.self) }
      #expect(
        "\(error as Any)".contains("version 2.0.0 keeps Player.points as INTEGER, and a row has a TEXT value there"))
    }
    let before = try ModelContainer(
      for: Schema(versionedSchema: PlayersV1.self), configurations: ModelConfiguration(url: folder.file))
    let players = try ModelContext(before).fetch(FetchDescriptor<PlayersV1.Player>(sortBy: [SortDescriptor(\.name)]))
    #expect(players.map(\.points) == ["3", "many"])
  }
  @Test func `a row without an object for a reference that is no longer optional is refused with model and property`()
    throws
  {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [TeamsV1.self, TeamsV2.self] }
      static var stages: [MigrationStage] { [] }
    }
    let folder = Folder()
    let configuration = ModelConfiguration(url: folder.file)
    let store = try ModelContainer(for: Schema(versionedSchema: TeamsV1.self), configurations: configuration)
    let context = ModelContext(store)
    let (scout, free) = (TeamsV1.Scout(), TeamsV1.Scout())
    context.insert(scout)
    context.insert(free)
    scout.team = TeamsV1.Team()
    try context.save()
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Schema(versionedSchema: TeamsV2.self), migrationPlan: Plan.self, configurations: configuration)
    }
    let error = #expect(throws: SchemaError.self) { try open() }
    #expect(
      error?.description.hasPrefix("in version 2.0.0 each Scout needs an object in team, and rows have none;") == true)
    context.delete(free)
    try context.save()
    #expect(try ModelContext(open()).fetchCount(FetchDescriptor<TeamsV2.Scout>()) == 1)
  }
}
