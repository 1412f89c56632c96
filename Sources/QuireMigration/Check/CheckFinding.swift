/// Something `check` has to say of a migration: a code, a place, a sentence.
public struct CheckFinding: Hashable, Sendable {
  public let code: Code
  /// The file it is about; nil for the whole folder or the database.
  public let file: String?
  /// From 1.
  public let line: Int?
  public let text: String

  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// A table or a column dropped with values in it.
    case loss = "M001"
    /// NOT NULL added without a default: refused by SQLite where the table has rows.
    case requiredWithoutDefault = "M002"
    /// UNIQUE over values that are there twice.
    case duplicateValues = "M003"
    /// A rebuild that forgets an index or a trigger.
    case forgotten = "M004"
    /// UPDATE or DELETE of every row.
    case everyRow = "M005"
    /// A transaction statement or a pragma without effect.
    case transaction = "M006"
    /// No undo section.
    case noUndo = "M007"
    /// The files make another schema than `schema.sql`, or than the database has.
    case otherSchema = "M008"
    /// The files make another schema than the models want.
    case otherModel = "M009"
    /// Two files with one number.
    case number = "M010"
  }

  public init(_ code: Code, file: String? = nil, line: Int? = nil, _ text: String) {
    self.code = code
    self.file = file
    self.line = line
    self.text = text
  }

  /// Whether it is told and lets the check pass.
  public var isNote: Bool { code == .noUndo }
}

extension CheckFinding: CustomStringConvertible {
  /// `M005  Migrations/2026…_a.sql:3  UPDATE of every row of book`
  public var description: String {
    let place = file.map { "  \($0)" + (line.map { ":\($0)" } ?? "") } ?? ""
    return "\(code.rawValue)\(place)  \(text)"
  }
}
