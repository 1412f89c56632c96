/// The tool for which a folder's migrations were written: Quire, or another tool whose files are read unchanged.
public enum MigrationFormat: String, Hashable, Sendable, CaseIterable {
  /// `20261120143005_add_isbn.sql`, with `-- migrate: undo`.
  case quire
  /// `20261120143005_add_isbn.sql`, with `-- migrate:up` and `-- migrate:down`.
  case dbmate
  /// `000001_add_isbn.up.sql` and `000001_add_isbn.down.sql`; sqlx uses such pairs too.
  case golangMigrate = "golang-migrate"
  /// `00001_add_isbn.sql`, with `-- +goose Up` and `-- +goose Down`.
  case goose
  /// Plain files or pairs, recognized by the table `_sqlx_migrations`.
  case sqlx
  /// `V1__add_isbn.sql`, recognized by the table `refinery_schema_history`.
  case refinery
  /// `V1__add_isbn.sql` and its undo `U1__add_isbn.sql`.
  case flyway = "Flyway"
  /// `001_add_isbn.sql`, or any other number before the title.
  case plain = "plain SQL"
}

extension MigrationFormat {
  /// Determined by the names of a folder's files, and by the marks in files that could be several tools'.
  ///
  /// Names that no tool would use for a migration are ignored; if no others are left, it is Quire's, which reports what
  /// is wrong with them.
  init(of files: [(name: String, text: String)]) {
    let names = files.map { MigrationName($0.name) }
    if names.contains(where: { $0.direction != nil && $0.kind == .number }) {
      self = .golangMigrate
    } else if names.contains(where: { $0.kind == .versioned }) {
      self = .flyway
    } else if let tool = Self.tool(ofMarksIn: files.map(\.text)) {
      self = tool
    } else if files.contains(where: { MigrationVersion(String($0.name.prefix { $0 != "_" })) != nil }) {
      let isMixed = Self.mixesNumbers(names) && !files.contains(where: { Self.isQuires($0.text) })
      self = isMixed || names.contains(where: \.isInParts) ? .plain : .quire
    } else {
      self = names.contains { $0.kind == .number } ? .plain : .quire
    }
  }

  /// Whether some files have a time for their number and others a small one, which is not a time that was mistyped.
  private static func mixesNumbers(_ names: [MigrationName]) -> Bool {
    names.contains { $0.kind == .number && (0..<1_000_000).contains($0.version?.number ?? -1) }
  }

  private static func isQuires(_ text: String) -> Bool { !MigrationText(name: "", sql: text).directives.isEmpty }

  private static func tool(ofMarksIn texts: [String]) -> MigrationFormat? {
    let tools = Set(texts.flatMap { marks($0).map(\.tool) })
    return tools.contains(.goose) ? .goose : tools.first
  }

  /// The format of migrations that were read from a folder.
  public init(of files: [MigrationFile]) {
    self = .quire
    for case .tool(let format)? in [files.first?.directives.first] { self = format }
  }

  /// The version that a user calls `3`, `0003`, or, for Flyway, `1.2`; nil if it is not a number.
  public func version(_ word: String) -> MigrationVersion? {
    switch self {
    case .flyway, .refinery: MigrationVersion(dotted: word)
    default: Int64(word).map { MigrationVersion(number: $0) }
    }
  }

  /// A line of a file that says what the following lines are.
  struct Mark: Hashable {
    let tool: MigrationFormat
    /// From 0.
    let line: Int
    /// In lower case, such as `up` or `no transaction`.
    let words: String
  }

  /// The lines `-- migrate:up`, `-- +goose Up` and the like, in order.
  static func marks(_ text: String) -> [Mark] {
    var marks: [Mark] = []
    let bytes = text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) ? text.utf8.dropFirst(3) : text.utf8[...]
    for (number, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
      // Nearly every line returns here, without making a string.
      guard line.starts(with: "--".utf8), line.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: ":") })
      else { continue }
      let comment = String(decoding: line.dropFirst(2).prefix(200), as: UTF8.self)
      let words = comment.lowercased().split(whereSeparator: \.isWhitespace)
      if words.first == "+goose" {
        marks.append(Mark(tool: .goose, line: number, words: words.dropFirst().joined(separator: " ")))
      } else if let first = words.first, ["migrate:up", "migrate:down"].contains(first) {
        let rest = [first.dropFirst("migrate:".count)] + words.dropFirst()
        marks.append(Mark(tool: .dbmate, line: number, words: rest.joined(separator: " ")))
      }
    }
    return marks
  }
}

/// What a file's name says about its migration.
struct MigrationName: Hashable {
  enum Kind: Hashable {
    /// `001_add_isbn`
    case number
    /// `V1__add_isbn`
    case versioned
    /// `U1__add_isbn`
    case undo
    /// `R__add_isbn`, run whenever it changes.
    case repeatable
    case other
  }

  enum Direction: Hashable {
    case up
    case down
  }

  let kind: Kind
  /// Nil if there is none, or if it is too large.
  let version: MigrationVersion?
  let title: String
  let direction: Direction?
  /// Whether its number is a time that is written with signs in it, as in `2022-03-29-a`.
  let isInParts: Bool

  init(_ name: String) {
    var stem = name.hasSuffix(".sql") ? name.dropLast(4) : name[...]
    if stem.hasSuffix(".up") {
      (direction, stem) = (.up, stem.dropLast(3))
    } else if stem.hasSuffix(".down") {
      (direction, stem) = (.down, stem.dropLast(5))
    } else {
      direction = nil
    }
    let prefix = stem.first
    let isLettered = prefix.map { "VUR".contains($0) } ?? false
    if isLettered, let cut = stem.firstRange(of: "__") {
      let number = stem[..<cut.lowerBound].dropFirst()
      title = String(stem[cut.upperBound...]).replacing("_", with: " ")
      isInParts = false
      version = MigrationVersion(dotted: number)
      switch prefix {
      case "R" where number.isEmpty: kind = .repeatable
      case "U" where version != nil: kind = .undo
      case "V" where version != nil: kind = .versioned
      default: kind = .other
      }
    } else {
      let (digits, rest) = Self.number(stem)
      let isNumbered = !digits.isEmpty && (rest.isEmpty || "_-. ".contains(rest.first ?? "_"))
      version = isNumbered ? Int64(digits).map { MigrationVersion(number: $0) } : nil
      kind = version == nil ? .other : .number
      isInParts = version != nil && !stem.hasPrefix(digits)
      title = String(rest.drop { "_-. ".contains($0) }).replacing("_", with: " ")
    }
  }
}

extension MigrationName {
  /// The digits that a name begins with, and what follows; a day and a time, as in `20220329-040000_a`, are one number, and
  /// so are `2022_03_29_040000_a`, `2022.03.29T04.00.00.a`, `2022-03-29-a` and `20220329_01_x7Bqz-a`.
  private static func number(_ stem: Substring) -> (digits: String, rest: Substring) {
    if let moment = stem.prefixMatch(
      of: /([0-9]{4})([-._])([0-9]{2})\2([0-9]{2})(?:[-._T]?([0-9]{2})([-._]?)([0-9]{2})\6([0-9]{2}))?(?![0-9])/)
    {
      let parts = moment.output
      let time = [parts.5, parts.7, parts.8].map { $0.map(String.init) ?? "00" }.joined()
      let all = "\(parts.1)\(parts.3)\(parts.4)\(time)"
      if MigrationVersion(all) != nil { return (all, stem[moment.range.upperBound...]) }
    }
    // yoyo's: a day, which of that day's it is, and five random letters. Its place counts as seconds behind midnight.
    if let counted = stem.prefixMatch(of: /([0-9]{8})_([0-9]{2})_[0-9A-Za-z]{5}(?=[-_]|$)/) {
      let place = Int(counted.output.2) ?? 0
      let all = "\(counted.output.1)000\(place / 60)" + "\(place % 60)".leftPadded(to: 2)
      if MigrationVersion(all) != nil { return (all, stem[counted.range.upperBound...]) }
    }
    func digits(_ text: Substring) -> Substring { text.prefix { ("0"..."9").contains($0) } }
    let first = digits(stem)
    let rest = stem.dropFirst(first.count)
    let time = digits(rest.dropFirst())
    let both = String(first + time)
    guard first.count == 8, rest.first == "-", time.count == 6, MigrationVersion(both) != nil else {
      return (String(first), rest)
    }
    return (both, rest.dropFirst(7))
  }

  /// Whether the name says that its SQL is for another kind of database, as in `001_a.mysql.up.sql`.
  static func isOfOtherDatabase(_ name: String) -> Bool { names(name[...], otherDatabases) }

  private static let otherDatabases: Set = ["cockroach", "mariadb", "mssql", "mysql", "postgres", "postgresql"]

  /// The kinds of database that a name names anywhere.
  static func databases(_ name: Substring) -> Set<String> {
    otherDatabases.union(["sqlite", "sqlite3"]).intersection(
      name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
  }

  /// Whether a folder has files that undo another one, as Flyway's do: `U1__a` beside `V1__a`.
  static func haveUndo(_ names: [MigrationName]) -> Bool {
    let versions = Set(names.filter { $0.kind == .versioned }.compactMap(\.version))
    return names.contains { $0.kind == .undo && $0.version.map(versions.contains) == true }
  }

  /// Why a file beside those of Flyway cannot be left out, though it has no number: Flyway would run it.
  static func reasonOnlyFlyway(runs path: String) -> String? {
    let name = path.split(separator: "/").last ?? ""
    if name.firstMatch(of: /^B[0-9][0-9._]*__/) != nil {
      return """
        Flyway runs it in a new database in place of all files up to its number.
        Nothing was run. In a copy of the folder, name it with V and take out those before it.
        """
    }
    let moments = /^(before|after)(Each|Connect|Migrate|Repeatables|Undo|Versioned)\w*\.sql$/
    guard name.firstMatch(of: moments) != nil else { return nil }
    return """
      Flyway runs it beside each migration or each run, and nothing else does.
      Nothing was run. Move it out of the folder, and what it must do into a numbered file.
      """
  }

  private static func names(_ name: Substring, _ kinds: Set<String>) -> Bool {
    name.split(separator: ".").dropFirst().contains { kinds.contains($0.lowercased()) }
  }

  /// Why a file's name is refused, and what to do.
  static func problem(_ file: String) -> String {
    let name = file.split(separator: "/").last ?? ""
    if isOfOtherDatabase(String(name)) || names(name, ["sqlite", "sqlite3"]) {
      return """
        \(file) names a kind of database: files for several stand side by side in its folder, it seems.
        Copy those for SQLite into a folder of their own, without that word in their names.
        """
    }
    let isLettered = name.first.map { "VU".contains($0) } == true && name.contains("__")
    let digits = name.dropFirst(isLettered ? 1 : 0).prefix { ("0"..."9").contains($0) }
    if !digits.isEmpty, Int64(digits) == nil {
      return """
        \(file) has a number that is too large: \(Int64.max) is the last
        Rename it, and all others so that their order stays: 1_title.sql, or YYYYMMDDhhmmss_title.sql.
        """
    }
    return """
      \(file) has no migration's name: YYYYMMDDhhmmss_title.sql, the moment in UTC
      Rename it; if it is none, move it out of the folder.
      """
  }
}
