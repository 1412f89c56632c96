import Quire
import TestSupport
import Testing

/// Models of tables that another program has named.
@Suite(.fewAtOnce) struct NamedTableTests {
  static let statements = [
    "CREATE TABLE Writers (WriterId INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL)",
    """
    CREATE TABLE "Old Books" (
      book_no INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
      writer INTEGER REFERENCES Writers (WriterId) ON DELETE CASCADE)
    """,
    "CREATE TABLE old_book_readers (old_book_id INTEGER, old_writer_id INTEGER, PRIMARY KEY (old_book_id, old_writer_id))",
    "INSERT INTO Writers VALUES (3, 'Lem'), (5, 'Austen')",
    """
    INSERT INTO "Old Books" VALUES (7, 'a', 'Eden', 3), (9, 'b', 'Emma', 5)
    """,
  ]

  private func open(_ file: TemporaryFile) throws -> ModelContainer {
    let maker = try Connection(path: file.url.path, access: .create)
    for sql in Self.statements { try maker.execute(sql) }
    return try ModelContainer(for: OldBook.self, OldWriter.self, url: file.url)
  }

  @Test func `rows are read, found, changed and followed in a table and under a key of any name`() throws {
    let file = try TemporaryFile()
    let store = try open(file)
    let context = ModelContext(store)
    let books = try context.live(
      OldBook.self, where: #Predicate { $0.writer?.name != "?" }, sortBy: [SortDescriptor(\.title)])
    let eden = try #require(try context.get(OldBook.self, key: 7))
    #expect(eden.id == "a" && eden.writer?.name == "Lem" && eden.writer?.books.first === eden)
    eden.title = "Solaris"
    let fiasco = OldBook("c", "Fiasco")
    fiasco.writer = eden.writer
    fiasco.readers = [try #require(try context.get(OldWriter.self, key: 5))]
    context.insert(fiasco)
    try context.save()
    try store.execute("INSERT INTO \(OldBook.self) (id, title) VALUES ('d', 'by SQL')")
    try store.execute("DELETE FROM writers WHERE writerid = 5")
    try context.refresh()
    #expect(books.map(\.title) == ["Fiasco", "Solaris", "by SQL"])
    #expect(fiasco.readers.isEmpty)
    #expect(
      try store.query("SELECT book_no, id, title, writer FROM \"Old Books\" ORDER BY book_no").map(\.values)
        == [[7, "a", "Solaris", 3], [10, "c", "Fiasco", 3], [11, "d", "by SQL", .null]])
    let found = try context.fetch(
      OldBook.self, sql: "SELECT * FROM \(OldBook.self) WHERE \(\OldBook.persistentModelID) > 7 ORDER BY title")
    #expect(found.map(\.title) == ["Fiasco", "by SQL"] && found[0] === fiasco)
    let commits = try context.fetch(Int.self, sql: "SELECT count(*) FROM \(OldWriter.self)")
    #expect(commits == [1])
  }

  @Test func `a new file has the names, and the references to them`() throws {
    let statements = try ModelContainer.schemaSQL(for: OldBook.self)
    #expect(statements[0].hasPrefix("CREATE TABLE \"Old Books\" (\n  \"book_no\" INTEGER PRIMARY KEY"))
    #expect(statements[0].contains("REFERENCES \"Writers\"(\"WriterId\") ON DELETE CASCADE"))
    let context = ModelContext(
      try ModelContainer(for: OldBook.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    context.insert(OldBook("a", "Eden"))
    try context.save()
    #expect(try context.fetchOne(Int.self, sql: "SELECT book_no FROM \"old books\"") == 1)
  }

  @Test(
    arguments: [
      (
        [Same.self, OldWriter.self],
        "Same and OldWriter would have the same table, Writers: name another with @Model(table:)"
      ),
      (
        [Reserved.self],
        "Reserved can't have the table '_quire_books': names that begin with sqlite_ or _quire_ are reserved"
      ),
      ([Nameless.self], "Nameless can't have the table '': it has no name"),
      (
        [KeyTwice.self],
        "KeyTwice.number would have the column Number, which is that of the key: name another with @Attribute(column:)"
      ),
    ] as [([any PersistentModel.Type], String)])
  func `a name that is taken or reserved is refused`(models: [any PersistentModel.Type], sentence: String) throws {
    let error = #expect(throws: SchemaError.self) { try SchemaResolution.resolve(models) }
    #expect(error?.description == sentence)
  }

  @Test func `a version that names table and key, or takes the key's name for itself, keeps the rows`() throws {
    let file = try TemporaryFile()
    do {
      let store = try ModelContainer(for: ShelvesV1.Shelf.self, ShelvesV1.Box.self, url: file.url)
      let context = ModelContext(store)
      let shelf = ShelvesV1.Shelf("upper")
      shelf.boxes = [ShelvesV1.Box("red"), ShelvesV1.Box("blue")]
      shelf.favorites = [shelf.boxes[0]]
      context.insert(shelf)
      try context.save()
      let gone = ShelvesV1.Shelf("gone")
      context.insert(gone)
      try context.save()
      context.delete(gone)
      try context.save()
    }
    let store = try ModelContainer(
      for: Schema(versionedSchema: ShelvesV2.self), migrationPlan: ShelvesPlan.self,
      configurations: ModelConfiguration(url: file.url))
    let context = ModelContext(store)
    let shelf = try #require(try context.fetchOne(FetchDescriptor<ShelvesV2.Shelf>()))
    #expect(shelf.name == "upper" && shelf.boxes.map(\.label).sorted() == ["blue", "red"])
    #expect(shelf.boxes.allSatisfy { $0.id == "none" } && shelf.favorites.map(\.label) == ["red"])
    shelf.favorites = shelf.boxes
    try context.save()
    context.delete(shelf.boxes[0])
    try context.save()
    #expect(shelf.favorites.count == 1)
    let lower = ShelvesV2.Shelf("lower")
    context.insert(lower)
    try context.save()
    #expect(lower.persistentModelID.rowKey == 3)  // 2 was that of the one that is gone
    #expect(
      try store.query(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE '%\\_%' ESCAPE '\\' ORDER BY 1"
      )
      .map(\.values) == [["box"], ["shelves"]])
  }
}

@Model(table: "Old Books", key: "book_no") final class OldBook {
  var id: String
  var title: String
  @Attribute(column: "writer") var writer: OldWriter?
  var readers: [OldWriter] = []
  init(_ id: String, _ title: String) { (self.id, self.title) = (id, title) }
}

@Model(table: "Writers", key: "WriterId") final class OldWriter {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \OldBook.writer) var books: [OldBook] = []
  init(_ name: String) { self.name = name }
}

@Model(table: "writers") private final class Same { init() {} }
@Model(table: "_quire_books") private final class Reserved { init() {} }
@Model(table: "") private final class Nameless { init() {} }
@Model(key: "number") private final class KeyTwice {
  @Attribute(column: "Number") var number = 0
  init() {}
}

private enum ShelvesV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Shelf.self, Box.self] }
  @Model final class Shelf {
    var name: String
    @Relationship(inverse: \Box.shelf) var boxes: [Box] = []
    var favorites: [Box] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Box {
    var label: String
    var shelf: Shelf?
    init(_ label: String) { self.label = label }
  }
}

private enum ShelvesV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Shelf.self, Box.self] }
  @Model(table: "shelves", key: "number") final class Shelf {
    var name: String
    @Relationship(inverse: \Box.shelf) var boxes: [Box] = []
    var favorites: [Box] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Box {
    var id = "none"
    var label: String
    var shelf: Shelf?
    init(_ label: String) { self.label = label }
  }
}

private enum ShelvesPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ShelvesV1.self, ShelvesV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: ShelvesV1.self, toVersion: ShelvesV2.self)] }
}
