import Foundation
import TestSupport
import Testing

@testable import QuireShell

/// Tab behind a command that takes a file: what is in the folder.
@Suite(.fewAtOnce) struct FileCompletionTests {
  let library: Library
  let session: ShellSession
  private var folder: String { library.folder.path }

  init() throws {
    library = try Library()
    session = try library.session()
    let files = FileManager.default
    try files.createDirectory(at: library.folder.appending(path: "more data"), withIntermediateDirectories: false)
    try files.createDirectory(at: library.folder.appending(path: "months"), withIntermediateDirectories: false)
    for name in [
      "books.csv", "boats.tsv", "b c.csv", "o'hara.sql", "both'\"quotes.sql", ".hidden.sql", "more data/a.csv",
      "months/may.csv", "bell\u{7}.csv",
    ] {
      #expect(files.createFile(atPath: library.folder.appending(path: name).path, contents: nil))
    }
  }

  /// The inputs that Tab would make of one.
  private func completed(_ text: String) -> [String] {
    let text = text.replacing("$", with: folder)
    let found = session.completions(text, at: text.utf8.count)
    return found.candidates.map { candidate in
      var bytes = Array(text.utf8)
      bytes.replaceSubrange(found.range, with: candidate.text.utf8)
      return String(decoding: bytes, as: UTF8.self).replacing(folder, with: "$")
    }
  }

  @Test(arguments: [
    (".read $/bo", [".read $/boats.tsv", ".read $/books.csv"]),
    (".import $/b", [".import \"$/b c.csv\"", ".import $/boats.tsv", ".import $/books.csv"]),
    (".open $/mo", [".open $/months/", ".open \"$/more data/"]),
    (".open \"$/mo", [".open \"$/months/", ".open \"$/more data/"]),
    (".open \"$/more data/", [".open \"$/more data/a.csv\""]), (".save $/months/", [".save $/months/may.csv"]),
    (".read $/o", [".read \"$/o'hara.sql\""]), (".read '$/o", []), (".read $/.h", [".read $/.hidden.sql"]),
    (".read $/nothing", []), (".read $/no/such/folder/", []),
    (".import $/books.csv Auth", [".import $/books.csv Author"]),
    (".import \"$/b c.csv\" Auth", [".import \"$/b c.csv\" Author"]),
  ])
  func `a path goes on to what is there`(text: String, expected: [String]) {
    #expect(completed(text) == expected)
  }

  @Test func `hidden files and names that no line can have are not offered`() {
    let found = completed(".read $/")
    #expect(found.contains(".read $/books.csv"))
    #expect(!found.contains { $0.contains("hidden") || $0.contains("bell") || $0.contains("both") })
  }
}
