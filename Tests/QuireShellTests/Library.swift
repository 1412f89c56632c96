import Foundation
import QuireRow
import Testing

@testable import QuireSQLite
@testable import QuireShell

/// A file of books in a folder of its own, as somebody without Quire has made it, and a session on it.
final class Library: Sendable {
  let folder: URL
  var file: URL { folder.appending(path: "library.db") }

  static let schema = """
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER);
    CREATE TABLE book (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, price REAL,
      author_id INTEGER REFERENCES author(id) ON DELETE CASCADE, translator_id INTEGER REFERENCES author(id));
    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE book_tag (
      book_id INTEGER NOT NULL REFERENCES book(id), tag_id INTEGER NOT NULL REFERENCES tag(id),
      PRIMARY KEY (book_id, tag_id)) WITHOUT ROWID;
    CREATE TABLE shelf (room TEXT NOT NULL, number INTEGER NOT NULL, label TEXT, PRIMARY KEY (room, number));
    CREATE TABLE copy (
      id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES book, room TEXT, number INTEGER,
      FOREIGN KEY (room, number) REFERENCES shelf(room, number));
    CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT, parent_id INTEGER REFERENCES category(id));
    CREATE TABLE note (text TEXT, about_id INTEGER);
    CREATE TABLE profile (id INTEGER PRIMARY KEY, author_id INTEGER UNIQUE REFERENCES author(id), site TEXT);
    CREATE VIEW recent AS SELECT id, title FROM book WHERE year > 1960;
    INSERT INTO author VALUES (1, 'Stanisław Lem', 1921), (2, '三島由紀夫', 1925), (3, 'Jane O''Hara', NULL);
    INSERT INTO book VALUES
      (1, 'Solaris', 1961, 12, 1, 3), (2, 'Eden', 1959, 9.5, 1, NULL), (3, '金閣寺', 1956, 20, 2, 3),
      (4, 'Fiasko', 1986, NULL, 1, NULL), (5, 'Anonymous', NULL, 1, NULL, NULL);
    INSERT INTO tag VALUES (1, 'novel'), (2, 'space'), (3, 'unused');
    INSERT INTO book_tag VALUES (1, 1), (1, 2), (2, 2), (3, 1);
    INSERT INTO shelf VALUES ('north', 1, 'A'), ('north', 2, 'B'), ('south', 1, 'C');
    INSERT INTO copy VALUES (1, 1, 'north', 1), (2, 1, 'south', 1), (3, 3, 'north', 1), (4, 2, NULL, NULL);
    INSERT INTO category VALUES (1, 'all', NULL), (2, 'fiction', 1), (3, 'science fiction', 2);
    INSERT INTO note VALUES ('first', 1), ('second', 2);
    INSERT INTO profile VALUES (1, 1, 'lem.pl');
    """

  init(_ sql: String = Library.schema) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-shell-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    let made = try Connection(path: file.path, access: .create, options: options)
    try made.execute(sql)
  }

  /// Writes to the schema's own table, for definitions that this program's SQLite would not take.
  func rewriteSchema(_ sql: String) throws {
    let connection = try Connection(path: file.path, access: .readWrite)
    try connection.setDefensive(false)
    try connection.execute("PRAGMA writable_schema = ON; " + sql)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func session(_ change: (inout ShellOptions) -> Void = { _ in }) throws -> ShellSession {
    var options = ShellOptions()
    change(&options)
    return try ShellSession(opening: file, options: options)
  }

  func writing() throws -> ShellSession { try session { $0.allowsWriting = true } }

  /// The rows of all tables that tests write to.
  func everything() throws -> [[Value]] {
    try ["author", "book", "tag", "book_tag", "shelf", "copy", "note"].flatMap {
      try rows("SELECT * FROM \($0) ORDER BY 1, 2")
    }
  }

  /// Rows by SQL, on a connection of its own.
  func rows(_ sql: String) throws -> [[Value]] { try Connection(path: file.path, access: .readOnly).query(sql).rows }

  var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() } }
}

/// All replies to an input.
final class Replies: Sendable {
  let all = Locked<[Reply]>([])
}

extension ShellSession {
  func replies(_ text: String, yes: Bool = false) async throws -> [Reply] {
    let replies = Replies()
    try await run(text, confirm: { _ in yes }) { reply in replies.all.withLock { $0.append(reply) } }
    return replies.all.withLock { $0 }
  }

  /// The rows of the one answer.
  func answer(_ text: String) async throws -> Answer {
    let replies = try await replies(text)
    guard case .answer(let answer)? = replies.last else {
      throw ShellFailure("no answer but \(replies)")
    }
    return answer
  }

  func rows(_ text: String) async throws -> [[Value]] { try await answer(text).rows }

  /// The first column.
  func column(_ text: String) async throws -> [Value] { try await rows(text).map { $0[0] } }

  /// What was said, where there were no rows.
  func said(_ text: String, yes: Bool = false) async throws -> String {
    try await replies(text, yes: yes).map { reply in
      switch reply {
      case .written(let text, _): text
      case .lines(let lines): lines.joined(separator: "\n")
      default: "\(reply)"
      }
    }.joined(separator: "\n")
  }

  /// The text of the statements that `.dump` writes.
  func dumped(_ input: String = ".dump") async throws -> Data {
    let bytes = Locked(Data())
    let output = RowOutput(.csv) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    try await run(input, to: output) { _ in }
    return bytes.withLock { $0 }
  }

  /// The failure, as it is shown.
  func failure(_ text: String, yes: Bool = false) async -> String {
    do {
      return "no failure: \(try await replies(text, yes: yes))"
    } catch let failure as ShellFailure {
      return failure.text(in: text, width: { $0.count }, shown: { printable($0) })
    } catch {
      return "another error: \(error)"
    }
  }
}

extension String {
  /// The message about a line of a file, as `.import` of this file gives it.
  func inFile(_ path: String) -> String {
    guard hasPrefix("line "), let colon = firstIndex(of: ":") else { return self }
    return self[..<colon] + " of \(path)" + self[colon...]
  }
}
