import QuireMigration

/// The SQL of `migrate new --from-model` and `--rebuild`: from what the files make to what is wanted.
struct MigrateFromModel {
  let target: MigrateTarget
  private let invocation: Invocation
  private let isFromModel: Bool
  private let rebuilding: Set<SQLName>
  private let dropping: Set<String>

  /// Nil where neither is asked for.
  init?(_ invocation: Invocation, _ target: MigrateTarget) throws {
    self.invocation = invocation
    self.target = target
    isFromModel = invocation.flag("--from-model")
    rebuilding = Set(invocation.values("--rebuild").map { SQLName($0) })
    dropping = Set(invocation.values("--drop").map { $0.lowercased() })
    if !isFromModel, rebuilding.isEmpty {
      for option in ["--rename", "--drop"] where !invocation.values(option).isEmpty {
        throw invocation.usageError("\(option) goes with --from-model")
      }
      return nil
    }
  }

  /// - Throws: ``CommandFailure`` with status 5 where it has to be known whether something is renamed and nobody is there
  ///   to be asked.
  func change() throws -> SchemaChange {
    let schemas = MigrateSchemas(target: target)
    let files = try hasFiles ? schemas.files(to: nil) : DatabaseSchema()
    let wanted = try isFromModel ? schemas.model() : files
    do {
      let renames = try isFromModel ? renames(files, wanted) : []
      return try SchemaChange(
        from: files, to: wanted, renames: renames, keepingOthers: isFromModel, rebuilding: rebuilding,
        dropping: Set(dropping.map { SQLName($0) }))
    } catch let error as SchemaChangeError {
      throw CommandFailure("\(error)\nNothing was written.", .usage)
    }
  }

  /// A folder that is missing or empty is where a project begins.
  private var hasFiles: Bool {
    if case .failure(.folder) = Result(catching: { () throws(MigrationError) in try MigrationFolder.read(target.folder)
    }) {
      return false
    }
    return true
  }

  private func renames(_ files: DatabaseSchema, _ wanted: DatabaseSchema) throws -> [SchemaRename] {
    var renames: [SchemaRename] = []
    for text in invocation.values("--rename") {
      guard let rename = SchemaRename(text) else {
        throw invocation.usageError("--rename takes TABLE:NEW or TABLE.COLUMN:TABLE.NEW, not ‘\(text)’")
      }
      renames.append(rename)
    }
    var declined: Set<SchemaRename> = []
    while let next = try files.renamed(by: renames).possibleRenames(to: wanted).first(where: {
      !declined.contains($0) && !dropping.contains(subject(of: $0).lowercased())
    }) {
      let question = question(next)
      switch target.isJSON ? nil : target.terminal.confirm(question, otherwise: true) {
      case true?: renames.append(next)
      case false?: declined.insert(next)
      case nil: throw refusal(question, next)
      }
    }
    return renames
  }

  private func subject(of rename: SchemaRename) -> String {
    rename.table.text + (rename.column.map { ".\($0.text)" } ?? "")
  }

  private func question(_ rename: SchemaRename) -> String {
    guard let column = rename.column else {
      return "Is \(rename.newName) the new name of the table \(rename.table)? Its rows would be kept."
    }
    return "Is \(rename.table).\(rename.newName) the new name of \(column)? Its values would be kept."
  }

  private func refusal(_ question: String, _ rename: SchemaRename) -> CommandFailure {
    let title = shellQuoted(invocation.arguments("TITLE").joined(separator: " "))
    let given =
      invocation.values("--rename").map { " --rename " + shellQuoted($0) }.joined()
      + invocation.values("--drop").map { " --drop " + shellQuoted($0) }.joined()
    let command = target.pasteable("new", database: false) + " \(title) --from-model\(given)"
    return CommandFailure(
      """
      \(question)
      Nothing was written. Type which it is:
          \(command) --rename \(shellQuoted("\(rename)"))        they are kept
          \(command) --drop \(shellQuoted(subject(of: rename)))        they go
      """, .refused)
  }
}
