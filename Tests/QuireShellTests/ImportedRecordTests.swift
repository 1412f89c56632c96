import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireShell

/// What `.import` makes of records in a table, and how it says what the table refuses.
@Suite(.fewAtOnce) struct ImportedRecordTests {
  private let library: Library

  init() throws { library = try Library() }

  @Test(arguments: [
    (
      "title;year\nA, B;1\n",
      "line 1: Book has no title;year. Nothing was added\ncommas separate fields, and tabs in .tsv; --separator ';' behind the model reads this file"
    ),
    ("year\n1961\n", "line 2: Book needs a value for title: the file has no default for it. Nothing was added"),
    ("title,year\n,1961\n", "line 2: Book.title needs a value, and this is null. Nothing was added"),
    ("id,title\n1,Golem\n", "line 2: Book.id is unique, and another row has this value. Nothing was added"),
    ("title,author_id\nGolem,9\n", "line 2: it refers to a row that does not exist. Nothing was added"),
  ])
  func `a record that is refused is told in the same words`(text: String, message: String) async throws {
    let file = library.folder.appending(path: "new.csv")
    try Data(text.utf8).write(to: file)
    let before = try library.everything()
    let session = try library.writing()
    #expect(await session.failure(".import '\(file.path)' Book").hasPrefix(message.inFile(file.path)))
    #expect(try library.everything() == before)
  }

  @Test(arguments: ["csv", "tsv", "jsonl"])
  func `a file longer than a piece of it is read piece by piece`(ending: String) async throws {
    let library = try Library()
    let session = try library.writing()
    let separator = ending == "csv" ? "," : "\t"
    let texts = (0..<9000).map { number in
      let long = String(repeating: "ä", count: number % 40)
      return ending == "jsonl"
        ? #"{"text":"\#(long)\n\#(number)","about_id":\#(number)}"# : "\"\(long)\n\(number)\"\(separator)\(number)"
    }
    let head = ending == "jsonl" ? "" : "\u{FEFF}text\(separator)about_id\r\n"
    let file = library.folder.appending(path: "long.\(ending)")
    try Data((head + texts.joined(separator: "\r\n")).utf8).write(to: file)
    #expect(try await session.said(".import \(file.path) Note").hasPrefix("9 000 rows added to Note"))
    let found = try library.rows(
      "SELECT count(*), sum(about_id), sum(length(text)), count(DISTINCT text) FROM note WHERE text LIKE '%' || char(10) || '%'"
    )
    let lengths = (0..<9000).reduce(0) { (sum: Int, number: Int) in sum + number % 40 + 1 + String(number).count }
    let expected: [Value] = [.integer(9000), .integer(40_495_500), .integer(Int64(lengths)), .integer(9000)]
    #expect(found == [expected])
    #expect(session.recordsRead == 9000)
    _ = try await session.said("undo")
    #expect(try library.rows("SELECT count(*) FROM note") == [[2]])
  }

  @Test func `rows come back from a file as they went out`() async throws {
    let session = try library.writing()
    _ = try await session.replies("insert into note values ('a,\"b\"\nc', 5), ('', 6), (NULL, 7), ('x''00''', 8)")
    let before = try library.rows("SELECT * FROM note")
    for file in ["note.csv", "note.tsv", "note.jsonl"] {
      let path = library.folder.appending(path: file).path
      #expect(try await session.said(".save \(path) select * from note").hasPrefix("6 rows in"))
      _ = try await session.replies("delete from note where 1")
      #expect(try await session.said(".import \(path) Note").hasPrefix("6 rows added to Note"))
      #expect(try library.rows("SELECT * FROM note ORDER BY rowid") == before)
      _ = try await session.replies("undo")
      #expect(try library.rows("SELECT count(*) FROM note") == [[0]])
      _ = try await session.replies("undo")
    }
    let bad = library.folder.appending(path: "bad.csv")
    try Data("text,abuot_id\na,1\n".utf8).write(to: bad)
    #expect(await session.failure(".import \(bad.path) Note").hasSuffix("did you mean about_id?"))
    try Data("text,about\na,1\n".utf8).write(to: bad)
    #expect(await session.failure(".import \(bad.path) Note").hasSuffix("did you mean about_id?"))
    try Data("text,about_id\na,1\nb\n".utf8).write(to: bad)
    #expect(
      await session.failure(".import \(bad.path) Note").hasPrefix("line 3 of \(bad.path): 1 field, and 2 names"))
    #expect(try library.rows("SELECT * FROM note") == before)
  }
}
