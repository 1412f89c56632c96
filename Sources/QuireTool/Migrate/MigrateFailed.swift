public import QuireMigration

/// What a command has committed so far.
struct MigrateProgress {
  var applied: [AppliedMigration] = []
  var backup: MigrationBackup?
}

/// An error of a migration in a command's words, with details for programs.
struct MigrateFailed: CommandError, DetailedError {
  let description: String
  let exitStatus: ExitStatus
  let error: MigrationError
  let progress: MigrateProgress

  var details: [(String, JSON)] {
    error.details.filter { $0.0 != "applied" } + [
      ("applied", .array(progress.applied.map(\.json))),
      ("backup", progress.backup.map { .string($0.path) } ?? .null),
    ]
  }
}

extension MigrationError: DetailedError {
  /// The place, the migration, and what was done before: nothing, unless the command says otherwise.
  var details: [(String, JSON)] {
    let (file, line, column) = place
    return [
      ("code", .string(code)), ("file", file.map { .string($0) } ?? .null),
      ("line", line.map { .integer($0) } ?? .null),
      ("column", column.map { .integer($0) } ?? .null), ("applied", .array([])),
    ]
  }

  private var place: (file: String?, line: Int?, column: Int?) {
    switch self {
    case .failed(let failure): (failure.place.file, failure.place.line, failure.place.column)
    case .refused(_, let place): (place.file, place.line, place.column)
    case .malformed(let file, let line, _), .directive(_, let file, let line, _): (file, line, nil)
    case .unreadable(let file, _), .name(let file), .empty(let file), .destructive(_, let file),
      .stillUsed(_, let file),
      .stepFailed(_, let file, _), .unknownStep(_, let file), .severalStatementsWithoutTransaction(let file),
      .foreignKeys(_, _, let file, _):
      (file, nil, nil)
    case .history(.edited(let file, _)): (file.path, nil, nil)
    case .history(.outOfOrder(let file, _, _)): (file, nil, nil)
    case .history(.duplicate(_, let files)): (files.last, nil, nil)
    default: (nil, nil, nil)
    }
  }

  private var code: String {
    switch self {
    case .failed, .sqlite: "sql"
    case .foreignKeys: "foreign-keys"
    case .destructive: "M001"
    case .stillUsed: "M004"
    case .refused: "M006"
    case .notShareable: "shared"
    case .history(let problem): problem.kind
    case .stepFailed, .unknownStep: "step"
    case .noUndo: "no-undo"
    case .backup: "backup"
    case .interrupted: "interrupted"
    case .busy: "busy"
    case .tool: "tool"
    case .changedMeanwhile: "changed-meanwhile"
    case .noDatabase, .unusable, .database: "database"
    case .temporaryFull: "temporary-full"
    case .folder, .unreadable, .name, .malformed, .directive, .empty, .severalStatementsWithoutTransaction: "file"
    case .unknownVersion, .notApplied, .fewerApplied: "version"
    }
  }
}

extension MigrationError: CommandError {
  /// The status for scripts, by the kind of error.
  public var exitStatus: ExitStatus {
    switch self {
    case .database(.unreadable): .usage
    case .database(.shared): .refused
    case .failed, .foreignKeys, .database, .temporaryFull, .sqlite, .stepFailed, .backup, .noUndo: .failure
    case .folder, .unreadable, .name, .malformed, .directive, .empty, .unknownStep, .unknownVersion, .notApplied,
      .fewerApplied, .severalStatementsWithoutTransaction, .refused, .noDatabase, .unusable:
      .usage
    case .history(.databaseIsNewer): .databaseIsNewer
    case .history, .changedMeanwhile, .tool: .history
    case .destructive, .stillUsed, .notShareable: .refused
    case .busy: .busy
    case .interrupted: .interrupted
    }
  }
}
