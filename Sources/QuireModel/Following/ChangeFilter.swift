package import QuireRow

/// Selects the changes of one table that can affect a follower; commits are routed by it.
///
/// May select too much but never too little: an extra change costs the follower one check, a missing one is lost.
package struct ChangeFilter: Hashable {
  package let table: String
  /// The deciding columns: an update that changes none of them has no effect. Inserted and deleted rows always have.
  /// Nil stands for every column.
  package let columns: Set<String>?
  /// Only rows that have, before or after the change, one of these values in each of these columns. Empty means every
  /// row.
  let choices: [Choice]

  struct Choice: Hashable {
    let column: String
    let values: [Value]
  }

  /// The columns of `choices`.
  package var equalities: [String] { choices.map(\.column) }

  package init(_ table: String, columns: Set<String>? = nil) {
    self.init(table, columns: columns, choices: [])
  }

  /// - Parameter choices: For columns of this table.
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

  /// One key for each combination of values; without choices, one key without values.
  var keys: [RouteKey] {
    choices.reduce([RouteKey()]) { keys, choice in
      keys.flatMap { key in choice.values.map { key.appending($0) } }
    }
  }
}

/// Values of the columns that a route is keyed by, in the order of the columns' names. One value needs no allocation.
struct RouteKey: Hashable {
  private var first: Value?
  private var rest: [Value] = []

  /// - Parameter value: As returned by ``SQLValue/equalityKey``.
  mutating func append(_ value: Value) {
    if first == nil { first = value } else { rest.append(value) }
  }

  func appending(_ value: Value) -> RouteKey {
    var key = self
    key.append(value)
    return key
  }
}
