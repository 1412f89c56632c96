import Foundation
import QuireSQLite

/// A folder of migrations, such as `Migrations/`.
public enum MigrationFolder {
  /// Its files, oldest version first.
  ///
  /// Reads the `.sql` files of the folder itself, except `schema.sql` (which is written, never run) and hidden ones. A
  /// folder of another tool is read as that tool would, see ``MigrationFormat``. Two files with the same version are
  /// both returned: the plan reports them.
  ///
  /// - Throws: ``MigrationError`` for a folder that is missing or has no migration, and for a file that cannot be read,
  ///   has an invalid name, is not UTF-8 or has an unknown directive.
  public static func read(_ folder: String) throws(MigrationError) -> [MigrationFile] {
    let (names, texts) = try texts(in: folder) { error throws(MigrationError) in throw error }
    let files: [MigrationFile]
    do {
      files = try Self.files(texts)
    } catch .name(let file) {
      if let plan = SqitchPlan(of: folder) { throw .folder(folder, reason: plan.hint) }
      throw .name(file: file)
    }
    if MigrationFormat(of: files) == .goose, let other = names.first(where: isWrittenInGo) {
      throw .malformed(file: join(folder, other), line: 1, reason: "it is written in Go, which only goose can run")
    }
    if files.isEmpty {
      if let plan = SqitchPlan(of: folder) { throw .folder(folder, reason: plan.hint) }
      let code = names.first(where: isCode).map {
        """
        . \($0) is not SQL: only the tool that it is written for can run it.
        For a database that it has migrated, begin another folder with the tables that are there:
            migrate new "as it was" --from db -d FILE -m FOLDER
        """
      }
      let below = skippedFolderHint(in: folder)
      let hint = below.isEmpty ? code ?? "" : below
      throw .folder(folder, reason: "has no migrations (files named YYYYMMDDhhmmss_title.sql)\(hint)")
    }
    return files.sorted { ($0.version, $0.path) < ($1.version, $1.path) }
  }

  /// As ``read(_:)``, for what needs only the database: a file that cannot be read or understood is passed over.
  ///
  /// - Returns: Also why each of those was.
  /// - Throws: ``MigrationError/folder(_:reason:)`` for a folder that cannot be read.
  package static func readWhatCanBe(_ folder: String) throws(MigrationError)
    -> (files: [MigrationFile], passedOver: [MigrationError])
  {
    var passedOver: [MigrationError] = []
    var (_, texts) = try texts(in: folder) { passedOver.append($0) }
    while true {
      var errors: [MigrationError] = []
      let files = try files(texts) { errors.append($0) }
      if errors.isEmpty { return (files.sorted { ($0.version, $0.path) < ($1.version, $1.path) }, passedOver) }
      passedOver += errors
      // Without them it may be a folder of another tool, which reads the rest in another way.
      let wrong = Set(errors.compactMap(\.file))
      let count = texts.count
      texts.removeAll { wrong.contains($0.path) }
      if texts.count == count { return ([], passedOver) }
    }
  }

  /// The names in the folder, and the texts of its files.
  ///
  /// - Parameter unread: Receives the error of a file that is left out; throws it if that is not to be.
  private static func texts(in folder: String, _ unread: (MigrationError) throws(MigrationError) -> Void)
    throws(MigrationError) -> (names: [String], texts: [(path: String, text: String)])
  {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) else {
      throw .folder(folder, reason: "does not exist")
    }
    guard isDirectory.boolValue else { throw .folder(folder, reason: "is a file") }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw .folder(folder, reason: "cannot be read: \(FileObstacle.reason(of: error))")
    }
    var texts: [(path: String, text: String)] = []
    for name in names where name.lowercased().hasSuffix(".sql") && name != "schema.sql" && !name.hasPrefix(".") {
      let path = join(folder, name)
      guard name.hasSuffix(".sql") else {
        try unread(
          .malformed(
            file: path, line: 1, reason: "its name ends in \(name.suffix(4)), which is not read: rename it to .sql"))
        continue
      }
      if name.unicodeScalars.contains(where: isControl) {
        let shown = String(String.UnicodeScalarView(name.unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }))
        try unread(
          .malformed(
            file: join(folder, shown), line: 1,
            reason: "its name has a control character in it, such as a line end: rename it"))
        continue
      }
      if name.unicodeScalars.contains("\u{FFFD}"), !FileManager.default.fileExists(atPath: path) {
        try unread(.malformed(file: path, line: 1, reason: "its name is not UTF-8, at the sign \u{FFFD}: rename it"))
        continue
      }
      do {
        texts.append((path, try read(file: path)))
      } catch {
        try unread(error)
      }
    }
    return (names, texts)
  }

  /// Subfolders with `.sql` files, which are not read: Flyway, Prisma and Diesel have them.
  public static func skippedFolders(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().filter { name in
      guard !name.hasPrefix("."), !name.hasSuffix(".sql") else { return false }
      let inside = try? FileManager.default.contentsOfDirectory(atPath: join(folder, name))
      return inside?.contains { $0.hasSuffix(".sql") } ?? false
    }
  }

  /// Files with a migration's number that are written in another language: steps that only their own program runs. One with
  /// number and title of an SQL file is not among them, as it runs that file.
  package static func skippedCode(in folder: String) -> [String] {
    struct Step: Hashable {
      let version: MigrationVersion
      let title: String

      init?(_ stem: Substring) {
        let name = MigrationName(String(stem))
        guard name.kind == .number || name.kind == .versioned, let version = name.version else { return nil }
        (self.version, title) = (version, name.title)
      }
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let files = Set(names.filter { $0.hasSuffix(".sql") }.compactMap { Step($0[...]) })
    return names.sorted().filter { name in
      guard isCode(name), !name.hasSuffix("_test.go"), let period = name.lastIndex(of: ".") else { return false }
      return Step(name[..<period]).map { !files.contains($0) } ?? false
    }
  }

  /// Whether it is a migration in another language, as those of Rails, Django, Alembic and Knex are.
  private static func isCode(_ name: String) -> Bool {
    guard let period = name.lastIndex(of: "."), !name.hasPrefix("_"), !name.hasPrefix(".") else { return false }
    return [
      "rb", "py", "js", "mjs", "ts", "php", "cs", "go", "rs", "java", "kt", "exs", "xml", "yaml",
    ].contains(name[name.index(after: period)...])
  }

  /// What to do about files in subfolders; empty if there are none.
  private static func skippedFolderHint(in folder: String) -> String {
    let skipped = skippedFolders(in: folder)
    guard let first = skipped.first else { return "" }
    func files(_ name: String) -> Set<String> {
      Set((try? FileManager.default.contentsOfDirectory(atPath: join(folder, name))) ?? [])
    }
    if files(first).contains("migration.sql") {
      return """
        . \(files(first).contains("snapshot.json") ? "Drizzle" : "Prisma")'s folders are not read.
        Copy each one's file out of it:  \(join(first, "migration.sql"))  as  \(first).sql
        """
    }
    let dieselFolders = DieselFolder.inOrder(skipped.filter { files($0).contains("up.sql") })
    if !dieselFolders.isEmpty {
      // The first one, and the first whose number changes.
      let isNumbered = dieselFolders.contains(where: \.isNumbered)
      let shown = [dieselFolders.first] + [dieselFolders.dropFirst().first { $0.isNumbered == isNumbered }]
      let copies = shown.compactMap { $0 }.map { diesel in
        ["up.sql", "down.sql"].filter(files(diesel.name).contains).map {
          "\n    \(join(diesel.name, $0))  as  \(diesel.stem).\($0)"
        }.joined()
      }
      let why = """
         under these numbers. Diesel compares its own as texts, without the signs between the digits: \
        ‘20240313’ runs behind ‘20240306170000’, and ‘10’ before ‘2’
        """
      return """
        . Diesel's folders are not read.
        Copy each one's files out of it\(isNumbered ? why : ""):\(copies.joined())\
        \(dieselFolders.count > copies.count ? "\n    …" : "")
        """
    }
    return ". Files in folders below it, such as \(first), are not read"
  }

  /// Texts → migrations, of any tool.
  ///
  /// - Parameter unread: As of ``texts(in:_:)``.
  static func files(
    _ texts: [(path: String, text: String)],
    _ unread: (MigrationError) throws(MigrationError) -> Void = { error throws(MigrationError) in throw error }
  ) throws(MigrationError) -> [MigrationFile] {
    func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
    let texts = try texts.each(unread) { text throws(MigrationError) in
      if MigrationName.isOfOtherDatabase(name(text.path)) { throw .name(file: text.path) }
      return text
    }
    let named = texts.map { (name: name($0.path), text: $0.text) }
    let format = MigrationFormat(of: named)
    if format == .quire {
      return try texts.each(unread) { text throws(MigrationError) in
        try MigrationFile(path: text.path, text: text.text)
      }
    }
    try YoyoOrder(texts).check(unread)
    let files = try texts.each(unread) { text throws(MigrationError) in
      try ToolFolder.File(path: text.path, source: text.text)
    }
    return try ToolFolder(format: format, files: files).migrations(unread)
  }

  /// Whether the names of files with one number say that each is for another kind of database: `1_a_sqlite.sql` beside
  /// `1_a_postgres.sql`.
  package static func areForSeveralDatabases(_ paths: [String]) -> Bool {
    let kinds = paths.map { MigrationName.databases($0.split(separator: "/").last ?? "") }
    return kinds.allSatisfy { !$0.isEmpty } && Set(kinds).count == kinds.count
  }

  /// The names under which two files with one number are read as a pair, if one takes the other back as its name says:
  /// `1_a.rollback.sql` beside `1_a.sql`.
  package static func pair(_ paths: [String]) -> (up: (old: String, new: String), down: (old: String, new: String))? {
    func words(_ path: String) -> [String] {
      (path.split(separator: "/").last ?? "").split { !$0.isLetter && !$0.isNumber }.dropLast().map(String.init)
    }
    func isDown(_ word: String) -> Bool { ["down", "revert", "rollback", "undo"].contains(word.lowercased()) }
    guard paths.count == 2, let down = paths.first(where: { words($0).contains(where: isDown) }),
      let up = paths.first(where: { $0 != down }), !words(up).contains(where: isDown)
    else { return nil }
    let rest = words(down).filter { !isDown($0) }
    guard rest == words(up) || rest == words(up).filter({ !["do", "up"].contains($0.lowercased()) }) else { return nil }
    let folder = up.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let stem = join(folder, rest.joined(separator: "_"))
    return ((up, stem + ".up.sql"), (down, stem + ".down.sql"))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

  private static func isWrittenInGo(_ name: String) -> Bool {
    name.hasSuffix(".go") && !name.hasSuffix("_test.go") && MigrationName(String(name.dropLast(3))).kind == .number
  }

  /// Embedded migrations, as files of the folder they were taken from.
  ///
  /// - Throws: as ``read(_:)``.
  public static func read(_ embedded: [EmbeddedMigration]) throws(MigrationError) -> [MigrationFile] {
    let files = try files(embedded.map { (path: "Migrations/" + $0.name, text: $0.text) })
    return files.sorted { ($0.version, $0.path) < ($1.version, $1.path) }
  }

  private static func read(file path: String) throws(MigrationError) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .unreadable(file: path, reason: FileObstacle.reading(path))
    }
    if let encoding = WideEncoding.name(of: data) { throw .encoding(encoding, file: path) }
    guard let text = String(validating: data, as: UTF8.self) else {
      // The lines before the first malformed byte are those that decode without repair.
      let lines = data.split(separator: 10, omittingEmptySubsequences: false)
      let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
      throw .malformed(
        file: path, line: line + 1,
        reason: "it is not UTF-8. iconv -f WINDOWS-1252 -t UTF-8 converts a file of Windows or of Latin-1")
    }
    return text
  }
}

extension Array {
  /// What is read of each element.
  ///
  /// - Parameter unread: Receives the error of an element that is left out; throws it if that is not to be.
  func each<Read>(
    _ unread: (MigrationError) throws(MigrationError) -> Void, _ read: (Element) throws(MigrationError) -> Read?
  ) throws(MigrationError) -> [Read] {
    var result: [Read] = []
    for element in self {
      do {
        if let element = try read(element) { result.append(element) }
      } catch {
        try unread(error)
      }
    }
    return result
  }
}
