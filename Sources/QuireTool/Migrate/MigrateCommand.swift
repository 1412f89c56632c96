public import QuireMigration

extension Command {
  /// `quire migrate`: the migrations of a folder.
  public static let migrate = migrate(MigrationSource())

  /// `migrate` for an application's own binary, which carries its migrations and the steps that are written in Swift:
  ///
  ///     Tool("lending", version: "1.0", "lends books", commands: [.migrate(.embedded(migrations, steps: [fillKeys]))])
  public static func migrate(_ source: MigrationSource) -> Command {
    func command(
      _ name: String, _ summary: String, _ arguments: [Argument] = [], _ options: [Option] = [],
      run: @escaping @Sendable (MigrateTarget) throws -> ExitStatus
    ) -> Command {
      Command(name, summary, arguments: arguments, options: options) { invocation in
        try run(MigrateTarget(invocation, source))
      }
    }
    var migrate = Command(
      "migrate", "bring a database to the state its migrations describe", options: common, notes: notes,
      subcommands: [
        command("status", "what is applied, what is pending", [database], [exitCode]) {
          try MigrateStatus(target: $0).run()
        },
        command("new", "write a new file", [title], [fromModel, fromSchema, rebuild, rename, drop, keep, edit]) {
          try MigrateNew(target: $0).run()
        },
        command("plan", "rehearse on a copy; changes nothing", [database], [to, sql, schemaOnly]) {
          try MigratePlan(target: $0).run()
        },
        command("apply", "run what is pending", [database], [to, yes, create, destructive, noBackup, noRehearse]) {
          try MigrateApply(target: $0).run()
        },
        command("undo", "undo the last N (1)", [count, database], [to, yes, noBackup]) {
          try MigrateUndo(target: $0).run()
        },
        command("redo", "undo the last one, then apply it from the file", [database], [yes, noBackup]) {
          try MigrateUndo(target: $0).redo()
        },
        command(
          "check", "for CI: files, order, lint, replay from empty, undo, schema.sql; with a database also its schema",
          [database]
        ) { try MigrateCheck(target: $0).run() },
        command(
          "diff", "schema differences; FROM, TO: db | files | model | FILE | X.sql | VERSION", [from, into],
          [sqlOfDiff, rename, keep, exitCodeOfDiff]
        ) { try MigrateDiff(target: $0).run() },
        command("schema", "write Migrations/schema.sql", [database], [stdout]) { try MigrateSchema(target: $0).run() },
        command("log", "the history of this database; one version: its SQL", [version(.optional), database]) {
          try MigrateLog(target: $0).run()
        },
        command("renumber", "move an unapplied migration to the end of the order", [versionOrFile, database]) {
          try MigrateRecords(target: $0).renumber()
        },
        command("accept", "record the file's present text as the applied one", [version(.required), database]) {
          try MigrateRecords(target: $0).accept()
        },
        command(
          "baseline",
          "record everything up to VERSION as applied, after comparing schemas, or none; without one, what another tool has run",
          [
            Argument(
              "VERSION", "the number its file's name begins with, or none", .optional,
              accepts: { isNumber($0) || $0 == "none" }), database,
          ], [yes, back]
        ) { try MigrateBaseline(target: $0).run() },
        command("restore", "put a backup back", [backupName], [list, yes]) { try MigrateRestore(target: $0).run() },
      ], defaultSubcommand: "status")
    migrate.hints = otherNames
    return migrate
  }

  /// The names that other tools have, and what they are here.
  private static let otherNames = [
    ("status", ["info", "list", "ls", "show", "pending", "version", "current"]),
    ("undo", ["down", "rollback", "revert"]),
    ("apply", ["up", "run", "migrate", "upgrade", "deploy"]), ("new", ["create", "generate", "add", "make", "init"]),
    ("check", ["lint", "validate", "verify", "test"]), ("schema", ["dump"]), ("log", ["history"]),
    ("plan", ["dry-run", "--dry-run", "-n", "preview"]), ("restore", ["recover"]), ("baseline", ["adopt", "stamp"]),
  ].reduce(into: [String: String]()) { hints, names in
    for other in names.1 { hints[other] = "did you mean \(other.hasPrefix("-") ? "the command " : "")\(names.0)?" }
  }

  private static let common = [
    Option(
      "--database", short: "-d", value: "FILE", environment: "QUIRE_DATABASE",
      "the database, if it is not an argument"),
    Option(
      "--migrations", short: "-m", value: "DIR", environment: "QUIRE_MIGRATIONS",
      "the folder of SQL files (./Migrations)"),
    Option("--wait", value: "SECONDS", "how long to wait for another writer (10)"),
    Option("--json", "one JSON document, of an error too"),
    Option("--quiet", short: "-q", "print errors only"),
    Option("--verbose", short: "-v", "print the SQL, too"),
  ]

  private static let notes = """
    The database is the argument, -d, QUIRE_DATABASE or DATABASE_URL (of SQLite), the folder -m or QUIRE_MIGRATIONS;
    what is none of these is looked for in the file .env. A number is N or VERSION, any other word is DATABASE.

    Exit status: 0 done or nothing to do, 1 a migration failed (rolled back), 2 usage, 3 pending (status --exit-code,
    check), 4 files and history do not fit, 5 refused: destructive or needs an answer, 6 busy, 7 the database is newer
    than these files, 8 found by check, 130 Ctrl-C or SIGTERM (rolled back)
    """

  // MARK: Words

  private static let database = Argument("DATABASE", "the database file", .optional)
  private static let title = Argument("TITLE", "what it does, in a few words", .many)
  private static let count = Argument("N", "how many (1)", .optional, accepts: isNumber)
  private static let versionOrFile = Argument(
    "VERSION", "the number, or the file",
    accepts: { word in
      isNumber(word) || word.hasSuffix(".sql")
    })
  private static let backupName = Argument(
    "BACKUP", "the file, or what follows before- in its name (the latest)", .optional)

  private static func version(_ kind: Argument.Kind) -> Argument {
    Argument("VERSION", "the number its file's name begins with", kind, accepts: isNumber)
  }

  @Sendable private static func isNumber(_ word: String) -> Bool {
    !word.isEmpty && word.utf8.allSatisfy { (48...57).contains($0) }
  }

  private static let exitCode = Option("--exit-code", "exit with 3 if something is pending")
  private static let back = Option("--back", "record in the other tool's table what has run here")
  private static let from = Argument("FROM", "the first schema (db); a single schema is TO", .optional)
  private static let into = Argument("TO", "the other (files)", .optional)
  private static let sqlOfDiff = Option("--sql", "print the SQL that leads from one to the other")
  private static let exitCodeOfDiff = Option("--exit-code", "exit with 8 if they differ")
  private static let stdout = Option("--stdout", "print it instead")
  private static let fromModel = Option("--from-model", "with the SQL that the models want")
  private static let fromSchema = Option(
    "--from", value: "SCHEMA", "with the SQL that leads from the files to a schema: db, FILE or X.sql")
  private static let rebuild = Option(
    "--rebuild", value: "TABLE", repeats: true, "with the SQL that rebuilds a table, to be changed by hand")
  private static let rename = Option(
    "--rename", value: "T.A:T.B", repeats: true, "a column, or a table as T:U, that goes on under another name")
  private static let drop = Option(
    "--drop", value: "T.A", repeats: true, "a column or table that goes, and is not renamed")
  private static let keep = Option(
    "--keep", value: "NAME", repeats: true,
    "a table, view, index or trigger that stays though the schema lacks it; '*' keeps all")
  private static let edit = Option("--edit", "open it in $VISUAL or $EDITOR")
  private static let to = Option("--to", value: "VERSION", "up to this one; of undo: back to it, 0 for all")
  private static let sql = Option("--sql", "print the SQL instead of rehearsing it")
  private static let schemaOnly = Option("--schema-only", "rehearse on the tables without their rows")
  private static let yes = Option("--yes", "do not prompt")
  private static let create = Option("--create", "create the database if it does not exist")
  private static let destructive = Option("--allow-destructive", "allow migrations that destroy data")
  private static let noBackup = Option("--no-backup", "without the copy FILE.before-VERSION")
  private static let noRehearse = Option("--no-rehearse", "without running it on a copy first")
  private static let list = Option("--list", "list the backups")
}

/// The source of a command's migrations.
public struct MigrationSource: Sendable {
  /// Nil for those of the folder.
  let embedded: [EmbeddedMigration]?
  let steps: [MigrationStep]
  /// The statements that make the models' schema.
  var models: (@Sendable () throws -> [String])?

  /// The files of the folder that the command is given.
  public init(steps: [MigrationStep] = []) {
    embedded = nil
    self.steps = steps
  }

  private init(embedded: [EmbeddedMigration], steps: [MigrationStep]) {
    self.embedded = embedded
    self.steps = steps
  }

  /// Adds the program's models, whose statements `sql` returns: for `diff model` and `new --from-model`.
  ///
  ///     MigrationSource().models { try ModelContainer.schemaSQL(for: Book.self, Author.self) }
  public func models(_ sql: @escaping @Sendable () throws -> [String]) -> MigrationSource {
    var source = self
    source.models = sql
    return source
  }

  /// The migrations embedded in the program. If the folder they come from exists and differs, the program must be
  /// rebuilt first.
  public static func embedded(_ migrations: [EmbeddedMigration], steps: [MigrationStep] = []) -> MigrationSource {
    MigrationSource(embedded: migrations, steps: steps)
  }
}
