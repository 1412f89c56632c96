import Foundation

// The parts of predicates that are known by their type and their notes. A part that is not here, or calls Swift code, has
// its predicate translated at each fetch.

extension PredicateExpressions.Variable: FormedExpression {
  func note(in form: inout FormReader) { form.note(self) }
}

extension PredicateExpressions.Value: FormedExpression {
  func note(in form: inout FormReader) { form.note(captured: value) }
}

extension PredicateExpressions.NilLiteral: FormedExpression {
  func note(in form: inout FormReader) {}
}

extension PredicateExpressions.KeyPath: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(keyPath)
    form.note(root)
  }
}

// MARK: Logic

extension PredicateExpressions.Conjunction: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(lhs)
    form.note(rhs)
  }
}

extension PredicateExpressions.Disjunction: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(lhs)
    form.note(rhs)
  }
}

extension PredicateExpressions.Negation: FormedExpression {
  func note(in form: inout FormReader) { form.note(wrapped) }
}

extension PredicateExpressions.Conditional: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(test)
    form.note(trueBranch)
    form.note(falseBranch)
  }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(lhs)
    form.note(rhs)
  }
}

extension PredicateExpressions.NotEqual: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(lhs)
    form.note(rhs)
  }
}

extension PredicateExpressions.Comparison: FormedExpression {
  func note(in form: inout FormReader) {
    switch op {
    case .lessThan: form.note(0)
    case .lessThanOrEqual: form.note(1)
    case .greaterThan: form.note(2)
    case .greaterThanOrEqual: form.note(3)
    @unknown default: form.note(4)  // has no SQL
    }
    form.note(lhs)
    form.note(rhs)
  }
}

extension PredicateExpressions._Present: FormedExpression {
  func note(in form: inout FormReader) { form.note(wrapped) }
}

extension PredicateExpressions.Range: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(lower)
    form.note(upper)
  }
}

extension PredicateExpressions.ClosedRange: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(lower)
    form.note(upper)
  }
}

extension PredicateExpressions.RangeExpressionContains: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(range)
    form.note(element)
  }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(wrapped)
    form.note(variable)
    form.note(transform)
  }
}

extension PredicateExpressions.ForcedUnwrap: FormedExpression {
  func note(in form: inout FormReader) { form.note(inner) }
}

extension PredicateExpressions.NilCoalesce: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(lhs)
    form.note(rhs)
  }
}

// MARK: Text and related rows

extension PredicateExpressions.CollectionContainsCollection: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(base)
    form.note(other)
  }
}

extension PredicateExpressions._StringHasSuffix: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(base)
    form.note(suffix)
  }
}

extension PredicateExpressions._StringLocalizedStandardContains: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(root)
    form.note(other)
  }
}

extension PredicateExpressions.SequenceContainsWhere: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(sequence)
    form.note(variable)
    form.note(test)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(sequence)
    form.note(variable)
    form.note(test)
  }
}
