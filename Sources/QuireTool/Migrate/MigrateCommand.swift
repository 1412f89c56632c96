public import QuireMigration

extension Command {
  /// `quire migrate`: what is applied and pending, and running it.
  public static let migrate = Command(
    "migrate", "bring a database to the state its migrations describe",
    options: [
      Option(
        "--database", short: "-d", value: "FILE", environment: "QUIRE_DATABASE",
        "the database, where it is not an argument"),
      Option(
        "--migrations", short: "-m", value: "DIR", environment: "QUIRE_MIGRATIONS",
        "the folder of SQL files (./Migrations)"),
      Option("--wait", value: "SECONDS", "how long to wait for another writer (10)"),
      Option("--quiet", short: "-q", "print errors only"),
    ],
    notes: """
      Exit status: 0 done or nothing to do, 1 a migration failed (rolled back), 2 usage, 3 pending (status --exit-code),
      4 files and history do not fit, 6 busy, 7 the database is newer than these files
      """,
    subcommands: [status, apply], defaultSubcommand: "status")

  private static let status = Command(
    "status", "what is applied, what is pending",
    arguments: [Argument("DATABASE", "the database file", .optional)],
    options: [
      Option("--json", "one JSON document"),
      Option("--exit-code", "exit with 3 where something is pending"),
    ]
  ) { try MigrateStatus($0).run() }

  private static let apply = Command(
    "apply", "run what is pending",
    arguments: [Argument("DATABASE", "the database file", .optional)],
    options: [Option("--create", "create the database where there is none")]
  ) { try MigrateApply($0).run() }
}

/// What every `migrate` command is told: which files, which database.
struct MigrateTarget {
  /// The program's name, for command lines to paste.
  let program: String
  let folder: String
  let database: String
  let migrator: Migrator

  /// Reads the folder, before any database is touched.
  init(_ invocation: Invocation) throws {
    let argument = invocation.argument("DATABASE")
    if let argument, invocation.flag("--database") {
      throw invocation.usageError("the database is given twice: \(argument), and with --database")
    }
    guard let database = argument ?? invocation["--database"], !database.isEmpty else {
      throw invocation.usageError("which database? Give its file, -d FILE, or QUIRE_DATABASE")
    }
    let seconds = try invocation.integer("--wait", in: 0...86_400) ?? 10
    folder = invocation["--migrations"] ?? "Migrations"
    self.database = database
    var migrator = Migrator(database: database, files: try MigrationFolder.read(folder))
    migrator.wait = .seconds(seconds)
    program = invocation.command.first ?? "quire"
    migrator.by = program
    self.migrator = migrator
  }

  /// A command line ready to paste that names this database, and the folder where it is not the usual one.
  func pasteable(_ command: String) -> String {
    command + (folder == "Migrations" ? "" : " -m " + shellQuoted(folder)) + " " + shellQuoted(database)
  }
}

extension MigrateTarget {
  /// The error with what only a command knows: in what state the database is, and what to type.
  func explained(_ error: MigrationError) -> any CommandError {
    switch error {
    case .noDatabase:
      return CommandFailure("\(error)\nTo create one:  \(pasteable("\(program) migrate apply --create"))", .usage)
    case .failed:
      let state =
        switch Result(catching: migrator.plan) {
        case .success(let plan): "is as before (\(plan.current.map { "schema \($0)" } ?? "no migration applied"))"
        case .failure: "was not created"
        }
      return CommandFailure(
        "\(error)\nRolled back: \(database) \(state). Fix the file, run apply again.", error.exitStatus)
    case .busy:
      let command = pasteable("\(program) migrate apply --wait 60")
      return CommandFailure("\(error)\n    \(command)        or stop the program that has it open", error.exitStatus)
    default: return error
    }
  }
}

/// `word` as a shell reads it back whole.
public func shellQuoted(_ word: String) -> String {
  let isPlain = word.utf8.allSatisfy { byte in
    switch byte {
    case 48...57, 65...90, 97...122, 128...255: true
    default: "_-./:@%+=,".utf8.contains(byte)
    }
  }
  let safe = word.hasPrefix("-") ? "./" + word : word
  return isPlain && !word.isEmpty ? safe : "'" + safe.replacing("'", with: "'\\''") + "'"
}

extension MigrationError: CommandError {
  public var exitStatus: ExitStatus {
    switch self {
    case .failed, .foreignKeys, .database, .sqlite: .failure
    case .folder, .unreadable, .name, .malformed, .directive, .empty, .unknownStep,
      .severalStatementsWithoutTransaction,
      .refused, .noDatabase, .unusable:
      .usage
    case .history(.databaseIsNewer): .databaseIsNewer
    case .history: .history
    case .busy: .busy
    }
  }
}
