import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// A file that is replaced or deleted while a session has it open.
@Suite(.fewAtOnce) struct ReplacedFileTests {
  private let library: Library
  private let other: Library

  /// - Parameter hasLog: Whether the files have a write-ahead log.
  private init(hasLog: Bool) throws {
    func library(_ text: String) throws -> Library {
      let library = try Library("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, '\(text)')")
      if hasLog {
        try Connection(path: library.file.path, access: .readWrite).execute("PRAGMA journal_mode = WAL")
      }
      return library
    }
    (self.library, other) = (try library("old"), try library("new"))
  }

  init() throws { try self.init(hasLog: false) }

  /// In one step, as programs replace files.
  private func replace() throws { #expect(rename(other.file.path, library.file.path) == 0) }

  @Test(arguments: [true, false])
  func `nothing is written to a file that was replaced, and none of it is shown as the new one's`(
    hasLog: Bool
  ) async throws {
    let test = try ReplacedFileTests(hasLog: hasLog)
    let session = try test.library.writing()
    try test.replace()
    for text in ["T where id = 1 set a = 'lost'", "update t set a = 'lost' where id = 1;", "insert T { a: 1 }", "undo"]
    {
      let said = await session.failure(text)
      #expect(said.contains("was replaced") && said.contains("open the file that is to be used"), "\(text): \(said)")
      #expect(said.contains("Nothing was written"), "\(text): \(said)")
    }
    for text in ["T", "T 1 .a", "count T", "select a from t;", ".write off", ".open \(test.library.file.path)"] {
      #expect(await session.failure(text).contains("was replaced"), "\(text)")
    }
    #expect(try await session.said(".models").contains("T"))
    #expect(try test.library.rows("SELECT a FROM t") == [["new"]])
    #expect(try test.library.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(arguments: [true, false])
  func `a transaction of a file that was replaced can be rolled back, and not committed`(hasLog: Bool)
    async throws
  {
    let test = try ReplacedFileTests(hasLog: hasLog)
    let session = try test.library.writing()
    _ = try await session.replies("begin")
    _ = try await session.replies("T where id = 1 set a = 'lost'")
    try test.replace()
    #expect(await session.failure("commit").contains("was replaced"))
    #expect(try await session.said("rollback") == "rolled back")
    #expect(try test.library.rows("SELECT a FROM t") == [["new"]])
  }

  @Test func `what a deleted file had can still be read, and nothing is written to it`() async throws {
    let session = try library.writing()
    try FileManager.default.removeItem(at: library.file)
    #expect(try await session.column("T select a") == ["old"])
    #expect(await session.failure("insert T { a: 1 }").contains("deleted while it was open. Nothing was written"))
    #expect(try library.files.isEmpty)
  }
}
