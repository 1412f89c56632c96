import Quire
import QuireSQLite
import TestSupport
import Testing

/// Keys are the store's to give, and none is given twice.
@Suite(.fewAtOnce) struct KeyTests {
  /// Deletes the row with the highest key in some way; then a new row must get the next one.
  enum Way: String, CaseIterable, Sendable {
    case model, cascade, predicate, rawSQL, rawCascade, elsewhereThenReopened

    func delete(in store: ModelContainer) throws {
      let context = ModelContext(store)
      switch self {
      case .model, .elsewhereThenReopened: context.delete(try context.volume("last"))
      case .cascade: context.delete(try context.writer("Lem"))
      case .predicate: try context.delete(model: Volume.self, where: #Predicate { $0.title == "last" })
      case .rawSQL: try store.execute("DELETE FROM volume WHERE title = 'last'")
      case .rawCascade: try store.execute("DELETE FROM writer")
      }
      try context.save()
    }
  }

  @Test(arguments: Way.allCases, [false, true])
  func `the key of a deleted row is never used again, not even by the next process`(way: Way, reopens: Bool) throws {
    let file = try TemporaryFile()
    var store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    try store.execute("INSERT INTO writer (id, name) VALUES (7, 'Lem')")
    try store.execute(
      "INSERT INTO volume (id, title, price, is_in, writer_id) VALUES (3, 'first', 0, 1, NULL), (41, 'last', 0, 1, 7)")
    try store.database.close()
    store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    try way.delete(in: store)
    if reopens || way == .elsewhereThenReopened {
      try store.database.close()
      store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    }
    let context = ModelContext(store)
    let (new, writer) = (Volume("new"), Writer(name: "new"))
    context.insert(new)
    context.insert(writer)
    try context.save()
    #expect(new.persistentModelID.rowKey == 42)
    #expect(writer.persistentModelID.rowKey == 8)
  }

  @Test func `a key that one store has given is not given again by another that has the file open`() throws {
    let file = try TemporaryFile()
    let first = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let second = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let (one, other) = (ModelContext(first, isolation: nil), ModelContext(second, isolation: nil))
    let deleted = Volume("deleted by its own store")
    one.insert(deleted)
    try one.save()
    #expect(deleted.persistentModelID.rowKey == 1)
    one.delete(deleted)
    try one.save()
    let next = Volume("next")
    other.insert(next)
    try other.save()
    #expect(next.persistentModelID.rowKey == 2)

    // Deleted by a store that has not met it as an object.
    try first.execute("DELETE FROM volume")
    for (context, key) in [(other, 3), (one, 4), (other, 5)] as [(ModelContext, Int64)] {
      let volume = Volume("\(key)")
      context.insert(volume)
      try context.save()
      #expect(volume.persistentModelID.rowKey == key)
    }
  }

  @Test func `a key whose row a trigger deletes is not used again`() throws {
    let file = try TemporaryFile()
    var store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    try store.execute(
      "CREATE TRIGGER take AFTER DELETE ON writer BEGIN DELETE FROM volume; END")
    let context = ModelContext(store)
    let lem = Writer(name: "Lem")
    context.insert(lem)
    for number in 1...5 { context.insert(Volume("\(number)")) }
    try context.save()
    context.delete(lem)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM volume") == 0)
    try store.database.close()
    store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let next = Volume("next")
    let other = ModelContext(store)
    other.insert(next)
    try other.save()
    #expect(next.persistentModelID.rowKey == 6)
  }

  @Test func `a key that another program's AUTOINCREMENT has used is not used again`() throws {
    let file = try TemporaryFile()
    do {
      let other = try Connection(path: file.url.path, access: .create)
      try other.execute(
        """
        CREATE TABLE sequenced (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
        INSERT INTO sequenced (id, name) VALUES (1, 'first'), (500, 'last');
        DELETE FROM sequenced WHERE id = 500;
        """)
    }
    let store = try ModelContainer(for: Sequenced.self, url: file.url)
    let context = ModelContext(store, isolation: nil)
    func newKey() throws -> Int64? {
      let sequenced = Sequenced("new")
      context.insert(sequenced)
      try context.save()
      return sequenced.persistentModelID.rowKey
    }
    #expect(try newKey() == 501)
    let other = try Connection(path: file.url.path, access: .create)
    try other.execute("INSERT INTO sequenced (name) VALUES ('other'); DELETE FROM sequenced WHERE name = 'other'")
    #expect(try newKey() == 503)
    try store.execute("DELETE FROM sequenced WHERE id > 1")
    #expect(try newKey() == 504)
    #expect(try store.value("SELECT seq FROM sqlite_sequence WHERE name = 'sequenced'") == 504)
    #expect(try store.value("SELECT count(*) FROM sqlite_schema WHERE name = '_quire_keys'") == 0)
  }

  @Test(arguments: Array(0..<8) + [extraSeed])
  func `whichever of several stores gives a key, none is given twice`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let file = try TemporaryFile()
    func open() throws -> ModelContainer {
      var configuration = ModelConfiguration(url: file.url)
      configuration.synchronous = .off
      return try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    }
    var stores = [try open(), try open(), try open()]
    var contexts = stores.map { ModelContext($0, isolation: nil) }
    var given: Set<Int64> = []
    for _ in 0..<120 {
      let place = random.below(stores.count)
      let (store, context) = (stores[place], contexts[place])
      switch random.below(9) {
      case 0:
        try store.database.close()
        stores[place] = try open()
        contexts[place] = ModelContext(stores[place], isolation: nil)
      case 1:
        try store.execute("DELETE FROM volume WHERE id > (SELECT max(id) FROM volume) - \(random.below(3))")
      case 2: try context.delete(model: Volume.self, where: #Predicate { $0.year == 3 })
      case 3:
        guard let last = try context.all(Volume.self).last else { continue }
        context.delete(last)
        try context.save()
      case 4: _ = try store.writeSQL { try $0.connection.execute("UPDATE volume SET title = title || 'x'") }
      default:
        let volumes = (0...random.below(3)).map { _ in Volume("v", year: random.below(5)) }
        for volume in volumes { context.insert(volume) }
        try context.save()
        for volume in volumes {
          let key = try #require(volume.persistentModelID.rowKey)
          #expect(given.insert(key).inserted, "seed \(seed): \(key) was given twice")
        }
      }
    }
    #expect(given.count > 50)
  }

  @Test func `keys are used up with an error, not with a trap`() throws {
    let store = try store()
    try store.execute("INSERT INTO volume (id, title, price, is_in) VALUES (9223372036854775807, 'last', 0, 1)")
    let context = ModelContext(store)
    context.insert(Volume("one too many"))
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .keysExhausted("Volume")? = error else { throw error! }
    context.rollback()
    #expect(try context.volume("last").persistentModelID.rowKey == .max)
  }

  @Test func `the highest key of all is given, and then none`() throws {
    let store = try store()
    try store.execute("INSERT INTO volume (id, title, price, is_in) VALUES (9223372036854775805, 'before', 0, 1)")
    let context = ModelContext(store)
    let volumes = [Volume("last but one"), Volume("last")]
    for volume in volumes { context.insert(volume) }
    try context.save()
    #expect(volumes.map(\.persistentModelID.rowKey) == [Int64.max - 1, .max])
    context.insert(Volume("one too many"))
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .keysExhausted("Volume")? = error else { throw error! }
  }

  @Test func `rows with keys of zero and below are objects like others, and do not disturb new ones`() throws {
    let store = try store()
    try store.execute("INSERT INTO volume (id, title, price, is_in) VALUES (0, 'zero', 0, 1), (-5, 'minus', 0, 1)")
    let context = ModelContext(store)
    #expect(try context.volume("minus").persistentModelID.rowKey == -5)
    #expect(context.model(Volume.self, key: 0)?.title == "zero")
    let new = Volume("new")
    context.insert(new)
    try context.save()
    #expect(new.persistentModelID.rowKey == 1)
  }

  @Test func `a row whose key is among those of unsaved objects is refused by name`() throws {
    let store = try store()
    try store.execute("INSERT INTO volume (id, title, price, is_in) VALUES (\(Int64.min + 5), 'low', 0, 1)")
    let context = ModelContext(store)
    let error = #expect(throws: ModelError.self) { try context.all(Volume.self) }
    #expect(error.map { "\($0)" }?.contains("Volume") == true)
    #expect(context.model(Volume.self, key: .min + 5) == nil)
  }
}

extension ModelContainer {
  var database: Database { store.database }
}

@Model private final class Sequenced {
  var name: String
  init(_ name: String) { self.name = name }
}
