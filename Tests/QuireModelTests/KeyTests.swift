import Quire
import Testing

/// Keys are the store's to give, and none is given twice.
@Suite struct KeyTests {
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
