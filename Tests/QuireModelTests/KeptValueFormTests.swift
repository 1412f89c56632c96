import Quire
import TestSupport
import Testing

private struct ReadingPlace: Codable, Equatable {
  enum Kind: String, Codable { case page }
  var chapter: String
  var words: [Int] = []
  var kind: Kind?
}

private struct Digest: RawRepresentable, StoredValue, Codable, Equatable { var rawValue: Data }

@Model(table: "reading") private final class Reading {
  var progress: Double
  var digest: Digest
  var place: ReadingPlace?
  init(_ progress: Double, _ digest: [UInt8], _ place: ReadingPlace?) {
    (self.progress, self.digest, self.place) = (progress, Digest(rawValue: Data(digest)), place)
  }
}

@Model(table: "shelf_mark") private final class ShelfMark {
  var code: String
  init(_ code: String) { self.code = code }
}

/// Columns that are declared for another type than the values that programs store in them, as tables of GRDB have.
@Suite struct KeptValueFormTests {
  private let file: TemporaryFile

  init() throws { file = try TemporaryFile() }

  private func make(_ statements: String...) throws -> Connection {
    let maker = try Connection(path: file.url.path, access: .create)
    for sql in statements { try maker.execute(sql) }
    return maker
  }

  private static let reading =
    "CREATE TABLE reading (id INTEGER PRIMARY KEY AUTOINCREMENT, progress INTEGER NOT NULL DEFAULT 0, "
    + "digest TEXT NOT NULL, place BLOB)"

  @Test func `reals in an INTEGER column, bytes in a TEXT and JSON in a BLOB column are read, written and found`()
    throws
  {
    let maker = try make(
      Self.reading,
      "INSERT INTO reading (progress, digest, place) VALUES (0.25, x'00ff', '{\"words\":[1],\"chapter\":\"a\"}')",
      "INSERT INTO reading (progress, digest) VALUES (1, x'3037'), (0, x'')")
    let store = try ModelContainer(for: Reading.self, url: file.url)
    let context = ModelContext(store)
    let one = 1.0
    let whole = try context.live(Reading.self, where: #Predicate { $0.progress == one })
    let total = try context.liveSum(\Reading.progress)
    let readings = try context.fetch(FetchDescriptor<Reading>(sortBy: [SortDescriptor(\.progress)]))
    #expect(readings.map(\.progress) == [0, 0.25, 1])
    #expect(readings.map(\.digest.rawValue) == [Data(), Data([0, 255]), Data([0x30, 0x37])])
    #expect(readings[1].place == ReadingPlace(chapter: "a", words: [1]))
    #expect(whole.count == 1 && total.value == 1.25)

    readings[1].progress = 1
    readings[0].place = ReadingPlace(chapter: "b")
    context.insert(Reading(0.5, [0x37], nil))
    try context.save()
    #expect(whole.count == 2 && total.value == 2.5)
    #expect(
      try maker.query("SELECT typeof(progress), typeof(digest), typeof(place) FROM reading ORDER BY id").rows == [
        ["integer", "blob", "text"], ["integer", "blob", "null"], ["integer", "blob", "text"],
        ["real", "blob", "null"],
      ])
    let digest = Digest(rawValue: Data([0x37]))
    let found = try context.fetch(FetchDescriptor<Reading>(predicate: #Predicate { $0.digest == digest }))
    #expect(found.map(\.progress) == [0.5])
    try maker.execute("UPDATE reading SET progress = 0.75 WHERE progress = 1")
    try context.refresh()
    #expect(whole.isEmpty && total.value == 2 && readings.map(\.progress) == [0, 0.75, 0.75])
  }

  @Test(arguments: [
    ("no", ""), (#"{"words":[1]}"#, ": chapter is missing"),
    (#"{"chapter":null,"words":[]}"#, ": chapter is null, and not String"),
    (#"{"chapter":"a","words":[1,"x"]}"#, ": words[1] is not Int"),
    (#"{"chapter":"a","words":[],"kind":"x"}"#, ": kind is refused"),
  ])
  func `JSON of another type is refused with the place in it that does not fit`(text: String, reason: String) throws {
    _ = try make(Self.reading, "INSERT INTO reading VALUES (1, 0, x'', '\(text)')")
    let context = ModelContext(try ModelContainer(for: Reading.self, url: file.url))
    #expect {
      try context.fetch(FetchDescriptor<Reading>())
    } throws: {
      "\($0)" == "Reading 1.place: ‘\(text)’ is not a valid ReadingPlace\(reason). The row was not made into an object."
    }
  }

  /// A STRICT table refuses such values.
  @Test func `a STRICT table does not fit them`() throws {
    _ = try make(Self.reading + " STRICT")
    let error = #expect(throws: SchemaError.self) { try ModelContainer(for: Reading.self, url: file.url) }
    #expect(
      error?.differences == [
        "reading.progress is INTEGER, Reading.progress needs REAL",
        "reading.digest is TEXT, Reading.digest needs BLOB",
        "reading.place is BLOB, Reading.place needs TEXT",
      ])
  }

  /// As home-made caches have it, and GRDB for a record without a key.
  @Test func `a table without a key is said to have none`() throws {
    _ = try make("CREATE TABLE shelf_mark (code TEXT NOT NULL)")
    let error = #expect(throws: SchemaError.self) { try ModelContainer(for: ShelfMark.self, url: file.url) }
    #expect(
      error?.differences == [
        "shelf_mark has no INTEGER PRIMARY KEY: a migration makes it again with one, id (quire migrate new TITLE --rebuild "
          + "shelf_mark writes most of it)"
      ])
  }

  /// There it is a word that SQLite does not know: '007' would be stored as 7.
  @Test func `a column ANY keeps text only in a STRICT table`() throws {
    let table = "CREATE TABLE shelf_mark (id INTEGER PRIMARY KEY, code ANY NOT NULL)"
    let maker = try make(table)
    let error = #expect(throws: SchemaError.self) { try ModelContainer(for: ShelfMark.self, url: file.url) }
    #expect(
      error?.differences == [
        "shelf_mark.code is ANY, ShelfMark.code needs TEXT: SQLite stores text there that looks like a number as a "
          + "number; a type with a raw value fits if it accepts no number"
      ])
    try maker.execute("DROP TABLE shelf_mark")
    try maker.execute(table + " STRICT")
    let context = ModelContext(try ModelContainer(for: ShelfMark.self, url: file.url))
    context.insert(ShelfMark("007"))
    try context.save()
    #expect(try maker.query("SELECT code FROM shelf_mark").rows == [["007"]])
  }
}
