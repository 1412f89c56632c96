import Foundation

extension RowExpression {
  /// Whether a row with these columns is accepted: SQL's WHERE, in which NULL rejects.
  package func accepts(_ column: (ColumnPath) -> Value) -> Bool { accepts(column, related: { _ in nil }) }

  /// As ``accepts(_:)``, if related rows can be counted and values be computed from the row's object.
  package func accepts(
    _ column: (ColumnPath) -> Value, related: (RelatedRows) -> Int?, computed: (ComputedValue) -> Value = { _ in .null }
  ) -> Bool {
    truth(column, related, computed) == .integer(1)
  }

  /// The value that SQLite gives for ``sql()`` on a row with these columns.
  ///
  /// A column behind a foreign key that leads nowhere must be `.null`. Parts that need other rows (``needsRows``) or an
  /// object cannot be evaluated from one row: both are NULL here.
  package func evaluate(_ column: (ColumnPath) -> Value) -> Value { evaluate(column, related: { _ in nil }) }

  /// As ``evaluate(_:)``, if related rows can be counted (nil for an unknown number) and values be computed from the
  /// object.
  package func evaluate(
    _ column: (ColumnPath) -> Value, related: (RelatedRows) -> Int?, computed: (ComputedValue) -> Value = { _ in .null }
  ) -> Value {
    func value(_ operand: RowExpression) -> Value { operand.evaluate(column, related: related, computed: computed) }
    func truth(_ operand: RowExpression) -> Value { operand.truth(column, related, computed) }
    switch self {
    case .computed(let computation): return computed(computation)
    case .column(let path): return column(path)
    case .literal(let literal): return literal
    case .and(let operands):
      var result = Value.integer(1)
      for operand in operands {
        switch truth(operand) {
        case .integer(0): return .integer(0)
        case .null: result = .null
        default: continue
        }
      }
      return result
    case .or(let operands):
      var result = Value.integer(0)
      for operand in operands {
        switch truth(operand) {
        case .integer(1): return .integer(1)
        case .null: result = .null
        default: continue
        }
      }
      return result
    case .not(.column(let path)): return Value.test(column(path), 0) { $0 == 0 }
    case .not(let operand):
      let holds = truth(operand)
      return holds == .null ? .null : Value(holds == .integer(0))
    case .compare(let comparison, let a, let b):
      return comparison.holds(value(a), value(b))
    case .isNull(let operand): return Value(value(operand) == .null)
    case .oneOf(let operand, let values):
      if values.isEmpty { return .integer(0) }
      let element = value(operand)
      return element == .null ? .null : Value(values.contains { $0.compare(to: element) == 0 })
    case .text(let test, let a, let b):
      return test.holds(value(a), b)(value(b))
    case .count(let operand): return value(operand).count
    case .conditional(let condition, let then, let otherwise):
      return value(truth(condition) == .integer(1) ? then : otherwise)
    case .coalesce(let a, let b):
      let first = value(a)
      return first == .null ? value(b) : first
    case .arithmetic(let operation, let a, let b):
      return operation.apply(value(a), value(b))
    case .exists(let rows): return related(rows).map { Value($0 > 0) } ?? .null
    case .countRows(let rows): return related(rows).map { .integer(Int64($0)) } ?? .null
    case .aggregate, .written: return .null
    case .joined(let first, let second):
      let (a, b) = (value(first), value(second))
      if a == .null || b == .null { return .null }
      let bytes = a.bytes + b.bytes
      return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .malformedText(Data(bytes))
    case .decimalOrder(let operand): return DecimalOrder.key(of: value(operand))
    case .lowercased(let operand):
      switch value(operand) {
      case .null: return .null
      case .text(let text): return .text(ASCIICaseFolding.folded(text))
      case .malformedText(let bytes): return .malformedText(Data(ASCIICaseFolding.folded(bytes)))
      case let other: return .text(String(decoding: ASCIICaseFolding.folded(other.bytes), as: UTF8.self))
      }
    }
  }

  /// This as a condition: 0, 1 or NULL. A column is true if it is 1 and false if it is anything else.
  private func truth(
    _ column: (ColumnPath) -> Value, _ related: (RelatedRows) -> Int?, _ computed: (ComputedValue) -> Value
  ) -> Value {
    if case .column(let path) = self { return Value.test(column(path), 1) { $0 == 0 } }
    switch evaluate(column, related: related, computed: computed) {
    case .null: return .null
    case .integer(let number): return Value(number != 0)
    case let value: return Value(value.number.isNonzero)
    }
  }
}

extension RowExpression.Comparison {
  func holds(_ a: Value, _ b: Value) -> Value {
    switch self {
    case .equal: Value(a.compare(to: b) == 0)
    case .unequal: Value(a.compare(to: b) != 0)
    case .equalOrAbsent: Value.test(a, b) { $0 == 0 }
    case .unequalOrAbsent: Value.test(a, b) { $0 != 0 }
    case .less: Value.test(a, b) { $0 < 0 }
    case .lessOrEqual: Value.test(a, b) { $0 <= 0 }
    case .greater: Value.test(a, b) { $0 > 0 }
    case .greaterOrEqual: Value.test(a, b) { $0 >= 0 }
    }
  }
}

extension RowExpression.TextTest {
  /// A literal prefix is tested as a range, as in its SQL, so that the two also agree for text that is not UTF-8.
  fileprivate func holds(_ subject: Value, _ part: RowExpression) -> (Value) -> Value {
    { value in
      if subject == .null || value == .null { return .null }
      switch self {
      case .contains: return Value(ByteSearch.contains(subject.bytes, value.bytes))
      case .containsFolded:
        return Value(ByteSearch.contains(ASCIICaseFolding.folded(subject.bytes), ASCIICaseFolding.folded(value.bytes)))
      case .startsWith:
        if case .literal(.text(let prefix)) = part {
          let range = PrefixRange(prefix)
          if subject.compare(to: .text(prefix)) < 0 { return .integer(0) }
          return Value(range.upper.map { subject.compare(to: .text($0)) < 0 } ?? true)
        }
        return Value(subject.bytes.starts(with: value.bytes))
      case .endsWith:
        if value.bytes.isEmpty { return Value(subject.compare(to: .text("")) >= 0) }
        return Value(subject.bytes.suffix(value.bytes.count).elementsEqual(value.bytes))
      }
    }
  }
}

/// The texts with a prefix as a range of text, for which an index can be used.
struct PrefixRange {
  /// The least text above all of them; nil if there is none.
  let upper: String?

  init(_ prefix: String) {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // The next scalar: surrogates are not scalars, and after the last scalar the previous position is incremented.
      if let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) {
        scalars.append(next)
        break
      }
    }
    if scalars.isEmpty {
      upper = nil
    } else {
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      upper = String(text)
    }
  }
}

extension RowExpression.Arithmetic {
  func apply(_ a: Value, _ b: Value) -> Value {
    if a == .null || b == .null { return .null }
    let (x, y) = (a.number, b.number)
    if case .integer(let i) = x, case .integer(let j) = y {
      switch self {
      case .add: if case (let sum, false) = i.addingReportingOverflow(j) { return .integer(sum) }
      case .subtract:
        if case (let difference, false) = i.subtractingReportingOverflow(j) { return .integer(difference) }
      case .multiply: if case (let product, false) = i.multipliedReportingOverflow(by: j) { return .integer(product) }
      case .divide:
        if j == 0 { return .null }
        if case (let quotient, false) = i.dividedReportingOverflow(by: j) { return .integer(quotient) }
      case .remainder: return j == 0 ? .null : .integer(j == -1 ? 0 : i % j)
      }
    }
    let (r, s) = (x.real, y.real)
    let result: Double
    switch self {
    case .add: result = r + s
    case .subtract: result = r - s
    case .multiply: result = r * s
    case .divide:
      if s == 0 { return .null }
      result = r / s
    case .remainder:
      let (i, j) = (x.whole, y.whole)
      if j == 0 { return .null }
      result = Double(j == -1 ? 0 : i % j)
    }
    return result.isNaN ? .null : .real(result)
  }
}

extension Value {
  fileprivate init(_ truth: Bool) { self = .integer(truth ? 1 : 0) }

  /// A comparison that is NULL if a side is.
  fileprivate static func test(_ a: Value, _ b: Value, _ holds: (Int) -> Bool) -> Value {
    a == .null || b == .null ? .null : Value(holds(a.compare(to: b)))
  }

  /// As text, compared by bytes.
  fileprivate var bytes: [UInt8] {
    switch self {
    case .null: []
    case .text(let text): Array(text.utf8)
    case .blob(let data), .malformedText(let data): Array(data)
    case .integer(let number): Array("\(number)".utf8)
    case .real(let number): Array("\(number)".utf8)
    }
  }

  /// SQLite's `length`.
  fileprivate var count: Value {
    switch self {
    case .null: return .null
    case .blob(let data): return .integer(Int64(data.count))
    default:
      let bytes = bytes.prefix { $0 != 0 }
      var count: Int64 = 0
      var place = 0
      while place < bytes.count {
        let byte = bytes[place]
        place += 1
        if byte >= 0xC0 { while place < bytes.count, bytes[place] & 0xC0 == 0x80 { place += 1 } }
        count += 1
      }
      return .integer(count)
    }
  }

  fileprivate enum Number {
    case integer(Int64)
    case real(Double)

    var isNonzero: Bool { real != 0 }
    var real: Double {
      switch self {
      case .integer(let number): Double(number)
      case .real(let number): number
      }
    }
    /// Truncated toward zero, and clamped to the range.
    var whole: Int64 {
      switch self {
      case .integer(let number): number
      case .real(let number): number >= 0x1p63 ? .max : number < -0x1p63 ? .min : Int64(number)
      }
    }
  }

  /// As a number; for text, the leading digits.
  fileprivate var number: Number {
    switch self {
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .null: return .integer(0)
    case .text, .malformedText, .blob:
      let start = bytes.drop { $0 == 32 || (9...13).contains($0) }
      let digits = start.prefix { (48...57).contains($0) || $0 == 43 || $0 == 45 }
      if let whole = Int64(String(decoding: digits, as: UTF8.self)),
        !start.dropFirst(digits.count).starts(with: ".".utf8)
      {
        return .integer(whole)
      }
      return .real(strtod(String(decoding: start, as: UTF8.self), nil))
    }
  }
}
