package import Foundation
import QuireSQLite

/// The text of a file of statements, or of one query of models.
package enum ScriptFile {
  /// - Parameters:
  ///   - path: Of a file or a pipe.
  ///   - isStopped: Whether no more of a pipe is to be waited for.
  /// - Throws: ``ShellFailure`` if it cannot be read, or is not in UTF-8.
  package static func text(
    at path: String, isStopped: @escaping () -> Bool = { false }
  ) throws(ShellFailure) -> String {
    let file = try InputFile(path, .statements, isStopped: isStopped)
    var data = Data()
    while case let bytes = try file.read(pieceSize), !bytes.isEmpty { data += bytes }
    return try text(of: data, named: printable(path))
  }

  private static let pieceSize = 1 << 16

  package static func text(of data: Data, named name: String) throws(ShellFailure) -> String {
    if let invalid = InvalidUTF8(data) {
      throw ShellFailure("line \(invalid.line) of \(name) is not UTF-8 from \(invalid.place). Nothing was run", .usage)
    }
    // Lines end as they do in statements of the shell, and for the sqlite3 program: in a text over two lines, too.
    let text = String(decoding: data, as: UTF8.self)
    return data.contains(UInt8(ascii: "\r")) ? text.replacing("\r\n", with: "\n") : text
  }
}

extension ShellSession {
  /// `.read FILE`: runs a file's text as if it were typed. An error is about a line of the file.
  func read(_ argument: String, _ run: Run) async throws {
    let (file, rest) = Self.file(in: argument)
    if file.isEmpty || !rest.isEmpty { throw ShellFailure(".read FILE, with a name that has spaces in quotes", .usage) }
    let watch = source.watch
    let text = try ScriptFile.text(at: file) { watch.wasStopped }
    if case .command = InputReader(models: models).kind(of: text) {
      throw ShellFailure(
        "\(printable(file)) begins with a command, and a file has statements of SQL or a query of models",
        hint: "quire FILE < SCRIPT runs commands, too", .usage)
    }
    input = text
    let wasOpen = !source.connection.isAutocommit
    let areKeysOn = try source.connection.query("PRAGMA foreign_keys").first
    do {
      try await answer(text, run)
    } catch {
      var failure = explained(error)
      failure.message = "\(printable(file)): " + failure.text(in: text, width: { $0.count }, shown: { printable($0) })
      (failure.range, failure.hint) = (nil, nil)
      if !wasOpen, !source.connection.isAutocommit,
        (try? await sql("ROLLBACK", Run(output: nil, confirm: run.confirm) { _ in })) != nil
      {
        failure.hint = "the transaction that the file began was rolled back"
      }
      // A dump has switched them off, and would have switched them on again at its end.
      if !wasOpen, areKeysOn == 1 { _ = try? source.connection.execute("PRAGMA foreign_keys = ON") }
      throw failure
    }
  }
}
