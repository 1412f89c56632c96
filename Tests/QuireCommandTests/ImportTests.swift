import Foundation
import Testing

@Suite struct ImportTests {
  let quire: Scratch

  init() throws { quire = try Scratch() }

  private struct Document: Decodable, Equatable {
    struct Counts: Decodable, Equatable {
      var books, authors, coauthors, libraries, holdings: Int
    }
    struct Bad: Decodable, Equatable {
      var file: String
      var line: Int
      var reason: String
    }
    var v: Int
    var database: String
    var added: Counts
    var known: Int
    var bad: Int
    var badRecords: [Bad]
    var total: Counts
  }

  @Test func `a second import of the same files adds nothing`() throws {
    try quire.catalog()
    let rows = try quire.rows("library.db", "SELECT * FROM book ORDER BY id")
    let again = try quire("import", "library.db", "--books", "books.csv")
    #expect(again.status == 0)
    #expect(again.error.isEmpty)
    #expect(again.output.hasSuffix("2 records already present\n"))
    #expect(try quire.rows("library.db", "SELECT * FROM book ORDER BY id") == rows)
  }

  @Test func `--json is one document with added, known, bad and total`() throws {
    try quire.catalog()
    try quire.books(
      "more.csv", "Eden,Stanisław Lem,1959,pol", "Piknik,Arkadi Strugazki/Boris Strugazki,1972,rus", ",x,1,eng")
    let ran = try quire("import", "library.db", "--books", "more.csv", "--json")
    #expect(ran.status == 0)
    #expect(ran.output.split(separator: "\n").count == 1)
    let document = try JSONDecoder().decode(Document.self, from: Data(ran.output.utf8))
    #expect(
      document
        == Document(
          v: 1, database: "library.db",
          added: .init(books: 1, authors: 1, coauthors: 0, libraries: 0, holdings: 0), known: 1, bad: 1,
          badRecords: [.init(file: "more.csv", line: 4, reason: "title is empty")],
          total: .init(books: 3, authors: 2, coauthors: 0, libraries: 0, holdings: 0)))
  }

  @Test func `holdings are put by a fixed rule, so that putting them again adds none`() throws {
    try quire.write("libraries.csv", "name,city,region", "Old,Łódź,Poland", "New,Łódź,Poland")
    let words = ["import", "library.db", "--create", "--libraries", "libraries.csv", "--books", try quire.books()]
    let ran = try quire.shell("quire " + words.joined(separator: " ") + " --stock 3")
    #expect(ran.status == 0, "\(ran.error)")
    let holdings = try quire.rows("library.db", "SELECT * FROM library_books ORDER BY 1, 2")
    #expect(holdings.count == 3)
    #expect(try quire("import", "library.db", "--stock", "3").status == 0)
    #expect(try quire.rows("library.db", "SELECT * FROM library_books ORDER BY 1, 2") == holdings)
  }

  @Test func `a database that somebody else is writing is busy, and as it was`() throws {
    try quire.catalog()
    try quire.books("new.csv", "Fiasco,Stanisław Lem,1986,pol")
    let writer = try Writer(quire.path("library.db"))
    try writer.hold {
      let ran = try quire("import", "library.db", "--books", "new.csv")
      #expect(ran.status == 6, "\(ran.error)")
      #expect(ran.messages == 1)
      #expect(ran.firstLine.contains("another process, or another container of this one, kept"))
    }
    #expect(try quire.rows("library.db", "SELECT count(*) FROM book") == ["2"])
  }

  // MARK: No room

  /// After a disk or limit stopped an import: whole batches are there and nothing else, and repeating it finishes it.
  private func expectWholeBatches(_ ran: Scratch.Ran, in database: String, repeat: () throws -> Scratch.Ran) throws {
    #expect(ran.status == 1, "\(ran.status) \(ran.error)")
    #expect(ran.messages == 1, "\(ran.error)")
    #expect(ran.error.hasSuffix("\nRepeat the import to finish it.\n"))
    #expect(try quire.rows(database, "PRAGMA integrity_check") == ["'ok'"])
    let count = try #require(Int(try quire.rows(database, "SELECT count(*) FROM book").first ?? ""))
    #expect(count > 0 && count < 20_000 && count % 2000 == 0)
    #expect(ran.error.contains("holds what was committed before: \(count) books, 500 authors,"))
    let rest = try `repeat`()
    #expect(rest.status == 0, "\(rest.error)")
    #expect(rest.output.hasSuffix("\(count) records already present\n"))
    #expect(try quire.rows(database, "SELECT count(*) FROM book") == ["20000"])
  }

  @Test func `a limit on file sizes stops an import between two batches`() throws {
    try quire.manyBooks(20_000)
    #expect(try quire("import", "library.db", "--create", "--books", try quire.books("few.csv", ",,,")).status == 0)
    let ran = try quire.shell("ulimit -f 2400; exec quire import library.db --books many.csv")  // blocks of 512 bytes
    try expectWholeBatches(ran, in: "library.db") { try quire("import", "library.db", "--books", "many.csv") }
  }

  /// Whether a small file system can be mounted here.
  static let canMount: Bool = {
    guard getuid() == 0, let quire = try? Scratch() else { return false }
    return (try? quire.shell("mkdir t && mount -t tmpfs -o size=64k none t && umount t"))?.status == 0
  }()

  @Test(.enabled(if: canMount, "needs root and mount, for a disk that fills up"))
  func `a full disk stops an import between two batches`() throws {
    try quire.manyBooks(20_000)
    #expect(try quire.shell("mkdir disk && mount -t tmpfs -o size=1500k none disk").status == 0)
    defer { _ = try? quire.shell("umount disk") }
    #expect(
      try quire("import", "disk/library.db", "--create", "--books", try quire.books("few.csv", ",,,")).status == 0)
    let ran = try quire("import", "disk/library.db", "--books", "many.csv")
    #expect(ran.firstLine.contains("the disk of") && ran.firstLine.contains("is full. The transaction was rolled back"))
    try expectWholeBatches(ran, in: "disk/library.db") {
      #expect(try quire.shell("mount -o remount,size=30m disk").status == 0)
      return try quire("import", "disk/library.db", "--books", "many.csv")
    }
  }
}
