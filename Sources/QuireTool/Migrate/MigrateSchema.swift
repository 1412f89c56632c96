import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate schema`: writes `schema.sql` beside the migrations, for reading and for reviews; it is never run.
struct MigrateSchema {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  /// The schema of the database if one is named, otherwise the one the files result in.
  func run() throws -> ExitStatus {
    let schema = try MigrateSchemas(target: target).schema(
      target.optionalDatabase == nil ? "files" : "db", isWhole: invocation.flag("--stdout"))
    if invocation.flag("--stdout"), target.isJSON {
      target.terminal.print(JSON.object([("v", 1), ("file", .null), ("sql", .string(schema.text))]).text)
      return .done
    }
    if invocation.flag("--stdout") {
      target.terminal.output.write(target.terminal.shown(sql: schema.text))
      return .done
    }
    let path = target.folder + "/schema.sql"
    do {
      try Data(schema.text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw CommandFailure("\(path) cannot be written: \(FileObstacle.reason(of: error))")
    }
    if target.isJSON {
      target.terminal.print(JSON.object([("v", 1), ("file", .string(path))]).text)
    } else if !target.isQuiet {
      target.terminal.print("wrote \(printable(path))")
    }
    return .done
  }
}
