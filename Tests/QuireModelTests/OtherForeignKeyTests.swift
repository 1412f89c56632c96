import Quire
import TestSupport
import Testing

@Model(table: "station") private final class ClearedStation {
  var name = "upper"
  @Relationship(inverse: \ClearedSensor.station) var sensors: [ClearedSensor] = []
  var crew: [ClearedPerson] = []
  init() {}
}

@Model(table: "sensor") private final class ClearedSensor {
  var station: ClearedStation?
  init() {}
}

@Model(table: "person") private final class ClearedPerson {
  @Relationship(inverse: \ClearedStation.crew) var stations: [ClearedStation] = []
  init() {}
}

@Model(table: "station") private final class EmptiedStation {
  var name = "upper"
  @Relationship(deleteRule: .cascade, inverse: \EmptiedSensor.station) var sensors: [EmptiedSensor] = []
  @Relationship(deleteRule: .cascade, inverse: \EmptiedStation.upper) var lower: [EmptiedStation] = []
  var upper: EmptiedStation?
  init() {}
}

@Model(table: "sensor") private final class EmptiedSensor {
  var station: EmptiedStation?
  init() {}
}

@Model(table: "station") private final class KeptStation {
  var name = "upper"
  @Relationship(deleteRule: .deny, inverse: \KeptSensor.station) var sensors: [KeptSensor] = []
  init() {}
}

@Model(table: "sensor") private final class KeptSensor {
  var station: KeptStation?
  init() {}
}

@Model(table: "station") private final class NeededStation {
  var name = "upper"
  @Relationship(inverse: \BoundSensor.station) var sensors: [BoundSensor] = []
  init() {}
}

@Model(table: "sensor") private final class BoundSensor {
  var station: NeededStation
  init(station: NeededStation) { self.station = station }
}

/// Delete rules in files whose tables another program has made, without foreign keys or with plain ones.
@Suite @MainActor struct OtherForeignKeyTests {
  private let file: TemporaryFile

  init() throws { file = try TemporaryFile() }

  /// Three stations, each but the first below the one before; two sensors at each, two people at two stations.
  private func make(_ reference: String, pairs: String = "") throws {
    let maker = try Connection(path: file.url.path, access: .create)
    try maker.execute(
      """
      CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT NOT NULL, upper_id INTEGER \(reference));
      CREATE TABLE sensor (id INTEGER PRIMARY KEY, station_id INTEGER \(reference));
      CREATE TABLE person (id INTEGER PRIMARY KEY);
      CREATE TABLE cleared_person_stations (
        cleared_person_id INTEGER NOT NULL \(pairs.replacing("station", with: "person")),
        cleared_station_id INTEGER NOT NULL \(pairs));
      INSERT INTO station VALUES (1, 'a', NULL), (2, 'b', 1), (3, 'c', 2);
      INSERT INTO sensor VALUES (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3);
      INSERT INTO person VALUES (1), (2);
      INSERT INTO cleared_person_stations VALUES (1, 1), (1, 2), (2, 1), (2, 2);
      """)
  }

  nonisolated private static let references = ["", "REFERENCES station", "REFERENCES station(id) ON DELETE NO ACTION"]

  @Test(arguments: references) func `a rule that clears references does, in the file and in objects`(
    reference: String
  ) throws {
    try make(reference, pairs: reference)
    let store = try ModelContainer(
      for: ClearedStation.self, ClearedSensor.self, ClearedPerson.self, url: file.url)
    let context = store.mainContext
    let schema: SQL = "SELECT sql FROM sqlite_schema WHERE substr(name, 1, 7) <> '_quire_' ORDER BY name"
    let before = try store.query(schema).map(\.values)
    let sensors = try context.fetch(FetchDescriptor<ClearedSensor>(sortBy: [SortDescriptor(\.persistentModelID)]))
    let other = ModelContext(store)
    let theirs = try #require(try other.all(ClearedPerson.self).first)
    #expect(sensors[2].station?.name == "b" && theirs.stations.count == 2)
    if !reference.isEmpty {
      // No property of the models has this one.
      let error = #expect(throws: ModelError.self) {
        try context.delete(model: ClearedStation.self, where: #Predicate { $0.name == "b" })
      }
      #expect(
        error?.description
          == "ClearedStation 2 was not deleted: the foreign key station.upper_id, in 1 of the file's rows, "
          + "prevents it. Nothing was deleted.")
      try store.execute("UPDATE station SET upper_id = NULL")
    }
    try context.delete(model: ClearedStation.self, where: #Predicate { $0.name == "b" })
    try other.refresh()
    #expect(sensors[2].station == nil && sensors[0].station != nil && theirs.stations.map(\.name) == ["a"])
    context.delete(try #require(sensors[0].station))
    try context.save()
    try other.refresh()
    #expect(sensors[0].station == nil && theirs.stations.isEmpty)
    #expect(try store.value("SELECT count(*) FROM sensor WHERE station_id IS NULL") == 4)
    #expect(try store.value("SELECT count(*) FROM cleared_person_stations") == 0)
    try store.execute("DELETE FROM station")
    try context.refresh()
    #expect(sensors[4].station == nil)
    #expect(try store.query(schema).map(\.values) == before)
    try store.close()
  }

  @Test(arguments: references, [true, false]) func `a cascade takes all levels along`(
    reference: String, byPredicate: Bool
  ) throws {
    try make(reference)
    let store = try ModelContainer(for: EmptiedStation.self, EmptiedSensor.self, url: file.url)
    let context = store.mainContext
    let sensors = try context.fetch(FetchDescriptor<EmptiedSensor>())
    if byPredicate {
      try context.delete(model: EmptiedStation.self, where: #Predicate { $0.name == "a" })
    } else {
      let top = try #require(try context.all(EmptiedStation.self).first { $0.name == "a" })
      context.delete(top)
      try context.save()
    }
    #expect(sensors.count == 6 && sensors.allSatisfy(\.isDeleted))
    #expect(try store.value("SELECT count(*) FROM station") == 0)
    #expect(try store.value("SELECT count(*) FROM sensor") == 0)
    try store.close()
  }

  @Test(arguments: references) func `a rule that keeps an object does, and says what stands against it`(
    reference: String
  ) throws {
    try make(reference)
    let store = try ModelContainer(for: KeptStation.self, KeptSensor.self, url: file.url)
    let context = store.mainContext
    try store.execute("UPDATE station SET upper_id = NULL")
    let station = try #require(try context.all(KeptStation.self).first { $0.name == "a" })
    context.delete(station)
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(
      error?.description
        == "KeptStation 1 was not deleted: it has 2 KeptSensor in sensors, whose delete rule is .deny. Nothing was saved."
    )
    context.rollback()
    let other = #expect(throws: ModelError.self) { try context.delete(model: KeptStation.self) }
    #expect(
      other?.description
        == "KeptStation 1 was not deleted: it has 2 KeptSensor in sensors, whose delete rule is .deny. Nothing was deleted."
    )
    station.sensors = []
    context.delete(station)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM station") == 2)
    try store.close()
  }

  @Test(arguments: references) func `an object that others must have stays`(reference: String) throws {
    try make(reference)
    let store = try ModelContainer(for: NeededStation.self, BoundSensor.self, url: file.url)
    let context = store.mainContext
    context.delete(try #require(try context.all(NeededStation.self).first { $0.name == "c" }))
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(
      error?.description
        == "NeededStation 3 was not deleted: it is the station of 2 BoundSensor, which must have one. Nothing was saved."
    )
    context.rollback()
    try store.close()
  }

  @Test func `a foreign key that prevents a deletion decides, and is named`() throws {
    try make("REFERENCES station ON DELETE RESTRICT")
    let store = try ModelContainer(for: ClearedStation.self, ClearedSensor.self, ClearedPerson.self, url: file.url)
    let context = store.mainContext
    context.delete(try #require(try context.all(ClearedStation.self).first { $0.name == "c" }))
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(
      error?.description
        == "ClearedStation 3 was not deleted: the foreign key sensor.station_id, in 2 of the file's rows, prevents it. "
        + "Nothing was saved.")
    context.rollback()
    try store.close()
  }

  @Test func `a rule follows the file when another program changes its tables`() throws {
    try make("REFERENCES station")
    let store = try ModelContainer(for: ClearedStation.self, ClearedSensor.self, ClearedPerson.self, url: file.url)
    let context = store.mainContext
    try store.execute("UPDATE station SET upper_id = NULL")
    func change(_ sql: String) throws { try Connection(path: file.url.path, access: .readWrite).execute(sql) }
    func delete(_ name: String) throws {
      context.delete(try #require(try context.all(ClearedStation.self).first { $0.name == name }))
      try context.save()
    }
    // A write that is rolled back takes nothing with it that later ones need.
    try change("ALTER TABLE sensor ADD COLUMN note TEXT")
    #expect(throws: ModelError.self) {
      try store.writeSQL { _ in throw ModelError.relationshipRefused("no") }
    }
    try delete("a")
    #expect(try store.value("SELECT count(*) FROM sensor WHERE station_id IS NULL") == 2)
    try change(
      """
      ALTER TABLE sensor RENAME TO old;
      CREATE TABLE sensor (id INTEGER PRIMARY KEY, station_id INTEGER REFERENCES station ON DELETE RESTRICT);
      INSERT INTO sensor SELECT id, station_id FROM old; DROP TABLE old
      """)
    #expect(throws: ModelError.self) { try delete("b") }
    context.rollback()
    try change("DROP TABLE sensor; DROP TABLE cleared_person_stations")
    try store.execute("DELETE FROM station WHERE name = 'b'")
    #expect(try store.value("SELECT count(*) FROM station") == 1)
    try store.close()
  }

  @Test func `a table is made again through the store itself, and the rule goes on`() throws {
    try make("REFERENCES station")
    let store = try ModelContainer(for: ClearedStation.self, ClearedSensor.self, ClearedPerson.self, url: file.url)
    let context = store.mainContext
    try store.execute("UPDATE station SET upper_id = NULL")
    try store.execute(
      """
      CREATE TABLE other (id INTEGER PRIMARY KEY, station_id INTEGER REFERENCES station, note TEXT);
      INSERT INTO other SELECT id, station_id, NULL FROM sensor;
      DROP TABLE sensor;
      ALTER TABLE other RENAME TO sensor
      """)
    try store.execute("ALTER TABLE station RENAME COLUMN upper_id TO above_id")
    try context.delete(model: ClearedStation.self)
    #expect(try store.value("SELECT count(*) FROM sensor WHERE station_id IS NULL") == 6)
    try store.close()
  }

  @Test func `a file that the store has made needs none of it`() throws {
    let store = try ModelContainer(for: ClearedStation.self, ClearedSensor.self, ClearedPerson.self, url: file.url)
    store.mainContext.insert(ClearedStation())
    try store.mainContext.save()
    try store.close()
    let again = try ModelContainer(for: ClearedStation.self, ClearedSensor.self, ClearedPerson.self, url: file.url)
    let triggers = try again.writeSQL { try $0.query("SELECT count(*) FROM sqlite_temp_schema WHERE type = 'trigger'") }
    #expect(triggers.first?.values.first == 0)
    try again.close()
  }
}
