import Quire
import TestSupport
import Testing

/// A row is decoded whole or not made into an object; the others are as usable as ever.
@Suite(.fewAtOnce) struct BadRowTests {
  /// Tables as another tool makes them, that take anything.
  static func store() throws -> (ModelContainer, TemporaryFile) {
    let file = try TemporaryFile()
    let maker = try Connection(path: file.url.path, access: .create)
    for sql in [
      "CREATE TABLE writer (id INTEGER PRIMARY KEY, name TEXT)",
      "CREATE TABLE volume (id INTEGER PRIMARY KEY, title VARCHAR(80), year INT, price REAL, is_in BOOLEAN, writer_id INTEGER)",
      "CREATE TABLE volume_contributors (volume_id INTEGER, writer_id INTEGER, PRIMARY KEY (volume_id, writer_id)) WITHOUT ROWID",
      "INSERT INTO writer VALUES (1, 'Lem')",
      "INSERT INTO volume VALUES (1, 'Eden', 1959, 9.5, 1, 1)",
    ] { try maker.execute(sql) }
    return (try ModelContainer(for: Writer.self, Volume.self, url: file.url), file)
  }

  @Test(arguments: [
    ("title", "NULL"), ("title", "x'00ff'"), ("title", "CAST(x'c328' AS TEXT)"), ("year", "'soon'"), ("year", "1.5"),
    ("price", "NULL"), ("price", "'cheap'"), ("is_in", "2"), ("is_in", "'yes'"), ("writer_id", "'Lem'"),
    ("writer_id", "x'01'"),
  ])
  func `a value that does not fit is an error naming model, key and property`(column: String, value: String) throws {
    let (store, file) = try Self.store()
    let values = ["title": "'bad'", "year": "1", "price": "1", "is_in": "1", "writer_id": "1"].merging([column: value])
    { $1 }
    try store.execute(SQL(verbatim: "INSERT INTO volume SELECT 2, \(values.sortedByColumns)"))
    let context = ModelContext(store)
    let error = #expect(throws: ModelError.self) { try context.all(Volume.self) }
    let property = ["is_in": "isIn", "writer_id": "writer"][column] ?? column
    guard case .undecodable("Volume", 2, property, _)? = error else { throw error! }
    #expect(context.model(Volume.self, key: 2) == nil)
    #expect(try context.volume("Eden").writer?.name == "Lem")
    #expect(try context.writer("Lem").volumes.map(\.title) == ["Eden"])
    #expect(!context.drainDeferredErrors().isEmpty)  // by key, and in the list
    #expect(throws: ModelError.self) { try context.enumerate(FetchDescriptor<Volume>()) { _ in } }
    try store.execute("UPDATE volume SET title = 'good', year = 1, price = 1, is_in = 1, writer_id = 1 WHERE id = 2")
    #expect(try context.all(Volume.self).map(\.title) == ["Eden", "good"])
    withExtendedLifetime(file) {}
  }

  @Test func `an object whose row becomes unreadable keeps its values`() throws {
    let (store, file) = try Self.store()
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    try store.execute("UPDATE volume SET year = 'soon', price = 7")
    try context.refresh()
    #expect(eden.year == 1959 && eden.price == 9.5 && !eden.isDeleted)
    #expect(context.drainDeferredErrors().count == 1)
    // A fetch does not return what is not in the file.
    let error = #expect(throws: ModelError.self) { try context.all(Volume.self) }
    guard case .undecodable("Volume", 1, "year", _)? = error else { throw error! }
    #expect(try context.fetchReportingBadRows(FetchDescriptor<Volume>()).badRows.count == 1)
    try store.execute("UPDATE volume SET year = 1960")
    #expect(try context.all(Volume.self) == [eden] && eden.year == 1960 && eden.price == 7)
    try store.execute("UPDATE volume SET year = 'never'")
    #expect(throws: ModelError.self) { try context.all(Volume.self) }
    eden.year = 1961
    try context.save()
    #expect(try context.all(Volume.self) == [eden] && eden.year == 1961)
    withExtendedLifetime(file) {}
  }

  @Test func `errors that nobody takes do not pile up`() throws {
    let (store, file) = try Self.store()
    try store.execute("INSERT INTO volume VALUES (2, NULL, 1, 1, 1, 1)")
    let context = ModelContext(store)
    let lem = try context.writer("Lem")
    for _ in 0..<5000 { _ = lem.volumes }
    #expect(context.drainDeferredErrors().count <= 1000)
    #expect(context.drainDeferredErrors().isEmpty)
    withExtendedLifetime(file) {}
  }
}

extension [String: String] {
  var sortedByColumns: String {
    ["title", "year", "price", "is_in", "writer_id"].compactMap { self[$0] }.joined(separator: ", ")
  }
}
