import Foundation
import QuireRow

/// What the parts of a case are in SQL and as queries.
extension RandomCase {
  /// The statements that make the schema.
  func schema() throws -> [String] {
    try tables.map { table in
      var lines = try table.columns.map {
        "\(try quoted(identifier: $0.name)) \($0.type.rawValue.uppercased()) \($0.rest)"
      }
      if let constraint = table.constraint { lines.append(constraint) }
      return "CREATE TABLE \(try quoted(identifier: table.name)) (\(lines.joined(separator: ", "))) \(table.ending)"
    } + extras
  }
}

extension RandomCase.Row {
  func insert() throws -> (sql: String, values: [Value]) {
    let names = values.keys.sorted()
    let columns = try names.map { try quoted(identifier: $0) }.joined(separator: ", ")
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let bound = names.map { values[$0]?.value ?? .null }
    return ("INSERT INTO \(try quoted(identifier: table)) (\(columns)) VALUES (\(marks))", bound)
  }
}

extension RandomCase.Literal {
  var value: Value {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let text): .real(Double(text) ?? 0)
    case .text(let text): .text(text)
    case .blob(let digits): .blob(Self.bytes(digits))
    case .malformed(let digits): .malformedText(Self.bytes(digits))
    }
  }

  private static func bytes(_ digits: String) -> Data {
    var data = Data()
    var rest = digits[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      data.append(byte)
      rest = rest.dropFirst(2)
    }
    return data
  }

  /// As it stands in a statement.
  var sql: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): number == .min ? "(-9223372036854775807 - 1)" : "\(number)"
    case .real("inf"): "9e999"
    case .real("-inf"): "-9e999"
    case .real(let text): text
    case .text(let text):
      text.contains("\0")
        ? "CAST(x'\(text.utf8.map { String(format: "%02x", $0) }.joined())' AS TEXT)"
        : "'\(text.replacing("'", with: "''"))'"
    case .blob(let digits): "x'\(digits)'"
    case .malformed(let digits): "CAST(x'\(digits)' AS TEXT)"
    }
  }
}

extension RandomCase.Path {
  var columnPath: ColumnPath { ColumnPath(steps.map { ColumnPath.Step($0.foreignKey, to: $0.table) }, column) }
}

extension RandomCase.Relation {
  func related(_ condition: RandomCase.Condition?) -> RelatedRows {
    let via: RowRelation.Via =
      if let pairs, pairs.count == 3 {
        .pairs(table: pairs[0], own: pairs[1], other: pairs[2])
      } else {
        .foreignKey(foreignKey ?? "id")
      }
    return RelatedRows(RowRelation(to: table, via: via), where: condition?.expression ?? .true)
  }
}

extension RandomCase.Condition {
  var expression: RowExpression {
    switch self {
    case .compare(let comparison, let path, let literal):
      .compare(comparison.expression, .column(path.columnPath), .literal(literal.value))
    case .isNull(let path): .isNull(.column(path.columnPath))
    case .oneOf(let path, let literals): .contains(literals.map(\.value), .column(path.columnPath))
    case .contains(let path, let text): .text(.contains, .column(path.columnPath), .literal(.text(text)))
    case .starts(let path, let text): .text(.startsWith, .column(path.columnPath), .literal(.text(text)))
    case .not(let operand): .not(operand.expression)
    case .all(let operands): .all(operands.map(\.expression))
    case .any(let operands): .any(operands.map(\.expression))
    case .exists(let relation, let condition): .exists(relation.related(condition))
    case .count(let relation, let condition, let comparison, let number):
      .compare(comparison.expression, .countRows(relation.related(condition)), .literal(.integer(number)))
    }
  }
}

extension RandomCase.Comparison {
  var expression: RowExpression.Comparison {
    switch self {
    case .equal: .equal
    case .unequal: .unequal
    case .equalOrAbsent: .equalOrAbsent
    case .unequalOrAbsent: .unequalOrAbsent
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    }
  }
}

extension RandomCase.Question {
  var select: SelectQuery {
    SelectQuery(
      from: table, columns: ["id"], where: filter?.expression,
      orderedBy: order.map { OrderTerm($0.path.columnPath, ascending: $0.ascending) },
      limit: shape == .list ? limit : nil, offset: shape == .list ? offset : 0)
  }

  /// Nil where it asks for rows or their number.
  var aggregates: [Aggregate]? {
    let function: Aggregate.Function
    switch shape {
    case .list, .count: return nil
    case .sum: function = .sum
    case .average: function = .average
    case .minimum: function = .minimum
    case .maximum: function = .maximum
    }
    return [Aggregate(.count), Aggregate(function, of: column?.columnPath)]
  }
}
