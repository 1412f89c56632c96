import Foundation
import Testing

/// Promise 8 from outside: the process is killed in the middle of its work, and the file is asked.
@Suite struct KillTests {
  @Test func `an import that is killed leaves whole commits, and repeating it finishes it`() throws {
    let quire = try Scratch()
    let count = 40_000
    try quire.manyBooks(count)
    _ = try quire("import", "library.db", "--create", "--books", try quire.books())
    var killed = 0
    for _ in 0..<4 {
      let first = try quire.rows("library.db", "SELECT count(*) FROM book")
      let process = quire.process(["import", "library.db", "--books", "many.csv"])
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      // Killed as soon as something of what it adds is in the file.
      while process.isRunning, try quire.rows("library.db", "SELECT count(*) FROM book") == first {}
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      #expect(try quire.rows("library.db", "PRAGMA integrity_check") == ["'ok'"])
      #expect(try quire.rows("library.db", "PRAGMA foreign_key_check").isEmpty)
      let books = try #require(try quire.rows("library.db", "SELECT count(*) FROM book").first.flatMap { Int($0) })
      #expect((books - 2) % 2000 == 0 || books == count + 2, "\(books) books are no whole number of batches")
      if books < count + 2 { killed += 1 }
    }
    let again = try quire("import", "library.db", "--books", "many.csv")
    #expect(again.status == 0, "\(again.error)")
    #expect(try quire.rows("library.db", "SELECT count(*) FROM book") == ["\(count + 2)"])
    #expect(killed > 0, "it was never killed in the middle")
  }
}
