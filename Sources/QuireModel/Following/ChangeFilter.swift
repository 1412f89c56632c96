package import QuireRow

/// Which changes of one table can matter to a follower: what commits are routed by.
///
/// May take in more than matters, and must not take in less: what is routed in vain costs the follower a look, what
/// is not routed is missed.
package struct ChangeFilter: Hashable {
  package let table: String
  /// The columns that decide: an update that leaves all of them as they were does not matter. Rows that come or go
  /// always do. Nil is every column.
  package let columns: Set<String>?
  /// Only rows matter that have, before or after, one of its values in each of these columns. None is every row.
  let choices: [Choice]

  struct Choice: Hashable {
    let column: String
    let values: [Value]
  }

  /// The columns of its choices.
  package var equalities: [String] { choices.map(\.column) }

  package init(_ table: String, columns: Set<String>? = nil) {
    self.init(table, columns: columns, choices: [])
  }

  /// - Parameter choices: Of columns of this table.
  package init(_ table: String, columns: Set<String>?, choices: [RowExpression.Choice]) {
    self.table = table
    self.columns = columns
    var kept: [Choice] = []
    var combinations = 1
    for choice in choices.sorted(by: { $0.values.count < $1.values.count }) {
      let values = Set(choice.values.map(\.equalityKey))
      if combinations * values.count > RowExpression.longestChoice { continue }
      combinations *= values.count
      kept.append(Choice(column: choice.path.column, values: Array(values)))
    }
    self.choices = kept.sorted { $0.column < $1.column }
  }

  /// One for each combination of the values; one without values where there is no choice.
  var keys: [RouteKey] {
    choices.reduce([RouteKey()]) { keys, choice in
      keys.flatMap { key in choice.values.map { key.appending($0) } }
    }
  }
}

/// Values of the columns a route goes by, in the order of their names. One value takes no memory of its own.
struct RouteKey: Hashable {
  private var first: Value?
  private var rest: [Value] = []

  /// - Parameter value: As ``SQLValue/equalityKey`` gives it.
  mutating func append(_ value: Value) {
    if first == nil { first = value } else { rest.append(value) }
  }

  func appending(_ value: Value) -> RouteKey {
    var key = self
    key.append(value)
    return key
  }
}
