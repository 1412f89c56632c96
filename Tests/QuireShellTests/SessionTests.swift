import Foundation
import QuireRow
import QuireSQLite
import Testing

@testable import QuireShell

/// What a session does besides asking: stopping, commands, what one may type next.
@Suite struct SessionTests {
  let library: Library
  let session: ShellSession

  init() throws {
    library = try Library()
    session = try library.session()
  }

  @Test func `a running query is stopped at once, and the session goes on`() async throws {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    // One that comes before the query has begun stops nothing.
    let stopping = Task { [session] in
      while !Task.isCancelled {
        session.cancel()
        await Task.yield()
      }
    }
    #expect(await session.failure(endless) == "stopped")
    stopping.cancel()
    await stopping.value
    #expect(try await session.column("SELECT 1") == [1])
  }

  @Test func `several statements are answered one after the other, up to the one that fails`() async throws {
    let replies = Replies()
    await #expect(throws: ShellFailure.self) {
      try await session.run("select 1; select 2;\nselect titel from book; select 3") { reply in
        replies.all.withLock { $0.append(reply) }
      }
    }
    #expect(replies.all.withLock { $0 }.count == 2)
    #expect(
      await session.failure("select 1;\nselect titel from book")
        == "no such column: titel\n   2 │ select titel from book\n     │        ^^^^^ did you mean title?")
  }

  @Test(arguments: [
    ("", true), ("select 1", false), ("select 1;", true), ("select ';", false), ("select 1; -- x", true),
    ("select 1 /* ;", false), ("create trigger t after insert on book begin select 1;", false),
    ("create trigger t after insert on book begin select 1; end;", true),
    ("create temp trigger t after insert on book begin select 1;", false), ("select \"a;b\";", true),
    ("Book", true), ("Book where", false), ("Book where (year = 1", false), ("Book where title = \"x", false),
    ("Book where year = 1 and", false), ("insert Book { title: 1", false), ("insert Book { title: 1 }", true),
    (".help", true), ("undo", true), ("live select 1", false), ("live Book", true), ("Bok where x = 1", true),
  ])
  func `whether a text can be run as it is`(text: String, isComplete: Bool) {
    #expect(session.isComplete(text) == isComplete)
  }

  @Test(arguments: [
    ("Bo", ["Book", "BookTag"]), ("Book where aut", ["author", "author_id"]),
    ("Book where author.", ["books", "name"]),
    ("Book where author.n", ["name"]), ("Book wh", ["where"]),
    ("Author 2 .b", ["books", "books_as_translator", "born"]),
    ("Book where any(tags where n", ["name", "none(", "not"]), ("Book select ti", ["title"]), (".re", [".relations"]),
    (".as j", ["json", "jsonl"]), (".schema Au", ["Author"]), ("select * from bo", ["book", "book_tag"]),
    ("select ti", ["title"]), ("live Bo", ["Book", "BookTag"]), ("\\d", ["\\d", "\\di", "\\dt", "\\dv"]),
  ])
  func `what could stand there`(text: String, expected: [String]) {
    let found = session.completions(text, at: text.utf8.count)
    #expect(Set(expected).isSubset(of: Set(found.candidates.map(\.text))), "\(found)")
    let typed = String(decoding: Array(text.utf8)[found.range], as: UTF8.self)
    #expect(found.candidates.allSatisfy { $0.text.lowercased().hasPrefix(typed.lowercased()) })
  }

  @Test func `pieces of an input are what they are`() {
    let text = "Book where author.name = \"x\" and year > :y"
    let spans = session.spans(text).map { (String(decoding: Array(text.utf8)[$0.range], as: UTF8.self), $0.kind) }
    #expect(spans.map(\.0) == ["Book", "where", "author", "\"x\"", "and", ":y"])
    #expect(spans.map(\.1) == [.model, .keyword, .model, .text, .keyword, .parameter])
    #expect(session.spans("select 1 -- x").map(\.kind) == [.keyword, .number, .comment])
  }

  @Test func `commands tell what the file has, by either spelling`() async throws {
    #expect(try await session.said(".tables") == session.said("\\dt"))
    #expect(try await session.said(".tables b%").split(separator: "\n").count == 2)
    #expect(try await session.said("\\dt b*") == session.said(".tables b%"))
    #expect(try await session.said("\\d+ book") == session.said(".schema book"))
    #expect(try await session.said("?Book") == session.said("\\d book"))
    #expect(try await session.said(".schema Book").contains("author         → Author"))
    #expect(
      try await session.said(".relations Copy").contains(
        "Copy.shelf  → Shelf  copy.room = shelf.room, copy.number = shelf.number"))
    #expect(try await session.said(".indexes Tag").contains("tag (name)  unique"))
    #expect(try await session.said(".models").contains("Recent"))
    for command in ShellCommand.all where command.argument.isEmpty && ![.last, .quit].contains(command.kind) {
      #expect(try await !session.replies(".\(command.name)").isEmpty)
    }
  }

  @Test func `an answer is kept, shown again and saved without asking again`() async throws {
    #expect(try await session.rows("select 1 as a union select 2").count == 2)
    #expect(try await session.said(".as json") != "")
    #expect(session.settings.format == .json)
    let file = library.folder.appending(path: "kept.csv").path
    #expect(try await session.said(".save \(file)") == "2 rows in \(file)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "a\n1\n2\n")
    #expect(
      await session.failure(".save \(library.file.path)").hasSuffix("is the database itself; nothing was written"))
    let few = try library.session { $0.keptRows = 3 }
    let answer = try await few.answer("select * from book")
    #expect(answer.rows.count == 3 && !answer.isWhole)
  }

  @Test func `what reads never waits for models that nobody asked for`() async throws {
    let session = try library.session { $0.readsModels = false }
    #expect(session.banner.isEmpty && session.models.all.isEmpty)
    #expect(try await session.column("select 1") == [1])
    #expect(session.models.all.isEmpty)
    #expect(try await session.column("count Book") == [5])
    #expect(!session.models.all.isEmpty)
  }

  @Test func `a schema that somebody alters is seen at the next input`() async throws {
    #expect(await session.failure("Novel").hasPrefix("there is no model Novel"))
    try Connection(path: library.file.path, access: .readWrite).execute("CREATE TABLE novel (id INTEGER PRIMARY KEY)")
    #expect(try await session.rows("Novel").isEmpty)
  }
}
