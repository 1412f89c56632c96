/// One aggregate of a query's rows: a function of a column.
package struct Aggregate: Hashable, Sendable {
  package enum Function: Hashable, Sendable {
    case count, sum, average, minimum, maximum
    /// Of decimals, which are text in their column.
    case decimalSum, decimalAverage, leastDecimal, greatestDecimal

    /// The same of decimals.
    package var ofDecimals: Function {
      switch self {
      case .sum: .decimalSum
      case .average: .decimalAverage
      case .minimum: .leastDecimal
      case .maximum: .greatestDecimal
      default: self
      }
    }

    fileprivate var isLeast: Bool { self == .minimum || self == .leastDecimal }
    fileprivate var isExtremeDecimal: Bool { self == .leastDecimal || self == .greatestDecimal }
  }

  package var function: Function
  /// Nil counts rows; otherwise values are aggregated, and NULL is always skipped.
  package var column: ColumnPath?

  package init(_ function: Function, of column: ColumnPath? = nil) {
    self.function = function
    self.column = column
  }

  package var isExtreme: Bool { function.isLeast || function == .maximum || function == .greatestDecimal }
}

/// Why an aggregate has no value.
package enum AggregateError: Error, Hashable, Sendable {
  /// A sum of integers is beyond `Int64`; SQLite says "integer overflow".
  case overflow(column: String)
  /// A sum of decimals has more digits than a `Decimal`.
  case tooManyDigits(column: String)
  /// A column to be summed contains a value that is not a number.
  case notANumber(column: String)
}

extension AggregateError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .overflow(let column):
      "the sum of \(column) is beyond Int64: it has no value until fewer or smaller ones are left"
    case .tooManyDigits(let column):
      "the sum of \(column) has more than the 38 digits of a Decimal: it has no value until fewer are left"
    case .notANumber(let column): "\(column) contains a value that is not a number, and cannot be summed"
    }
  }
}

extension _Quire {
  /// The state of an aggregate, to which rows can be added and from which they can be removed.
  ///
  /// A count stores a number, a sum or average an ``ExactSum``, a minimum or maximum its ``Extremes``: when these are
  /// used up, ``needsExtreme`` requests the next ones, which an index finds.
  public struct AggregateState: Sendable {
    package let aggregate: Aggregate
    /// The number of values that are not NULL, or of rows if rows are counted.
    package private(set) var count = 0
    private var sum = ExactSum()
    private var decimals = DecimalSum()
    private var strangers = 0
    private var extremes: Extremes

    package init(_ aggregate: Aggregate) {
      self.aggregate = aggregate
      extremes = Extremes(isLeast: aggregate.function.isLeast)
    }

    /// The state for this many rows, if rows are counted.
    package init(_ aggregate: Aggregate, count: Int) {
      self.init(aggregate)
      self.count = count
    }

    package mutating func add(_ value: Value) {
      guard aggregate.column == nil || value != .null else { return }
      count += 1
      switch aggregate.function {
      case .count: break
      case .sum, .average:
        switch value {
        case .integer(let number): sum.add(number)
        case .real(let number): sum.add(number)
        default: strangers += 1
        }
      case .decimalSum, .decimalAverage: if !decimals.add(value) { strangers += 1 }
      case .minimum, .maximum: extremes.add(value, isOnly: count == 1)
      case .leastDecimal, .greatestDecimal: extremes.add(DecimalOrder.key(of: value), isOnly: count == 1)
      }
    }

    package mutating func remove(_ value: Value) {
      guard aggregate.column == nil || value != .null else { return }
      count -= 1
      switch aggregate.function {
      case .count: break
      case .sum, .average:
        switch value {
        case .integer(let number): sum.subtract(number)
        case .real(let number): sum.subtract(number)
        default: strangers -= 1
        }
      case .decimalSum, .decimalAverage: if !decimals.subtract(value) { strangers -= 1 }
      case .minimum, .maximum: extremes.remove(value, wasOnly: count == 0)
      case .leastDecimal, .greatestDecimal: extremes.remove(DecimalOrder.key(of: value), wasOnly: count == 0)
      }
    }

    /// Whether the extreme value was removed and the next is not known: ``setExtremes(_:)`` must be called.
    package var needsExtreme: Bool { extremes.isNeeded }

    /// The number of extreme values to request.
    package var extremesWanted: Int { extremes.wanted }

    /// Sets the extreme values that were requested, from the extreme one on; fewer if there are no more.
    package mutating func setExtremes(_ values: [Value]) {
      extremes.set(aggregate.function.isExtremeDecimal ? values.map(DecimalOrder.key) : values)
    }

    // MARK: Results

    /// The least or greatest value; NULL if there is none.
    package var extreme: Value {
      aggregate.function.isExtremeDecimal ? DecimalOrder.decimal(of: extremes.value) : extremes.value
    }

    /// The sum of integers; 0 if there are none.
    package func integerSum() throws(AggregateError) -> Int64 {
      try checkNumbers()
      guard let total = sum.integer else { throw AggregateError.overflow(column: name) }
      return total
    }

    /// The sum of reals; 0 if there are none.
    package func realSum() throws(AggregateError) -> Double {
      try checkNumbers()
      return sum.real
    }

    /// The sum of decimals; 0 if there are none.
    package func decimalSum() throws(AggregateError) -> String {
      try checkNumbers()
      return decimals.text
    }

    /// Nil if there are no values.
    package func average() throws(AggregateError) -> Double? {
      try checkNumbers()
      if count == 0 { return nil }
      return aggregate.function == .decimalAverage ? decimals.divided(by: count) : sum.divided(by: count)
    }

    private var name: String { aggregate.column?.description ?? "" }
    private func checkNumbers() throws(AggregateError) {
      if strangers > 0 { throw AggregateError.notANumber(column: name) }
    }
  }
}

extension SelectQuery {
  /// The least or greatest values of an aggregate's column, one for each row, from the extreme one on; no row if all values
  /// are NULL. Nil if it is no extreme.
  package func extremes(of aggregate: Aggregate, limit: Int) -> SelectQuery? {
    guard let column = aggregate.column, aggregate.isExtreme else { return nil }
    var query = self
    let isThere = RowExpression.not(.isNull(.column(column)))
    query.filter = query.filter.map { .and([$0, isThere]) } ?? isThere
    query.columns = [column]
    query.order = [
      OrderTerm(
        aggregate.function.isExtremeDecimal ? .decimalOrder(.column(column)) : .column(column),
        ascending: aggregate.function.isLeast)
    ]
    query.limit = limit
    query.offset = 0
    return query
  }
}

package typealias AggregateState = _Quire.AggregateState
