import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate new`: writes a file at the end of the order.
struct MigrateNew {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    let title = invocation.arguments("TITLE").joined(separator: " ")
    guard title.contains(where: \.isLetter) else {
      throw invocation.usageError(
        "what does it do? Such as:  \(target.pasteable("new", database: false)) \"add isbn to book\"")
    }
    try target.checkFolderForNew()
    let change = try MigrateFromModel(invocation, target)?.change()
    if let change, change.statements.isEmpty {
      if target.isJSON {
        target.terminal.print(JSON.object([("v", 1), ("file", .null)]).text)
      } else if !target.isQuiet {
        target.terminal.print("nothing to write: the files make that schema already")
      }
      return .done
    }
    let format = MigrationFormat(of: (try? MigrationFolder.read(target.folder)) ?? [])
    let path = try write(title, change, format)
    if target.isJSON {
      var members: [(String, JSON)] = [("v", 1), ("file", .string(path))]
      if let change { members.append(("sql", .string(change.sql))) }
      target.terminal.print(JSON.object(members).text)
    } else if !target.isQuiet {
      target.terminal.print("wrote \(printable(path))")
      if change == nil, format == .quire {
        target.terminal.print("Its undo is empty: it cannot be undone until there is SQL below  -- migrate: undo")
      } else if change == nil {
        target.terminal.print("It is empty: until it has SQL, apply records it and runs nothing")
      }
      for line in change?.sql.split(separator: "\n") ?? [] {
        target.terminal.print("    " + printable(sql: String(line)))
      }
      if change?.holdsQuotedStrings == true, format == .quire {
        target.terminal.print("It has no undo: in a file with an undo part, text in double quotes is a name")
      }
      if let change { tell(ofDroppedBy: change) }
      if let columns = change?.unfilledByUndo, !columns.isEmpty, change?.holdsQuotedStrings != true || format != .quire
      {
        target.terminal.print(
          printable(
            "Its undo knows no value for \(columns.joined(separator: ", ")), and fails where there are rows: write one there, "
              + "in place of NULL"))
      }
      if invocation["--from"] == "db" {
        let version = path.split(separator: "/").last?.prefix { $0 != "_" && $0 != "." } ?? ""
        target.terminal.print("The database has that already:  \(target.pasteable("baseline \(version)"))")
      }
    }
    return invocation.flag("--edit") ? try edit(path) : .done
  }

  /// Names the tables that are dropped only because the schema does not have them: it may describe a part of the file.
  private func tell(ofDroppedBy change: SchemaChange) {
    let asked = Set(invocation.values("--drop").map { SQLName($0) })
    let names = change.dropped.filter { !asked.contains($0) }.map(\.text)
    guard let schema = invocation["--from"], !names.isEmpty else { return }
    let listed = names.prefix(Self.listedTables).joined(separator: ", ") + (names.count > Self.listedTables ? " …" : "")
    let them = names.count == 1 ? "the table \(listed), which" : "\(counted(names.count, "table")), which"
    target.terminal.print(
      printable("It drops \(them) \(schema) does not have\(names.count == 1 ? "" : ": \(listed)")"))
    target.terminal.print(
      "Should they stay? Delete the file, and write it with --keep TABLE for each that stays, or --keep '*' for all")
  }

  private static let listedTables = 5

  /// In the form of the folder's tool.
  private func write(_ title: String, _ change: SchemaChange?, _ format: MigrationFormat) throws -> String {
    if format != .quire {
      return try MigrationFolder.write(title, up: change?.sql ?? "", undo: change?.undoSQL, to: target.folder)
    }
    let text = change.map { change in
      let undo = change.holdsQuotedStrings ? nil : change.undoSQL
      return "-- \(title)\n\n\(change.sql)" + (undo.map { "\n-- migrate: undo\n\($0)" } ?? "")
    }
    return try MigrationFolder.write(title, text: text, to: target.folder, after: newest())
  }

  /// The newest existing file; a missing folder, or an unreadable file, is not an error here.
  private func newest() throws -> MigrationVersion? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: target.folder)) ?? []
    return names.compactMap { MigrationVersion(String($0.prefix { $0 != "_" })) }.max()
  }

  private func edit(_ path: String) throws -> ExitStatus {
    let editor = ["VISUAL", "EDITOR"].lazy.compactMap { invocation.environment[$0] }.first { !$0.isEmpty } ?? "vi"
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    // The setting may have words of its own, such as `code --wait`.
    process.arguments = ["-c", editor + " \"$1\"", "sh", path]
    do {
      try process.run()
    } catch {
      throw CommandFailure("\(editor) could not be started: \(error.localizedDescription). \(path) is written")
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandFailure("\(editor) ended with status \(process.terminationStatus). \(path) is written")
    }
    return .done
  }
}
