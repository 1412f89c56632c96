/// One finding of `check` about a migration: a code, a place, a sentence.
public struct CheckFinding: Hashable, Sendable {
  /// What kind of finding it is. A directive `-- migrate: allow M001 the reason` in the file allows it.
  public let code: Code
  /// The file concerned; nil for the whole folder or the database.
  public let file: String?
  /// From 1.
  public let line: Int?
  /// What was found, as a sentence without a final period.
  public let text: String

  /// The kinds of findings. The raw value is the code that output and directives use.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// A table or a column with values is dropped.
    case loss = "M001"
    /// NOT NULL is added without a default: SQLite refuses it if the table has rows.
    case requiredWithoutDefault = "M002"
    /// UNIQUE over values that occur twice.
    case duplicateValues = "M003"
    /// A rebuild that loses an index or a trigger.
    case forgotten = "M004"
    /// UPDATE or DELETE of every row.
    case everyRow = "M005"
    /// A transaction statement or a pragma without effect.
    case transaction = "M006"
    /// No undo section, or one that leads to another schema than there was before.
    case noUndo = "M007"
    /// The files result in another schema than `schema.sql`, or than the database has.
    case otherSchema = "M008"
    /// The files result in another schema than the models need.
    case otherModel = "M009"
    /// Two files with the same number.
    case number = "M010"
    /// An undo section that fails.
    case undoFails = "M011"
    /// An applied file needs something that only the application has, so the files cannot be run on an empty database
    /// here.
    case notReplayed = "M012"
  }

  /// A finding; `line` is from 1.
  public init(_ code: Code, file: String? = nil, line: Int? = nil, _ text: String) {
    self.code = code
    self.file = file
    self.line = line
    self.text = text
  }

  /// Whether it is only reported, and does not fail the check.
  public var isNote: Bool { code == .noUndo || code == .notReplayed }
}

extension CheckFinding: CustomStringConvertible {
  /// `M005  Migrations/2026…_a.sql:3  UPDATE of every row of book`
  public var description: String {
    let place = file.map { "  \($0)" + (line.map { ":\($0)" } ?? "") } ?? ""
    return "\(code.rawValue)\(place)  \(text)"
  }
}
