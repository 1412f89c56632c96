import QuireSQLite

/// Why files and history do not fit: nothing is run as long as there is a problem.
public enum MigrationProblem: Hashable, Sendable {
  /// The file's text differs from what was run.
  case edited(MigrationFile, AppliedMigration)
  /// Applied, but its file is missing among older and newer ones.
  case missing(AppliedMigration)
  /// Not applied, although a newer one is.
  case outOfOrder(file: String, MigrationVersion, newest: MigrationVersion)
  /// Two or more files with one number.
  case duplicate(MigrationVersion, files: [String])
  /// Applied, and newer than every file.
  case databaseIsNewer([AppliedMigration])
}

extension MigrationProblem {
  /// One word for scripts.
  public var kind: String {
    switch self {
    case .edited: "edited"
    case .missing: "missing"
    case .outOfOrder: "out-of-order"
    case .duplicate: "duplicate"
    case .databaseIsNewer: "database-newer"
    }
  }
}

extension MigrationProblem: CustomStringConvertible {
  /// What is wrong with which file, that nothing was run, and what to do next; several lines.
  public var description: String { text { "Nothing was \($0)." } }

  /// The description, with a sentence about what was not done.
  func text(_ nothing: (String) -> String) -> String {
    switch self {
    case .edited(let file, let applied):
      """
      \(file.path) is not what was applied on \(applied.appliedAt.prefix(10)).
      \(Self.firstDifference(applied.up, file.up))
      \(nothing("run"))
      """
    case .missing(let applied):
      """
      \(applied.version) \(applied.title) was applied on \(applied.appliedAt.prefix(10)), and its file is gone.
      \(nothing("run"))
      """
    case .outOfOrder(let file, _, let newest):
      """
      \(file) is older than the last one applied (\(newest)), so databases
      already at \(newest) and new ones would run them in different orders. \(nothing("run"))
      """
    case .duplicate(let version, let files):
      """
      two migrations are numbered \(version):  \(files.joined(separator: "  and  "))
      \(nothing("run"))
      """
    case .databaseIsNewer(let applied):
      """
      the database has \(applied.count) migration\(applied.count == 1 ? "" : "s") that these files lack: \
      \(applied.map { "\($0.version) \($0.title) (applied on \($0.appliedAt.prefix(10)))" }.joined(separator: ", ")).
      \(nothing("run"))
      """
    }
  }

  /// The first line that differs, as it was applied and as it is in the file; comments and empty lines are ignored.
  private static func firstDifference(_ old: String, _ new: String) -> String {
    func lines(_ text: String) -> [(number: Int, text: Substring)] {
      text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
        guard !SQLTokens.isEmpty(String(line)) else { return nil }
        return (index + 1, line.lastIndex { !$0.isWhitespace }.map { line[...$0] } ?? "")
      }
    }
    let (before, after) = (lines(old), lines(new))
    let at = zip(before, after).prefix { SQLTokens.equal(String($0.text), String($1.text)) }.count
    var shown: [String] = []
    if at < before.count { shown.append("\(quoted(line: before[at].number)) - \(before[at].text)") }
    if at < after.count { shown.append("\(quoted(line: after[at].number)) + \(after[at].text)") }
    return shown.joined(separator: "\n")
  }
}

/// `   7 │`, the margin of a quoted line of a file.
func quoted(line number: Int) -> String {
  let digits = "\(number)"
  return String(repeating: " ", count: max(0, 4 - digits.count)) + digits + " │"
}
