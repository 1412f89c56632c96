extension RowExpression {
  /// A column that has one of a few values in every accepted row.
  package struct Choice: Hashable, Sendable {
    package let path: ColumnPath
    /// Without duplicates; includes NULL if the column may be NULL. If empty, no row is accepted.
    package let values: [Value]

    package init(_ path: ColumnPath, _ values: [Value]) {
      self.path = path
      self.values = values
    }
  }

  /// Longer lists do not count as a choice: routing by that many values costs more than evaluating every change.
  package static let longestChoice = 64

  /// Conditions common to every accepted row: `column == value`, and `column` one of a few. Each column once.
  ///
  /// A row that has none of a choice's values both before and after a change is accepted neither before nor after it:
  /// the change cannot affect the query.
  package var choices: [Choice] {
    switch self {
    case .and(let operands):
      var found: [Choice] = []
      for choice in operands.flatMap(\.choices) {
        guard let place = found.firstIndex(where: { $0.path == choice.path }) else {
          found.append(choice)
          continue
        }
        let both = found[place].values.filter { value in choice.values.contains { $0.compare(to: value) == 0 } }
        found[place] = Choice(choice.path, both)
      }
      return found
    case .or(let operands):
      let all = operands.map(\.choices)
      return (all.first ?? []).compactMap { first in
        var values: [Value] = []
        for choices in all {
          guard let choice = choices.first(where: { $0.path == first.path }) else { return nil }
          for value in choice.values where !values.contains(where: { $0.compare(to: value) == 0 }) {
            values.append(value)
          }
        }
        return values.count <= Self.longestChoice ? Choice(first.path, values) : nil
      }
    case .compare(.equal, .column(let path), .literal(let value)),
      .compare(.equal, .literal(let value), .column(let path)):
      return [Choice(path, [value])]
    case .compare(.equalOrAbsent, .column(let path), .literal(let value)),
      .compare(.equalOrAbsent, .literal(let value), .column(let path)):
      return [Choice(path, value == .null ? [] : [value])]
    case .column(let path): return [Choice(path, [1])]
    case .not(.column(let path)): return [Choice(path, [0])]
    case .isNull(.column(let path)): return [Choice(path, [.null])]
    case .oneOf(.column(let path), let values) where values.count <= Self.longestChoice: return [Choice(path, values)]
    case .coalesce(.column, _): return []  // as a value any number but 0 is true
    case .coalesce(let condition, .literal(0)): return condition.choices
    default: return []
    }
  }
}
