import Foundation
import Testing

/// Promise 8 from outside: the process is killed in the middle of its work, and the file is asked.
@Suite struct KillTests {
  @Test func `an import that is killed leaves whole commits, and repeating it finishes it`() throws {
    let quire = try Scratch()
    let count = 40_000
    try quire.manyBooks(count)
    _ = try quire("import", "library.db", "--create", "--books", try quire.books())
    var batches: Set<Int> = []
    for round in 0..<4 {
      let ran = try quire.shell(
        "quire import library.db --books many.csv & pid=$!; sleep 0.\(2 + round); kill -9 $pid; wait $pid; true")
      #expect(ran.status == 0)
      #expect(try quire.rows("library.db", "PRAGMA integrity_check") == ["'ok'"])
      #expect(try quire.rows("library.db", "PRAGMA foreign_key_check").isEmpty)
      let books = try #require(try quire.rows("library.db", "SELECT count(*) FROM book").first.flatMap { Int($0) })
      #expect((books - 2) % 2000 == 0 || books == count + 2, "\(books) books are no whole number of batches")
      batches.insert(books)
    }
    let again = try quire("import", "library.db", "--books", "many.csv")
    #expect(again.status == 0, "\(again.error)")
    #expect(try quire.rows("library.db", "SELECT count(*) FROM book") == ["\(count + 2)"])
    #expect(batches.count > 1, "it was never killed in the middle: \(batches)")
  }
}
