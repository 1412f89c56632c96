import Foundation
import QuireMigration
import QuireSQLite
import QuireShared
import QuireShell

/// The arguments common to all `migrate` commands: which files, which database.
struct MigrateTarget {
  let invocation: Invocation
  /// The program's name, for command lines to paste.
  let program: String
  let folder: String
  /// Whether the folder is the usual one, or comes from the environment.
  private let namesFolder: Bool
  private let found: (path: String, isNamed: Bool)?
  private let source: MigrationSource

  var terminal: Terminal { invocation.terminal }
  var isQuiet: Bool { invocation.flag("--quiet") }
  var isJSON: Bool { invocation.flag("--json") }
  var isVerbose: Bool { invocation.flag("--verbose") }

  /// Looks at no file but `.env`.
  init(_ invocation: Invocation, _ source: MigrationSource) throws {
    self.invocation = invocation
    self.source = source
    program = invocation.command.first ?? "quire"
    let argument = invocation.argument("DATABASE")
    if let argument, invocation.flag("--database") {
      throw invocation.usageError("the database was given more than once: \(argument), and with --database")
    }
    let settings = DotEnv(file: ".env").values
    let given = invocation.flag("--migrations")
    let named = invocation["--migrations"] ?? settings["QUIRE_MIGRATIONS"].flatMap { $0.isEmpty ? nil : $0 }
    folder = named ?? "Migrations"
    namesFolder = given && folder != "Migrations"
    if let path = argument ?? (invocation.flag("--database") ? invocation["--database"] : nil) {
      found = (path, true)
    } else {
      let url = "DATABASE_URL"
      let path =
        invocation["--database"] ?? invocation.environment[url].flatMap(databasePath(url:))
        ?? settings["QUIRE_DATABASE"].flatMap { $0.isEmpty ? nil : $0 } ?? settings[url].flatMap(databasePath(url:))
      found = path.map { ($0, false) }
    }
  }

  var steps: [MigrationStep] { source.steps }
  var models: (@Sendable () throws -> [String])? { source.models }
  /// Whether the database is the program's own: it has models, and carries its migrations.
  var ownsDatabase: Bool { source.models != nil && source.embedded != nil }

  var optionalDatabase: String? { found.flatMap { $0.path.isEmpty ? nil : $0.path } }

  func database() throws -> String {
    guard let database = optionalDatabase else {
      throw invocation.usageError("which database? Give its file, -d FILE, or QUIRE_DATABASE\(missing)")
    }
    return database
  }

  /// What was perhaps meant as the database.
  private var missing: String {
    let words = invocation.given.filter { $0.option == nil }.compactMap(\.value)
    if let file = words.first(where: { !$0.contains(".before-") && SidecarFiles.size(of: $0) != nil }) {
      return ". If it is \(file): here it is given as  -d \(shellQuoted(file))"
    }
    guard let url = invocation.environment["DATABASE_URL"] ?? DotEnv(file: ".env").values["DATABASE_URL"], !url.isEmpty
    else { return "" }
    return ". DATABASE_URL does not name a file of SQLite, as sqlite:library.db and file:library.db do"
  }

  func files() throws -> [MigrationFile] {
    guard let embedded = source.embedded else { return try MigrationFolder.read(folder) }
    try checkEmbedded(embedded)
    return try MigrationFolder.read(embedded)
  }

  /// The files if there are any, and without those that cannot be understood: for commands that need only the database.
  private func filesIfAny() throws -> [MigrationFile] {
    if source.embedded != nil { return try files() }
    if !namesFolder, !FileManager.default.fileExists(atPath: folder) { return [] }
    let (files, passedOver) = try MigrationFolder.readWhatCanBe(folder)
    if !isQuiet {
      for error in passedOver.prefix(3) { terminal.note("passed over: \(printable("\(error)", keepingLines: true))") }
      if passedOver.count > 3 { terminal.note("passed over: \(passedOver.count - 3) more files") }
    }
    return files
  }

  /// How long another writer is waited for.
  func wait() throws -> Duration { .seconds(try invocation.integer("--wait", in: 0...86_400) ?? 10) }

  /// Reads the folder, before any database is touched.
  func migrator(needsFiles: Bool = true) throws -> Migrator {
    let database = try database()
    let wait = try wait()
    var migrator = Migrator(database: database, files: try needsFiles ? files() : filesIfAny(), steps: steps)
    migrator.wait = wait
    migrator.by = program
    if source.embedded == nil, !isQuiet { noteWhatIsNotSeen(migrator.files) }
    return migrator
  }

  /// What is true of the folder and shows in no answer.
  private func noteWhatIsNotSeen(_ files: [MigrationFile]) {
    let skipped = MigrationFolder.skippedFolders(in: folder)
    if !skipped.isEmpty, !files.isEmpty {
      let names = printable(skipped.prefix(3).joined(separator: ", ")) + (skipped.count > 3 ? " …" : "")
      terminal.note(
        "not read: the SQL files in folders below \(printable(folder)) (\(names)). Move them up, or give -m")
    }
    let code = MigrationFolder.skippedCode(in: folder)
    if !code.isEmpty, !files.isEmpty {
      let names = printable(code.prefix(3).joined(separator: ", ")) + (code.count > 3 ? " …" : "")
      terminal.note(
        "not run: what stands beside the SQL files in another language (\(names)). "
          + "Only the program that it is written for runs it")
    }
    for file in files where file.up.utf8.count > 10_000_000 {
      terminal.note(
        "\(printable(file.path)) has \(size(file.up.utf8.count)): the database keeps the text, and each command reads it. "
          + "Load such data with import, or the sqlite3 shell")
    }
  }

  /// A copy of the folder in the binary goes out of date with the next file, and would not be noticed.
  private func checkEmbedded(_ embedded: [EmbeddedMigration]) throws {
    guard let files = try? MigrationFolder.read(folder), let carried = try? MigrationFolder.read(embedded) else {
      return
    }
    func key(_ file: MigrationFile) -> [String] { [file.name, file.up, file.undo ?? ""] }
    if Set(files.map(key)) == Set(carried.map(key)) { return }
    throw CommandFailure(
      """
      this program carries \(counted(carried.count, "migration")), and \(folder) has \(files.count == carried.count ? "others" : "\(files.count)"). Nothing was run.
      Build the program again, or run it where there is no folder \(folder).
      """, .history)
  }

  /// Refuses to begin a second folder: the files that the program carries come from another one, which is elsewhere.
  func checkFolderForNew() throws {
    guard let carried = source.embedded, !carried.isEmpty, !FileManager.default.fileExists(atPath: folder) else {
      return
    }
    throw CommandFailure(
      """
      this program carries \(counted(carried.count, "migration")), and there is no folder \(printable(folder)) here. Nothing was written.
      Name the folder that they come from:  \(program) migrate new -m DIR TITLE
      """, .usage)
  }

  // MARK: Versions

  func version(_ word: String) throws -> MigrationVersion {
    let format = MigrationFormat(of: (try? files()) ?? (try? MigrationFolder.readWhatCanBe(folder).files) ?? [])
    guard let version = format.version(word) else { throw invocation.usageError("‘\(word)’ is not a version") }
    return version
  }

  func limit() throws -> MigrationVersion? { try invocation["--to"].map { try version($0) } }

  /// The store that the database belongs to, if other machines have it too: for commands that change the schema.
  func shared(patience: Duration) throws -> SharedStore? {
    guard let database = optionalDatabase else { return nil }
    let place: NodePlace
    do {
      place = try StoreNode.place(of: database, busyTimeout: patience)
    } catch let error where Self.isBusy(error) {
      // It has waited as long as the command may: what follows would wait again.
      throw MigrateFailure(target: self, migrator: Migrator(database: database, files: []))
        .explained(.busy(path: database, seconds: patience / .seconds(1)))
    } catch {
      return nil
    }
    let members = try NodeTarget.members([invocation.environment["QUIRE_ETCD"] ?? ""], "QUIRE_ETCD", invocation)
    return .etcd(place.name, at: members, patience: patience)
  }

  private static func isBusy(_ error: any Error) -> Bool {
    if case .busy? = error as? DatabaseError { return true }
    return (error as? SQLiteError)?.isBusy == true
  }

  // MARK: Saying

  /// A command line to paste, with this database, and with the folder unless it is the default.
  func pasteable(_ command: String, database: Bool = true) -> String {
    var line = program + " migrate " + command
    if namesFolder { line += " -m " + shellQuoted(folder) }
    if database, let found, found.isNamed { line += " " + shellQuoted(found.path) }
    return line
  }
}

/// `1 migration`, `2 migrations`.
func counted(_ count: Int, _ noun: String) -> String { "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")" }

/// `8.4 MB`, in powers of ten as files are.
func size(_ bytes: Int) -> String {
  if bytes < 1000 { return "\(bytes) bytes" }
  var number = Double(bytes)
  var unit = "bytes"
  for next in ["kB", "MB", "GB", "TB"] where number >= 1000 {
    number /= 1000
    unit = next
  }
  return
    "\(number.formatted(.number.precision(.fractionLength(number < 100 ? 1 : 0)).locale(.init(identifier: "en_US_POSIX")))) \(unit)"
}

/// `18 days ago`, of a moment as the version table has it.
func relativeTime(_ moment: String) -> String {
  guard let date = try? Date(moment, strategy: .iso8601) else { return moment }
  return relativeTime(date)
}

func relativeTime(_ date: Date) -> String {
  let seconds = Int(Date.now.timeIntervalSince(date))
  for (unit, length) in [("day", 86_400), ("hour", 3_600), ("minute", 60)] where abs(seconds) >= length {
    // The clock was another one's, or another one then.
    return "\(counted(abs(seconds) / length, unit)) \(seconds < 0 ? "ahead" : "ago")"
  }
  return "just now"
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
