import Foundation
import QuireRow

/// One case of the differential test on random schemas: tables, rows, questions, and transactions after each of which
/// every answer is compared. As text it is an entry of the corpus.
struct RandomCase: Codable, Equatable {
  var tables: [Table] = []
  /// Indexes and triggers.
  var extras: [String] = []
  var rows: [Row] = []
  var questions: [Question] = []
  var transactions: [Transaction] = []
  /// The fault with which it must fail; without one it must pass, as all do.
  var fault: Fault?

  struct Table: Codable, Equatable {
    var name: String
    /// The first is the key of a table with one.
    var columns: [Column]
    /// What follows the columns, as a primary key of two.
    var constraint: String?
    var ending = ""
  }

  struct Column: Codable, Equatable {
    var name: String
    var type: Kind
    /// What follows name and type.
    var rest = ""
  }

  enum Kind: String, Codable { case integer, real, text, blob, any }

  struct Row: Codable, Equatable {
    var table: String
    var values: [String: Literal]
  }

  struct Transaction: Codable, Equatable {
    /// SQL; ``savepoint`` and its like in between.
    var statements: [String]
    /// Whether the context moves after it, or takes it together with the next.
    var isTold = true
  }

  static let savepoint = "SAVEPOINT"
  static let release = "RELEASE"
  static let undo = "ROLLBACK TO"
  static let undoAll = "ROLLBACK"

  /// What is broken on purpose.
  enum Fault: String, Codable {
    /// A window takes in rows beyond what it knows.
    case frontier
    /// Whose a related row was is forgotten.
    case origins
    /// An aggregate does not hear of rows that go.
    case deletes
  }

  enum Literal: Equatable {
    case null
    case integer(Int64)
    /// As text: JSON has no infinity.
    case real(String)
    case text(String)
    /// In hexadecimal.
    case blob(String)
    /// TEXT of these bytes, which are not UTF-8.
    case malformed(String)
  }
}

extension RandomCase {
  /// One question about the rows of a table.
  struct Question: Codable, Equatable {
    var shape: Shape
    var table: String
    var filter: Condition?
    var order: [Term] = []
    var limit: Int?
    var offset = 0
    /// What is added up or compared, and what rows are grouped by.
    var column: Path?
    var group: Path?
    /// Whether somebody listens for differences.
    var listens = true

    enum Shape: String, Codable { case list, count, sum, average, minimum, maximum }
  }

  struct Path: Codable, Equatable {
    /// Foreign keys and the tables they lead to.
    var steps: [Step] = []
    var column: String
    var type: Kind

    struct Step: Codable, Equatable {
      var foreignKey: String
      var table: String
    }
  }

  struct Term: Codable, Equatable {
    var path: Path
    var ascending: Bool
  }

  struct Relation: Codable, Equatable {
    var table: String
    /// The column that leads back; with `pairs` the table in between, its column for this side and for the other.
    var foreignKey: String?
    var pairs: [String]?
  }

  indirect enum Condition: Codable, Equatable {
    case compare(Comparison, Path, Literal)
    case isNull(Path)
    case oneOf(Path, [Literal])
    case contains(Path, String)
    case starts(Path, String)
    case not(Condition)
    case all([Condition])
    case any([Condition])
    case exists(Relation, Condition?)
    case count(Relation, Condition?, Comparison, Int64)
  }

  enum Comparison: String, Codable, CaseIterable {
    case equal, unequal, equalOrAbsent, unequalOrAbsent, less, lessOrEqual, greater, greaterOrEqual
  }
}

// MARK: As text

extension RandomCase {
  /// JSON, with what is innermost on one line.
  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { return "\(self)" }
    return String(decoding: data, as: UTF8.self)
      .replacing(/[{\[]\n[^{}\[\]]*[}\]]/) { match in match.output.replacing(/\s*\n\s*/, with: " ") } + "\n"
  }

  init(text: String) throws { self = try JSONDecoder().decode(RandomCase.self, from: Data(text.utf8)) }
}

extension RandomCase.Literal: Codable {
  /// One string: the storage class, and what follows it.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encode("null")
    case .integer(let number): try container.encode("integer \(number)")
    case .real(let text): try container.encode("real \(text)")
    case .text(let text): try container.encode("text \(text)")
    case .blob(let digits): try container.encode("blob \(digits)")
    case .malformed(let digits): try container.encode("malformed \(digits)")
    }
  }

  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    let end = text.firstIndex(of: " ") ?? text.endIndex
    let rest = String(text[end...].dropFirst())
    switch text[..<end] {
    case "integer": self = .integer(Int64(rest) ?? 0)
    case "real": self = .real(rest)
    case "text": self = .text(rest)
    case "blob": self = .blob(rest)
    case "malformed": self = .malformed(rest)
    default: self = .null
    }
  }
}
