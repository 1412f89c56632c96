package import Foundation
import QuireSQLite

/// The text of a file of statements, or of one query of models.
package enum ScriptFile {
  /// - Parameter path: Of a file or a pipe.
  /// - Throws: ``ShellFailure`` if it cannot be read, or is not in UTF-8.
  package static func text(at path: String) throws(ShellFailure) -> String {
    // A file handle reads pipes, and goes on after a short read.
    guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.readToEnd() ?? Data() else {
      let reason = access(path, R_OK) == 0 ? "" : ": \(FileObstacle.reason(errno))"
      throw ShellFailure("\(printable(path)) cannot be read\(reason)", .usage)
    }
    return try text(of: data, named: printable(path))
  }

  package static func text(of data: Data, named name: String) throws(ShellFailure) -> String {
    if let invalid = InvalidUTF8(data) {
      throw ShellFailure("line \(invalid.line) of \(name) is not UTF-8 from \(invalid.place). Nothing was run", .usage)
    }
    // Lines end as they do in statements of the shell, and for the sqlite3 program: in a text over two lines, too.
    return String(decoding: data, as: UTF8.self).replacing("\r\n", with: "\n")
  }
}

extension ShellSession {
  /// `.read FILE`: runs a file's text as if it were typed. An error is about a line of the file.
  func read(_ argument: String, _ run: Run) async throws {
    let (file, rest) = Self.file(in: argument)
    if file.isEmpty || !rest.isEmpty { throw ShellFailure(".read FILE, with a name that has spaces in quotes", .usage) }
    let text = try ScriptFile.text(at: file)
    if case .command = InputReader(models: models).kind(of: text) {
      throw ShellFailure(
        "\(printable(file)) begins with a command, and a file has statements of SQL or a query of models",
        hint: "quire FILE < SCRIPT runs commands, too", .usage)
    }
    input = text
    do {
      try await answer(text, run)
    } catch {
      var failure = explained(error)
      failure.message = "\(printable(file)): " + failure.text(in: text, width: { $0.count }, shown: { printable($0) })
      (failure.range, failure.hint) = (nil, nil)
      throw failure
    }
  }
}
