import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@Model private final class TwinSite {
  var rank = 0
  @Relationship(deleteRule: .cascade, inverse: \TwinSensor.site) var sensors: [TwinSensor] = []
  @Relationship(inverse: \TwinSensor.reserve) var served: [TwinSensor] = []
  @Relationship(deleteRule: .cascade, inverse: \TwinSite.upper) var lower: [TwinSite] = []
  var upper: TwinSite?
  var keeper: TwinKeeper?
  init(rank: Int) { self.rank = rank }
}

@Model private final class TwinSensor {
  var rank = 0
  var site: TwinSite?
  var reserve: TwinSite?
  @Relationship(inverse: \TwinLabel.sensors) var labels: [TwinLabel] = []
  init(rank: Int) { self.rank = rank }
}

@Model private final class TwinKeeper {
  var rank = 0
  @Relationship(deleteRule: .deny, inverse: \TwinSite.keeper) var sites: [TwinSite] = []
  init(rank: Int) { self.rank = rank }
}

@Model private final class TwinLabel {
  var rank = 0
  var sensors: [TwinSensor] = []
  init(rank: Int) { self.rank = rank }
}

/// The same random operations on a file with its foreign keys, and on one whose tables another program has made without
/// them, or with plain ones: both have the same rows, log, errors and objects.
@Suite(.fewAtOnce) struct ForeignKeyTwinTests {
  static let tables = ["twin_site", "twin_sensor", "twin_keeper", "twin_label", "twin_sensor_labels"]

  /// A store, a context that holds all objects, and what subscribers are told.
  private final class Twin {
    let file: TemporaryFile
    let store: ModelContainer
    let context: ModelContext
    let told: GroupCommitTests.Told
    var held: [any PersistentModel] = []

    /// - Parameter reference: What stands in the place of each foreign key; nil for the models' own.
    init(_ reference: String?) throws {
      file = try TemporaryFile()
      if let reference {
        let other = try Connection(path: file.url.path, access: .create)
        let key = /REFERENCES ("\w+"\("\w+"\)) ON DELETE (SET NULL|CASCADE|RESTRICT)/
        for sql in try ModelContainer.schemaSQL(
          for: TwinSite.self, TwinSensor.self, TwinKeeper.self, TwinLabel.self)
        {
          try other.execute(sql.replacing(key) { reference.replacing("…", with: $0.1) })
        }
      }
      store = try ModelContainer(
        for: TwinSite.self, TwinSensor.self, TwinKeeper.self, TwinLabel.self,
        configurations: ModelConfiguration(url: file.url, changeLog: .on()))
      context = ModelContext(store, isolation: nil)
      told = GroupCommitTests.Told(store)
    }

    func all<Model: PersistentModel>(_ type: Model.Type) throws -> [Model] {
      try context.fetch(FetchDescriptor<Model>(sortBy: [SortDescriptor(\.persistentModelID)]))
    }

    /// - Returns: The error's text, if any.
    func step(_ random: inout Random) throws -> String {
      let (sites, sensors, labels, keepers) = (
        try all(TwinSite.self), try all(TwinSensor.self), try all(TwinLabel.self), try all(TwinKeeper.self)
      )
      let (kind, rank) = (random.below(13), random.below(6))
      func some<Model>(_ models: [Model]) -> Model? { models.isEmpty ? nil : random.pick(models) }
      do {
        switch kind {
        case 0, 1:
          let site = TwinSite(rank: rank)
          context.insert(site)
          (site.upper, site.keeper) = (some(sites), some(keepers))
          held.append(site)
        case 2, 3:
          let sensor = TwinSensor(rank: rank)
          context.insert(sensor)
          (sensor.site, sensor.reserve) = (some(sites), some(sites))
          sensor.labels = labels.filter { _ in random.chance(2) }
          held.append(sensor)
        case 4:
          let keeper = TwinKeeper(rank: rank)
          context.insert(keeper)
          held.append(keeper)
        case 5:
          let label = TwinLabel(rank: rank)
          context.insert(label)
          label.sensors = sensors.filter { _ in random.chance(3) }
          held.append(label)
        case 6:
          some(sites)?.upper = some(sites)  // in a circle, too
          some(sensors)?.site = some(sites)
          some(sites)?.keeper = nil
        case 7: some(sites).map { context.delete($0) }
        case 8:
          some(sensors).map { context.delete($0) }
          some(labels).map { context.delete($0) }
        case 9: some(keepers).map { context.delete($0) }
        case 10: try context.delete(model: TwinSite.self, where: #Predicate<TwinSite> { $0.rank == rank })
        case 11: try context.delete(model: TwinKeeper.self, where: #Predicate<TwinKeeper> { $0.rank == rank })
        default:
          let table = ["twin_site", "twin_label", "twin_sensor"][rank % 3]
          try store.execute(SQL(verbatim: "DELETE FROM \(table) WHERE id % 4 = 1"))
        }
        try context.save()
      } catch let error as ModelError {
        context.rollback()
        return error.description
      }
      try context.refresh()
      return ""
    }

    /// All rows; what subscribers were told, in an order of its own; what the objects refer to.
    func state() throws -> [[String]] {
      let rows = try ForeignKeyTwinTests.tables.map { table in
        try store.query(SQL(verbatim: "SELECT * FROM \(table) ORDER BY 1, 2")).map { "\($0.values)" }
      }
      let log = told.commits.withLock { $0 }.map { commit in
        commit.text.split(separator: "\n").map { table in
          let parts = table.split(separator: ": ", maxSplits: 1)
          return "\(parts[0]): \((parts.last ?? "").components(separatedBy: "; ").sorted())"
        }.sorted().joined(separator: "\n")
      }
      let objects = held.map { object in
        if object.isDeleted { return "deleted" }
        return switch object {
        case let site as TwinSite:
          "\(key(site)) \(key(site.upper)) \(key(site.keeper)) \(keys(site.sensors)) \(keys(site.served)) \(keys(site.lower))"
        case let sensor as TwinSensor:
          "\(key(sensor)) \(key(sensor.site)) \(key(sensor.reserve)) \(keys(sensor.labels))"
        case let keeper as TwinKeeper: "\(key(keeper)) \(keys(keeper.sites))"
        case let label as TwinLabel: "\(key(label)) \(keys(label.sensors))"
        default: ""
        }
      }
      return rows + [log, objects]
    }

    private func key(_ model: (any PersistentModel)?) -> String { "\(model?.persistentModelID.rowKey ?? 0)" }
    private func keys(_ models: [some PersistentModel]) -> [String] { models.map { key($0) }.sorted() }
  }

  @Test(arguments: ["", "REFERENCES …"], [1, 2, 3, extraSeed])
  func `a file without the foreign keys is kept like one with them`(reference: String, seed: UInt64) throws {
    let twins = [try Twin(nil), try Twin(reference)]
    var refused = 0
    for step in 0..<150 {
      let errors = try twins.map { twin in
        var random = Random(seed: seed &* 1000 &+ UInt64(step))
        return try twin.step(&random)
      }
      if errors[0] != "" { refused += 1 }
      #expect(errors[0] == errors[1], "seed \(seed), step \(step)")
      let states = try twins.map { try $0.state() }
      #expect(states[0] == states[1], "seed \(seed), step \(step)")
      if states[0] != states[1] { return }
    }
    #expect(refused > 0)
  }
}
