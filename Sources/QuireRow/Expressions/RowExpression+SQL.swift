extension RowExpression {
  /// The expression as a value, the joins it needs, and their bindings; the base table is `t0`.
  ///
  ///     SELECT … FROM "book" AS t0 \(joins) WHERE \(condition)
  ///
  /// ``SelectQuery`` writes whole statements.
  package func sql() throws(QueryError) -> (value: SQLText, joins: String) {
    var writer = ExpressionWriter()
    try writer.value(self)
    return (writer.sql, try writer.joins.clauses())
  }

  /// The same expression as a condition, such as WHERE, where NULL and false are equivalent: shorter, and easier for
  /// SQLite's planner.
  package func conditionSQL() throws(QueryError) -> (condition: SQLText, joins: String) {
    var writer = ExpressionWriter()
    try writer.filter(self)
    return (writer.sql, try writer.joins.clauses())
  }
}

func quotedName(_ name: String) throws(QueryError) -> String {
  do { return try quoted(identifier: name) } catch { throw .identifier(error) }
}

/// The tables that a statement reaches through foreign keys: `t1`, `t2`, … in the order in which they are first used.
/// Those of nested statements over related rows are `r1t0`, `r1t1`, …
struct Joins {
  private(set) var paths: [[ColumnPath.Step]] = []
  private let prefix: String

  init(scope: Int = 0) { prefix = scope == 0 ? "t" : "r\(scope)t" }

  /// The alias of the row at the end of the steps; adds the join if needed.
  mutating func alias(of steps: [ColumnPath.Step]) -> String {
    if steps.isEmpty { return "\(prefix)0" }
    if let known = paths.firstIndex(of: steps) { return "\(prefix)\(known + 1)" }
    _ = alias(of: steps.dropLast())
    paths.append(steps)
    return "\(prefix)\(paths.count)"
  }

  /// LEFT JOINs of all except `present`, which the statement names itself.
  func clauses(without present: Set<[ColumnPath.Step]> = []) throws(QueryError) -> String {
    var text = ""
    for (index, steps) in paths.enumerated() where !present.contains(steps) {
      guard let step = steps.last else { continue }
      let parent = steps.count == 1 ? 0 : (paths.firstIndex(of: Array(steps.dropLast())) ?? 0) + 1
      text += " LEFT JOIN \(try quotedName(step.table)) AS \(prefix)\(index + 1)"
      text +=
        " ON \(prefix)\(index + 1).\(try quotedName(step.key)) = \(prefix)\(parent).\(try quotedName(step.foreignKey))"
    }
    return text
  }
}

/// Writes expressions, collecting bindings and joins.
struct ExpressionWriter {
  var sql = SQLText()
  var joins: Joins
  /// The number of nested statements so far.
  var scopes: Int

  init(scope: Int = 0) {
    joins = Joins(scope: scope)
    scopes = scope
  }

  /// Lists up to this length are bound one by one, so that one statement is enough; longer ones are passed as one JSON
  /// text.
  static let shortList = 8
  static let longestList = 30_000  // SQLite takes 32 766 parameters in all

  mutating func column(_ path: ColumnPath) throws(QueryError) {
    sql.text += "\(joins.alias(of: path.steps)).\(try quotedName(path.column))"
  }

  mutating func bind(_ value: Value) {
    sql.text += "?"
    sql.bindings.append(value)
  }

  /// As a value: the result of `evaluate`.
  mutating func value(_ expression: RowExpression) throws(QueryError) {
    switch expression {
    case .column(let path): try column(path)
    case .literal(.null): sql.text += "NULL"
    case .literal(let value): bind(value)
    case .and(let operands): try list(operands[...], " AND ", none: "1", isFilter: false)
    case .or(let operands): try list(operands[...], " OR ", none: "0", isFilter: false)
    case .not(.column(let path)):
      sql.text += "("
      try column(path)
      sql.text += " = 0)"
    case .not(.isNull(let operand)):
      sql.text += "("
      try value(operand)
      sql.text += " IS NOT NULL)"
    case .not(let operand):
      sql.text += "(NOT "
      try condition(operand)
      sql.text += ")"
    case .compare(let comparison, let a, let b): try compare(comparison, a, b)
    case .isNull(let operand):
      sql.text += "("
      try value(operand)
      sql.text += " IS NULL)"
    case .oneOf(let operand, let values): try oneOf(operand, values)
    case .text(let test, let a, let b): try text(test, a, b)
    case .count(let operand):
      sql.text += "length("
      try value(operand)
      sql.text += ")"
    case .conditional(let test, let then, let otherwise):
      sql.text += "CASE WHEN "
      try filter(test)
      sql.text += " THEN "
      try value(then)
      if otherwise != .null {
        sql.text += " ELSE "
        try value(otherwise)
      }
      sql.text += " END"
    case .coalesce(let a, let b):
      sql.text += "coalesce("
      try value(a)
      sql.text += ", "
      try value(b)
      sql.text += ")"
    case .arithmetic(let operation, let a, let b):
      sql.text += "("
      try value(a)
      sql.text += operation.sql
      try value(b)
      sql.text += ")"
    case .exists(let rows):
      sql.text += "EXISTS "
      try related(rows, "1")
    case .countRows(let rows): try related(rows, "count(*)")
    case .aggregate(let function, let rows): try aggregate(function, rows)
    case .joined(let a, let b):
      sql.text += "("
      try value(a)
      sql.text += " || "
      try value(b)
      sql.text += ")"
    case .lowercased(let operand):
      sql.text += "lower("
      try value(operand)
      sql.text += ")"
    case .decimalOrder(let operand):
      sql.text += "quire_decimal_order("
      try value(operand)
      sql.text += ")"
    case .computed(let value): throw .computed(value.words)
    case .written(let pieces, let operands):
      for (place, piece) in pieces.enumerated() {
        sql.text += piece
        if operands.indices.contains(place) { try value(operands[place]) }
      }
    }
  }

  /// As a condition that may be NULL: an operand of NOT, AND, OR.
  mutating func condition(_ expression: RowExpression) throws(QueryError) {
    switch expression {
    case .column(let path):
      sql.text += "("
      try column(path)
      sql.text += " = 1)"
    case .literal(0): sql.text += "0"
    case .literal(1): sql.text += "1"
    default: try value(expression)
    }
  }

  /// As a condition for which NULL and false are equivalent. `=` instead of IS lets SQLite turn LEFT JOIN into JOIN and
  /// use indexes on both sides.
  mutating func filter(_ expression: RowExpression) throws(QueryError) {
    switch expression {
    case .and(let operands): try list(operands[...], " AND ", none: "1", isFilter: true)
    case .or(let operands): try list(operands[...], " OR ", none: "0", isFilter: true)
    case .compare(.equal, let a, .literal(let value)) where value != .null:
      try compare(.equalOrAbsent, a, .literal(value))
    case .compare(.equal, .literal(let value), let a) where value != .null:
      try compare(.equalOrAbsent, a, .literal(value))
    case .coalesce(let operand, .literal(0)) where operand.isCondition || operand.isColumn: try filter(operand)
    default: try condition(expression)
    }
  }

  /// Split in halves, so that a long list does not make a deep tree: SQLite refuses a depth above 1000.
  private mutating func list(_ operands: ArraySlice<RowExpression>, _ joint: String, none: String, isFilter: Bool)
    throws(QueryError)
  {
    if operands.isEmpty {
      sql.text += none
    } else if operands.count > 64 {
      let middle = operands.startIndex + operands.count / 2
      sql.text += "("
      try list(operands[..<middle], joint, none: none, isFilter: isFilter)
      sql.text += joint
      try list(operands[middle...], joint, none: none, isFilter: isFilter)
      sql.text += ")"
    } else {
      sql.text += "("
      for (index, operand) in operands.enumerated() {
        if index > 0 { sql.text += joint }
        if isFilter { try filter(operand) } else { try condition(operand) }
      }
      sql.text += ")"
    }
  }

  private mutating func compare(_ comparison: RowExpression.Comparison, _ a: RowExpression, _ b: RowExpression)
    throws(QueryError)
  {
    sql.text += "("
    try value(a)
    sql.text += comparison.sql
    try value(b)
    sql.text += ")"
  }

  private mutating func oneOf(_ operand: RowExpression, _ values: [Value]) throws(QueryError) {
    if values.isEmpty {
      sql.text += "0"
      return
    }
    sql.text += "("
    try value(operand)
    if values.count > Self.shortList, let json = KeyList.json(values) {
      sql.text += " IN (SELECT value FROM json_each(?))"
      sql.bindings.append(.text(json))
    } else {
      if values.count > Self.longestList { throw .tooManyValues(values.count) }
      sql.text += " IN (" + repeatElement("?", count: values.count).joined(separator: ", ") + ")"
      sql.bindings += values
    }
    sql.text += ")"
  }

  private mutating func text(_ test: RowExpression.TextTest, _ a: RowExpression, _ b: RowExpression) throws(QueryError)
  {
    switch (test, b) {
    case (.contains, _):
      sql.text += "(instr("
      try value(a)
      sql.text += ", "
      try value(b)
      sql.text += ") > 0)"
    case (.containsFolded, _):
      sql.text += "(instr(lower("
      try value(a)
      sql.text += "), lower("
      try value(b)
      sql.text += ")) > 0)"
    case (.startsWith, .literal(.text(let prefix))):
      sql.text += "("
      try value(a)
      sql.text += " >= "
      bind(.text(prefix))
      if let upper = PrefixRange(prefix).upper {
        sql.text += " AND "
        try value(a)
        sql.text += " < "
        bind(.text(upper))
      }
      sql.text += ")"
    case (.startsWith, _):
      sql.text += "(instr("
      try value(a)
      sql.text += ", "
      try value(b)
      sql.text += ") = 1)"
    case (.endsWith, _):  // by bytes: `substr` of text would stop at a NUL
      sql.text += "CASE WHEN "
      try value(b)
      sql.text += " = '' THEN "
      try value(a)
      sql.text += " >= '' WHEN "
      try value(a)
      sql.text += " = '' THEN "
      try value(b)
      sql.text += " = '' ELSE substr(CAST("  // of an empty blob `substr` is NULL
      try value(a)
      sql.text += " AS BLOB), -length(CAST("
      try value(b)
      sql.text += " AS BLOB))) = CAST("
      try value(b)
      sql.text += " AS BLOB) END"
    }
  }
}

extension RowExpression {
  fileprivate var isColumn: Bool { if case .column = self { true } else { false } }
}

extension RowExpression.Comparison {
  fileprivate var sql: String {
    switch self {
    case .equal: " IS "
    case .unequal: " IS NOT "
    case .equalOrAbsent: " = "
    case .unequalOrAbsent: " <> "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    }
  }
}

extension RowExpression.Arithmetic {
  fileprivate var sql: String {
    switch self {
    case .add: " + "
    case .subtract: " - "
    case .multiply: " * "
    case .divide: " / "
    case .remainder: " % "
    }
  }
}

/// Lists as one parameter: JSON text for `json_each(?)`.
package enum KeyList {
  package static func json(_ keys: some Sequence<Int64>) -> String {
    var text = "["
    for key in keys {
      if text.utf8.count > 1 { text += "," }
      text += String(key)
    }
    return text + "]"
  }

  /// Nil if the values would not be preserved exactly: SQLite cuts JSON text at an escaped NUL, rounds some reals in
  /// the last digit, and JSON has no blobs.
  static func json(_ values: [Value]) -> String? {
    var text = "["
    for (index, value) in values.enumerated() {
      if index > 0 { text += "," }
      switch value {
      case .integer(let number): text += String(number)
      case .text(let string):
        guard let quoted = quoted(string) else { return nil }
        text += quoted
      default: return nil
      }
    }
    return text + "]"
  }

  private static func quoted(_ string: String) -> String? {
    var bytes: [UInt8] = [34]
    for byte in string.utf8 {
      switch byte {
      case 0: return nil
      case 34, 92: bytes += [92, byte]
      case ..<32:
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(34)
    return String(decoding: bytes, as: UTF8.self)
  }
}
