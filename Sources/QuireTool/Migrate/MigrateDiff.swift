import Foundation
import QuireMigration
import QuireSQLite
import QuireShell

/// `migrate diff`: the changes from one schema to another.
struct MigrateDiff {
  let target: MigrateTarget
  private var invocation: Invocation { target.invocation }

  func run() throws -> ExitStatus {
    let words = [invocation.argument("FROM"), invocation.argument("TO")].compactMap { $0 }
    // A single word is the target: compared with the database, or with the files if the word is `database`.
    let (from, to) =
      switch words.count {
      case 0: ("db", "files")
      case 1: (words[0] == "db" ? "files" : "db", words[0])
      default: (words[0], words[1])
      }
    let sides = MigrateSchemas(target: target)
    // Files can make nothing that needs a program of its own; two databases may both have it.
    let isWhole = sides.isDatabase(from) && sides.isDatabase(to)
    let (old, new) = (try sides.schema(from, isWhole: isWhole), try sides.schema(to, isWhole: isWhole))
    // Beside the models there may be more in a database: what it is the models do not say.
    let kept = to == "model" ? KeptNames.all : .matching(invocation.values("--keep"))
    let renames = try invocation.renames()
    let renamed = try SchemaChangeError.told { () throws(SchemaChangeError) in try old.renamed(by: renames) }
    let differences =
      try kept == .none ? renamed.differences(to: new) : sides.change(from: renamed, to: new, keeping: kept).differences
    if target.isJSON {
      target.terminal.print(
        JSON.object([
          ("v", 1), ("from", .string(from)), ("to", .string(to)), ("differences", .array(differences.map(\.json))),
        ]).text)
    } else if invocation.flag("--sql") {
      let change = try sides.change(from: old, to: new, renames: renames, keeping: kept)
      target.terminal.output.write(target.terminal.shown(sql: change.sql))
    } else if !target.isQuiet {
      show(differences, from, to)
      let possible = renamed.possibleRenames(to: new).filter {
        $0.column != nil || kept == .all || !kept.contains($0.table)
      }
      if !differences.isEmpty { ask(possible, from, renames) }
    }
    return invocation.flag("--exit-code") && !differences.isEmpty ? .found : .done
  }

  private func show(_ differences: [SchemaDifference], _ from: String, _ to: String) {
    let out = target.terminal.output
    if differences.isEmpty {
      return target.terminal.print("no difference between \(printable(from)) and \(printable(to))")
    }
    target.terminal.print("to come from \(printable(from)) to \(printable(to)):")
    for difference in differences {
      let style: Terminal.Stream.Style = difference.new == nil ? .red : difference.old == nil ? .green : .yellow
      target.terminal.print("    " + out.styled(printable("\(difference)"), style))
    }
  }

  /// A removed and a new object may be the same under two names: this asks, and `--rename` answers.
  private func ask(_ possible: [SchemaRename], _ from: String, _ renames: [SchemaRename]) {
    for rename in possible {
      let kept = from == "db" ? KeptValues(of: rename, after: renames, target).text : "What is in it would be kept."
      target.terminal.print("Renamed? \(kept)   --rename \(shellQuoted(printable("\(rename)")))")
    }
  }
}

/// Schemas by the words a command takes for them.
struct MigrateSchemas {
  let target: MigrateTarget

  /// - Parameters:
  ///   - word: `db`, `files`, `model`, the path of a database or of an SQL script, or a version of the files.
  ///   - isWhole: Whether a database's has what only its program can make, too. Without, a note names it.
  func schema(_ word: String, isWhole: Bool = false) throws -> DatabaseSchema {
    switch word {
    case "db": return try schema(of: target.database(), isWhole)
    case "files": return try files(to: nil)
    case "model": return try model()
    default:
      if let version = try? target.version(word) { return try files(to: version) }
      if word == "-" { return try schema(ofScript: "/dev/stdin", called: "standard input") }
      guard FileManager.default.fileExists(atPath: word) else {
        let near = nearest(to: word, among: ["db", "files", "model"]).map { "Did you mean \($0)? " } ?? ""
        throw target.invocation.usageError(
          "‘\(word)’ is not a schema. \(near)Use db, files, model, a version, the file of a database, and an SQL script"
        )
      }
      return isScript(word) ? try schema(ofScript: word, called: word) : try schema(of: word, isWhole)
    }
  }

  /// Whether the word leads to a database.
  func isDatabase(_ word: String) -> Bool {
    if ["files", "model", "-"].contains(word) { return false }
    return word == "db" || (try? target.version(word)) == nil && !isScript(word)
  }

  private func isScript(_ path: String) -> Bool { path.lowercased().hasSuffix(".sql") || isPipe(path) }

  /// Such as `<(sqlite3 other.db .schema)` of a shell, or `/dev/stdin`.
  private func isPipe(_ path: String) -> Bool {
    var info = stat()
    return PathLinks.descriptor(of: path) != nil
      || stat(path, &info) == 0 && [S_IFIFO, S_IFCHR, S_IFSOCK].contains(info.st_mode & S_IFMT)
  }

  private func schema(ofScript path: String, called name: String) throws -> DatabaseSchema {
    let migrator = Migrator(database: "", files: [])
    return try MigrateFailure(target: target, migrator: migrator, isTrial: true).explaining {
      guard let text = InputFile.contents(of: path) else {
        throw MigrationError.unreadable(file: name, reason: FileObstacle.reading(path))
      }
      return try Migrator.schema(ofScript: String(decoding: text, as: UTF8.self), at: name)
    }
  }

  private func schema(of path: String, _ isWhole: Bool) throws -> DatabaseSchema {
    var migrator = Migrator(database: path, files: [])
    migrator.wait = try target.wait()
    return try MigrateFailure(target: target, migrator: migrator).explaining {
      if isWhole { return try migrator.schema() }
      let (schema, parts) = try migrator.schemaHere()
      if !parts.names.isEmpty { target.terminal.note(printable("left out: \(parts.description)")) }
      return schema
    }
  }

  /// What the files make of nothing.
  func files(to version: MigrationVersion?) throws -> DatabaseSchema {
    let migrator = Migrator(database: target.optionalDatabase ?? "", files: try target.files(), steps: target.steps)
    return try MigrateFailure(target: target, migrator: migrator, isTrial: true).explaining {
      try migrator.replay(to: version)
    }
  }

  /// - Parameter kept: What stays although `new` does not have it.
  func change(
    from old: DatabaseSchema, to new: DatabaseSchema, renames: [SchemaRename] = [], keeping kept: KeptNames
  ) throws -> SchemaChange {
    try SchemaChangeError.told { () throws(SchemaChangeError) in
      try SchemaChange(from: old, to: new, renames: renames, keeping: kept)
    }
  }

  /// What the program's models want.
  func model() throws -> DatabaseSchema {
    guard let statements = target.models else {
      throw CommandFailure("\(target.program) has no models: an application's own binary knows its own", .usage)
    }
    return try DatabaseSchema(madeBy: statements())
  }
}

extension SchemaDifference {
  var json: JSON {
    .object([
      ("kind", .string(kind.rawValue)), ("table", table.map { .string($0.text) } ?? .null),
      ("old", old.map { .string($0) } ?? .null), ("new", new.map { .string($0) } ?? .null),
      ("text", .string("\(self)")),
    ])
  }
}

extension SchemaChangeError {
  /// Runs `body`; what cannot be written ends the command.
  fileprivate static func told<T>(_ body: () throws(SchemaChangeError) -> T) throws -> T {
    do {
      return try body()
    } catch {
      throw CommandFailure("\(error)")
    }
  }
}

extension Invocation {
  /// The renames given by `--rename`, in order.
  func renames() throws -> [SchemaRename] {
    try values("--rename").map { text in
      guard let rename = SchemaRename(text) else {
        throw usageError("--rename takes TABLE:NEW or TABLE.COLUMN:TABLE.NEW, not ‘\(text)’")
      }
      return rename
    }
  }
}
