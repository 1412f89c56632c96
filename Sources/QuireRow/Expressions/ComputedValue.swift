/// A value that Swift computes from a row's object, because SQL cannot.
package struct ComputedValue: Hashable, Sendable {
  /// Its number among its query's computed values.
  package var number: Int
  /// Its Swift source, for messages.
  package var words: String

  package init(_ number: Int, words: String) {
    self.number = number
    self.words = words
  }
}

extension RowExpression {
  /// Whether an object is needed to evaluate it.
  package var needsObject: Bool {
    if case .computed = self { true } else { operands.contains(where: \.needsObject) }
  }

  /// A condition without computed values that is true for every row this condition accepts: SQL can evaluate it first.
  ///
  /// The narrowest that the form of the condition allows; `true` if there is none.
  package var necessary: RowExpression {
    if !needsObject { return self }
    switch self {
    case .and(let operands): return .all(operands.map(\.necessary))
    case .or(let operands): return .any(operands.map(\.necessary))
    case .not(.and(let operands)): return .any(operands.map { $0.negated.necessary })
    case .not(.or(let operands)): return .all(operands.map { $0.negated.necessary })
    case .coalesce(let condition, .literal(0)): return condition.necessary
    case .conditional(let test, let then, let otherwise):
      return .any([.all([test.necessary, then.chosen.necessary]), otherwise.chosen.necessary])
    default: return .true
    }
  }

  // A column alone is true if it is 1; negated, or chosen as a value, so is a value that is neither 0 nor 1.

  private var negated: RowExpression {
    if case .column = self { .compare(.unequalOrAbsent, self, .literal(1)) } else { !self }
  }

  private var chosen: RowExpression {
    if case .column = self { .compare(.unequalOrAbsent, self, .literal(0)) } else { self }
  }

  /// The rest of this condition, to be evaluated on rows that meet the ``necessary`` one.
  package var beyondNecessary: RowExpression {
    guard case .and(let operands) = self else { return self }
    return .all(operands.filter(\.needsObject))
  }
}
