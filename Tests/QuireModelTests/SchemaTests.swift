import Quire
import TestSupport
import Testing

/// The models against the tables of a file.
@Suite(.fewAtOnce) struct SchemaTests {
  /// A file made by these statements, opened.
  static func open(_ statements: [String], _ file: TemporaryFile) throws -> ModelContainer {
    let maker = try Connection(path: file.url.path, access: .create)
    for sql in statements { try maker.execute(sql) }
    return try ModelContainer(for: Writer.self, Volume.self, url: file.url)
  }

  static let writer = "CREATE TABLE writer (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
  static let volume =
    "CREATE TABLE volume (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, price REAL NOT NULL, is_in INTEGER NOT NULL, writer_id INTEGER REFERENCES writer (id))"
  static let contributors =
    "CREATE TABLE volume_contributors (volume_id INTEGER, writer_id INTEGER, PRIMARY KEY (volume_id, writer_id))"

  @Test func `a file that another tool made with such tables opens, with all else that is in it`() throws {
    let file = try TemporaryFile()
    let store = try Self.open(
      [
        Self.writer, contributorsWithRowID, "CREATE TABLE other (x)",
        "CREATE TABLE volume (note TEXT, year BIGINT, title VARCHAR(80), price DOUBLE PRECISION, is_in BOOLEAN DEFAULT 1, writer_id INT, extra NOT NULL DEFAULT 7, id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "INSERT INTO writer VALUES (3, 'Lem')", "INSERT INTO volume (title, price, writer_id) VALUES ('Eden', 1, 3)",
        "CREATE VIEW shelf AS SELECT title FROM volume",
      ], file)
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    #expect(eden.writer?.volumes.first === eden)
    eden.contributors = [try context.writer("Lem")]
    context.insert(Volume("Solaris"))
    try context.save()
    #expect(try store.query("SELECT title, extra FROM volume").map(\.values) == [["Eden", 7], ["Solaris", 7]])
    #expect(try store.value("SELECT count(*) FROM volume_contributors") == 1)
  }
  private let contributorsWithRowID = "CREATE TABLE volume_contributors (volume_id INTEGER, writer_id INTEGER)"

  @Test(
    arguments: [
      ([], "table writer is missing (for Writer)"),
      ([writer], "table volume is missing (for Volume)"),
      ([writer, volume], "table volume_contributors is missing"),
      (
        [writer.replacing("name TEXT NOT NULL", with: "nom TEXT"), volume, contributors],
        "writer.name is missing (for Writer.name)"
      ),
      (
        [writer.replacing("name TEXT", with: "name BLOB"), volume, contributors],
        "writer.name is BLOB, Writer.name needs TEXT"
      ),
      (
        [writer, volume.replacing("year INTEGER", with: "year INTEGER NOT NULL"), contributors],
        "volume.year is NOT NULL and Volume.year is optional"
      ),
      (
        [writer, volume.replacing("year INTEGER", with: "year TEXT"), contributors],
        "volume.year is TEXT, Volume.year needs INTEGER"
      ),
      (
        [writer, volume.replacing(", writer_id INTEGER REFERENCES writer (id)", with: ""), contributors],
        "volume.writer_id is missing (for Volume.writer)"
      ),
      (
        [writer.replacing("id INTEGER PRIMARY KEY", with: "id TEXT PRIMARY KEY"), volume, contributors],
        "writer.id is not its INTEGER PRIMARY KEY"
      ),
      (
        [writer.replacing("id INTEGER PRIMARY KEY", with: "id INTEGER"), volume, contributors],
        "writer.id is not its INTEGER PRIMARY KEY"
      ),
      (
        [writer.replacing("NOT NULL)", with: "NOT NULL, age INTEGER NOT NULL)"), volume, contributors],
        "writer.age must have a value and no property of Writer gives it one"
      ),
      (
        [writer, volume, contributors.replacing("volume_id", with: "book_id")],
        "volume_contributors.volume_id is missing"
      ),
      (
        [writer.replacing("writer (", with: "Writer ("), volume, contributors],
        "table writer is called Writer in the file: name it with @Model(table: \"Writer\")"
      ),
      (
        [writer.replacing("id INTEGER", with: "ID INTEGER"), volume, contributors],
        "writer.id is called ID in the file: name it with @Model(key: \"ID\")"
      ),
      (
        [writer.replacing("id INTEGER", with: "WriterId INTEGER"), volume, contributors],
        "writer.id is not its INTEGER PRIMARY KEY: name WriterId with @Model(key: \"WriterId\")"
      ),
      (
        [writer.replacing("name TEXT", with: "Name TEXT"), volume, contributors],
        "writer.name is called Name in the file: name it with @Attribute(column: \"Name\")"
      ),
      (
        [writer, volume.replacing("writer_id", with: "WriterId"), contributors],
        "volume.writer_id is called WriterId in the file: name it with @Attribute(column: \"WriterId\")"
      ),
      (
        [writer.replacing("writer", with: "Writers"), volume, contributors],
        "table writer is missing (for Writer): the file has Writers, which @Model(table: \"Writers\") names"
      ),
      (
        [writer, volume, contributors.replacing("(volume_id", with: "(Volume_ID")],
        "volume_contributors.volume_id is called Volume_ID in the file"
      ),
      (
        [writer, volume, contributors.replacing("volume_contributors", with: "Volume_Contributors")],
        "table volume_contributors is called Volume_Contributors in the file"
      ),
      // Neither is the row's own number.
      (
        [writer.replacing("PRIMARY KEY", with: "PRIMARY KEY DESC"), volume, contributors],
        "writer.id is not its INTEGER PRIMARY KEY"
      ),
      ([writer + " WITHOUT ROWID", volume, contributors], "writer.id is not its INTEGER PRIMARY KEY"),
      (
        [writer.replacing("name TEXT", with: "name TEXT COLLATE NOCASE"), volume, contributors],
        "writer.name is COLLATE NOCASE, and models compare text by its bytes"
      ),
      (
        [writer.replacing("name TEXT NOT NULL", with: "name TEXT AS (id || '') STORED"), volume, contributors],
        "writer.name is generated, and models write all columns they have: make Writer.name a computed property"
      ),
      (
        [writer.replacing("name TEXT", with: "name STRING"), volume, contributors],
        "writer.name is STRING, Writer.name needs TEXT: SQLite stores text there that looks like a number as a number"
          + "; a type with a raw value fits if it accepts no number"
      ),
      // As Django and SQLAlchemy link rows.
      (
        [
          writer, volume,
          "CREATE TABLE shop_links (id INTEGER PRIMARY KEY, volume_id BIGINT REFERENCES volume(id), "
            + "writer_id BIGINT REFERENCES writer(id), UNIQUE (volume_id, writer_id))",
        ],
        "table volume_contributors is missing: the file has shop_links, which links the two. Declare a model for its rows "
          + "with @Model(table: \"shop_links\"), or make it volume_contributors by a migration"
      ),
      // It has something to say of its own.
      (
        [
          writer, volume,
          "CREATE TABLE loan (id INTEGER PRIMARY KEY, volume_id BIGINT REFERENCES volume(id), "
            + "writer_id BIGINT REFERENCES writer(id), due DATE)",
        ],
        "table volume_contributors is missing"
      ),
    ] as [([String], String)])
  func `what differs is one sentence, and the file is as it was`(statements: [String], sentence: String) throws {
    let file = try TemporaryFile()
    let statements = statements + ["CREATE TABLE other (x)"]
    let error = #expect(throws: SchemaError.self) { try Self.open(statements, file) }
    guard case .mismatch(_, let differences, _, _, _)? = error?.problem else { throw error! }
    #expect(differences.contains(sentence) && error?.differences == differences)
    #expect(differences.count == Set(differences).count)
    let made = try Connection(path: file.url.path, access: .readOnly).query(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
    ).first
    #expect(made == .integer(Int64(statements.count)))
  }

  /// SQLite compares the bytes of a text as they are stored: in UTF-16le ‘ā’ comes before ‘a’.
  @Test(arguments: ["UTF-16le", "UTF-16be"])
  func `a file whose texts are in UTF-16 is refused, with how to copy it`(encoding: String) throws {
    for tables in [[Self.writer, Self.volume, Self.contributors], ["CREATE TABLE gone (x)", "DROP TABLE gone"]] {
      let file = try TemporaryFile()
      let error = #expect(throws: SchemaError.self) {
        try Self.open(["PRAGMA encoding = '\(encoding)'"] + tables, file)
      }
      #expect(error?.differences.count == 1 && error?.differences.first?.contains("in \(encoding), and") == true)
    }
  }

  @Test func `generated columns that no property has stay as they are, required or not`() throws {
    let file = try TemporaryFile()
    let maker = try Connection(path: file.url.path, access: .create)
    try maker.execute(
      Self.writer.replacing(
        "name TEXT NOT NULL",
        with: """
          name TEXT NOT NULL, length INTEGER NOT NULL AS (length(name)) VIRTUAL,
          folded TEXT NOT NULL GENERATED ALWAYS AS (lower(name)) STORED
          """))
    for statement in [Self.volume, Self.contributors] { try maker.execute(statement) }
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let context = ModelContext(store)
    let writer = Writer(name: "Lem")
    context.insert(writer)
    try context.save()
    writer.name = "Homer"
    try context.save()
    #expect(try maker.query("SELECT name, length, folded FROM writer").rows == [["Homer", 5, "homer"]])
  }

  /// Each statement that is offered mends its difference.
  @Test func `columns in other letters are mended by the SQL that the error gives`() throws {
    let file = try TemporaryFile()
    let error = #expect(throws: SchemaError.self) {
      try Self.open(
        [
          Self.writer.replacing("name TEXT", with: "Name TEXT"), Self.volume,
          Self.contributors.replacing("(volume_id", with: "(Volume_ID"),
        ], file)
    }
    #expect(error?.remedies.count == 2)
    let maker = try Connection(path: file.url.path, access: .create)
    for sql in error?.remedies ?? [] { try maker.execute(sql) }
    _ = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
  }

  @Test func `a column of a word that SQLite does not know holds dates, identifiers, numbers and JSON`() throws {
    let file = try TemporaryFile()
    let maker = try Connection(path: file.url.path, access: .create)
    try maker.execute(
      "CREATE TABLE loose (id INTEGER PRIMARY KEY, day DATETIME, code UUID, seconds TIMESTAMP, amount DECIMAL, words JSON)"
    )
    let store = try ModelContainer(for: Loose.self, url: file.url)
    let context = ModelContext(store)
    let loose = Loose()
    context.insert(loose)
    try context.save()
    let again = try #require(try ModelContext(store).fetchOne(FetchDescriptor<Loose>()))
    #expect(again.day == loose.day && again.code == loose.code && again.seconds == 2.5 && again.amount == 7)
    #expect(again.words == ["12"])
  }

  @Test func `a database of another schema is refused unharmed, and so is what is no database`() throws {
    let file = try TemporaryFile()
    let maker = try Connection(path: file.url.path, access: .create)
    try maker.execute("CREATE TABLE music (x)")
    let error = #expect(throws: SchemaError.self) { try ModelContainer(for: Writer.self, url: file.url) }
    #expect(error.map { "\($0)" }?.contains("nothing was changed") == true)
    #expect(try maker.query("SELECT name FROM sqlite_schema").rows == [["music"]])
    let text = try TemporaryFile()
    try Data("no database at all, but long enough to be looked at as one".utf8).write(to: text.url)
    #expect(throws: DatabaseError.self) { try ModelContainer(for: Writer.self, url: text.url) }
    #expect(try String(contentsOf: text.url, encoding: .utf8).hasPrefix("no database"))
  }

  @Test func `the statements that make a file are those it is made of`() throws {
    let statements = try ModelContainer.schemaSQL(for: Writer.self, Volume.self)
    let made = try store().query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").map { $0[0] }
    #expect(made == statements.map { .text($0) })
    #expect(
      statements.contains {
        $0.contains("STRICT") && $0.contains("REFERENCES \"writer\"(\"id\") ON DELETE CASCADE")
          || $0.contains("REFERENCES writer(id) ON DELETE CASCADE")
      })
  }

  @Test func `a file survives its container, and opens again with what was saved`() throws {
    let file = try ModeTests.file()
    for round in 0..<3 {
      let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
      let context = ModelContext(store)
      #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 1 + round)
      context.insert(Volume("another"))
      try context.save()
    }
  }

  @Test func `models that cannot be a schema are refused by name`() throws {
    let error = #expect(throws: SchemaError.self) { try ModelContainer.schemaSQL(for: Ambiguous.self) }
    guard case .ambiguousInverse("Ambiguous", "books", "Claimant", ["author", "editor"])? = error?.problem else {
      throw error!
    }
    #expect(throws: SchemaError.self) { try ModelContainer.schemaSQL(for: Names.Task.self, Other.Task.self) }
  }

  @Test func `who must lead somewhere leads to what has a value to read when its row is gone`() throws {
    let error = #expect(throws: SchemaError.self) { try ModelContainer.schemaSQL(for: Letter.self) }
    #expect(
      error?.description == """
        Recipient.address needs a default: Letter.recipient must lead to a Recipient, and if that row is gone, Address \
        has no value to read. Give address a default, or make Letter.recipient optional
        """)
    #expect(try !ModelContainer.schemaSQL(for: Recipient.self).isEmpty)
  }
}

/// Takes no empty value, which is all that a type can be asked for.
struct Address: Codable, Equatable {
  let text: String
  init(_ text: String) { self.text = text }
  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
    if text.isEmpty { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "empty")) }
  }
}

@Model final class Recipient {
  var address: Address
  init(_ address: Address) { self.address = address }
}

@Model final class Letter {
  var recipient: Recipient
  init(to recipient: Recipient) { self.recipient = recipient }
}

@Model final class Ambiguous {
  var books: [Claimant] = []
  init() {}
}

@Model final class Claimant {
  var author: Ambiguous?
  var editor: Ambiguous?
  init() {}
}

enum Other {
  @Model final class Task {
    var note = ""
    init() {}
  }
}

@Model final class Loose {
  var day: Date? = Date(timeIntervalSince1970: 1_700_000_000.25)
  var code: UUID? = UUID()
  var seconds: Double? = 2.5
  var amount: Int? = 7
  var words: [String]? = ["12"]
  init() {}
}
