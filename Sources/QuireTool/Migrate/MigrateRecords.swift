import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate accept` and `migrate renumber`: what is recorded, and under which number.
struct MigrateRecords {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func accept() throws -> ExitStatus {
    let version = try target.version(invocation.argument("VERSION") ?? "")
    let migrator = try target.migrator()
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      let before = try migrator.accept(version)
      let file = migrator.files.first { $0.version == version }
      if target.isJSON {
        target.terminal.print(JSON.object([("v", 1), ("version", .string("\(version)"))]).text)
      } else if !target.isQuiet {
        let isSame = file.map { $0.up == before.up && $0.undo == before.undo && $0.title == before.title } ?? false
        target.terminal.print(
          isSame
            ? "nothing to do: \(version) is recorded as its file says"
            : "recorded \(file?.path ?? "\(version)") as what was applied")
      }
      return .done
    }
  }

  func renumber() throws -> ExitStatus {
    let word = invocation.argument("VERSION") ?? ""
    let files = try MigrationFolder.read(target.folder)
    let matching = files.filter {
      word.hasSuffix(".sql")
        ? $0.path == word || $0.name == word.split(separator: "/").last.map(String.init) : "\($0.version)" == word
    }
    guard let file = matching.first else {
      let near = nearest(to: word, among: files.map { "\($0.version)" }).map { " Did you mean \($0)?" } ?? ""
      throw CommandFailure("there is no migration \(word) in \(target.folder).\(near)", .usage)
    }
    if matching.count > 1 {
      throw CommandFailure(
        "two migrations are numbered \(word): say which\n"
          + matching.map { "    \(target.pasteable("renumber \(shellQuoted($0.path))"))" }.joined(separator: "\n"),
        .history)
    }
    var newest = files.map(\.version).max() ?? file.version
    if let database = target.optionalDatabase, FileManager.default.fileExists(atPath: database) {
      let migrator = try target.migrator()
      let history = try MigrateFailure(target: target, migrator: migrator).explaining { try migrator.history() }
      // Of two files with one number it is the other one that has run, if the texts say so.
      if let applied = history.first(where: { $0.version == file.version }), SQLTokens.equal(applied.up, file.up) {
        throw CommandFailure(
          "\(file.path) is applied to \(database), and databases know it by its number. Nothing was renamed.", .history)
      }
      newest = max(newest, history.map(\.version).max() ?? file.version)
    }
    let path = try MigrationFolder.renumber(file, after: newest)
    if target.isJSON {
      target.terminal.print(JSON.object([("v", 1), ("old", .string(file.path)), ("new", .string(path))]).text)
    } else if !target.isQuiet {
      target.terminal.print("renamed \(printable(file.path))\n     to \(printable(path))")
      if newest > file.version { target.terminal.note("It runs after \(newest) now: see that it can.") }
    }
    return .done
  }
}
