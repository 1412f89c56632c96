import QuireMigration
import QuireSQLite

/// The SQL of `migrate new --from-model`, `--from` and `--rebuild`: from what the files make to what is wanted.
struct MigrateFromModel {
  let target: MigrateTarget
  private let invocation: Invocation
  private let isFromModel: Bool
  /// The word for the schema that is wanted; nil if it is that of the files.
  private let wanted: String?
  private let rebuilding: Set<SQLName>
  private let dropping: Set<String>
  /// The names given by `--keep`.
  private let keeping: KeptNames

  /// Nil if neither is requested.
  init?(_ invocation: Invocation, _ target: MigrateTarget) throws {
    self.invocation = invocation
    self.target = target
    isFromModel = invocation.flag("--from-model")
    if isFromModel, invocation.flag("--from") {
      throw invocation.usageError("--from-model is --from model: one of them is enough")
    }
    wanted = isFromModel ? "model" : invocation["--from"]
    rebuilding = Set(invocation.values("--rebuild").map { SQLName($0) })
    dropping = Set(invocation.values("--drop").map { $0.lowercased() })
    keeping = .matching(invocation.values("--keep"))
    guard wanted == nil else { return }
    for option in ["--rename", "--drop", "--keep"] where !invocation.values(option).isEmpty {
      throw invocation.usageError("\(option) goes with --from-model or --from")
    }
    if rebuilding.isEmpty { return nil }
  }

  /// - Throws: ``CommandFailure`` with status 5 if it must be known whether something is renamed and the command cannot
  ///   ask.
  func change() throws -> SchemaChange {
    let schemas = MigrateSchemas(target: target)
    let files = try hasFiles ? schemas.files(to: nil) : DatabaseSchema()
    let schema = try wanted.map { try schemas.schema($0) } ?? files
    do {
      let renames = try wanted == nil ? [] : renames(files, schema)
      return try SchemaChange(
        from: files, to: schema, renames: renames, keeping: isFromModel ? .all : keeping, rebuilding: rebuilding,
        dropping: Set(dropping.map { SQLName($0) }))
    } catch let error as SchemaChangeError {
      var reason = "\(error)"
      if case .noTable(let name) = error, wanted == nil {
        reason =
          "these files make no table \(name), and only they are read, not a database. It must be one that they make"
      }
      throw CommandFailure("\(reason)\nNothing was written.", .usage)
    }
  }

  /// In a new project the folder is missing or empty.
  private var hasFiles: Bool {
    if case .failure(.folder) = Result(catching: { () throws(MigrationError) in try MigrationFolder.read(target.folder)
    }) {
      return false
    }
    return true
  }

  private func renames(_ files: DatabaseSchema, _ wanted: DatabaseSchema) throws -> [SchemaRename] {
    var renames = try invocation.renames()
    var declined: Set<SchemaRename> = []
    while true {
      let possible = try files.renamed(by: renames).possibleRenames(to: wanted).filter {
        !declined.contains($0) && !isAnswered($0)
      }
      guard let next = possible.first else { return renames }
      let question = question(next, renames)
      // Enter alone means yes only if this is the one possibility.
      let isPlain = possible.count { isAlternative($0, to: next) } == 1
      switch target.isJSON ? nil : target.terminal.confirm(question, otherwise: isPlain) {
      case true?: renames.append(next)
      case false?: declined.insert(next)
      case nil: throw refusal(question, possible.filter { subject(of: $0) == subject(of: next) })
      }
    }
  }

  /// Whether both are about one column or table, by its old name or its new one.
  private func isAlternative(_ rename: SchemaRename, to other: SchemaRename) -> Bool {
    guard (rename.column == nil) == (other.column == nil) else { return false }
    if rename.column == nil { return rename.table == other.table || rename.newName == other.newName }
    return rename.table == other.table && (rename.column == other.column || rename.newName == other.newName)
  }

  /// Whether an option says already that it is none.
  private func isAnswered(_ rename: SchemaRename) -> Bool {
    dropping.contains(subject(of: rename).lowercased()) || rename.column == nil && keeping.contains(rename.table)
  }

  private func subject(of rename: SchemaRename) -> String {
    rename.table.text + (rename.column.map { ".\($0.text)" } ?? "")
  }

  private func question(_ rename: SchemaRename, _ renames: [SchemaRename]) -> String {
    let kept = KeptValues(of: rename, after: renames, target).text
    guard let column = rename.column else {
      return "Is \(rename.newName) the new name of the table \(rename.table)? \(kept)"
    }
    return "Is \(rename.table).\(rename.newName) the new name of \(column)? \(kept)"
  }

  /// - Parameter possible: The renames of one column or table.
  private func refusal(_ question: String, _ possible: [SchemaRename]) -> CommandFailure {
    let title = shellQuoted(invocation.arguments("TITLE").joined(separator: " "))
    let given = ["--rename", "--drop", "--keep"].flatMap { option in
      invocation.values(option).map { " \(option) " + shellQuoted($0) }
    }.joined()
    let command =
      target.pasteable("new", database: false)
      + " \(title) \(isFromModel ? "--from-model" : "--from \(shellQuoted(wanted ?? ""))")\(given)"
    var answers = possible.map { ("--rename \(shellQuoted("\($0)"))", "they are kept") }
    if let rename = possible.first {
      let name = shellQuoted(subject(of: rename))
      if rename.column == nil { answers.append(("--keep \(name)", "it stays as it is, under its name")) }
      answers.append(("--drop \(name)", "they go"))
    }
    return CommandFailure(
      "\(question)\nNothing was written. Type which it is:"
        + answers.map { "\n    \(command) \($0.0)        \($0.1)" }.joined(), .refused)
  }
}

/// The values that a rename would keep: counted if there is a database with the renamed table or column.
struct KeptValues {
  let text: String

  /// - Parameter renames: those before it, by which its table may be called otherwise than in the database.
  init(of rename: SchemaRename, after renames: [SchemaRename], _ target: MigrateTarget) {
    let table = renames.first { $0.column == nil && $0.newName == rename.table }?.table ?? rename.table
    // Without a database to read, the question is asked without counts.
    let counts = target.optionalDatabase.flatMap { path in
      (try? Migrator(database: path, files: []).values(in: table, column: rename.column)) ?? nil
    }
    switch (counts, rename.column) {
    case (nil, nil): text = "Its rows would be kept."
    case (nil, _?): text = "Its values would be kept."
    case (let (rows, _)?, nil): text = "Its \(counted(rows, "row")) would be kept."
    case (let (rows, values)?, _?) where rows == values:
      text = rows == 1 ? "Its 1 value would be kept." : "Its \(grouped(rows)) values would be kept."
    case (let (rows, values)?, _?): text = "Its \(counted(values, "value")) in \(counted(rows, "row")) would be kept."
    }
  }
}
