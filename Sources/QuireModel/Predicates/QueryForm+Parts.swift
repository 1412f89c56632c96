import Foundation

// The parts of predicates that are known by their type and their notes. A part that is not here, or calls Swift code, has
// its predicate translated at each fetch. A part conforms if all its own parts do, so that one look at the type of a whole
// expression tells.

extension PredicateExpressions.Variable: FormedExpression {
  func note(in form: inout FormReader) { form.note(self) }
}

extension PredicateExpressions.Value: FormedExpression {
  func note(in form: inout FormReader) { form.note(captured: value) }
}

extension PredicateExpressions.NilLiteral: FormedExpression {
  func note(in form: inout FormReader) {}
}

extension PredicateExpressions.KeyPath: FormedExpression where Root: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(keyPath)
    form.note(root)
  }
}

// MARK: Logic

extension PredicateExpressions.Conjunction: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) { form.note(lhs, rhs) }
}

extension PredicateExpressions.Disjunction: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) { form.note(lhs, rhs) }
}

extension PredicateExpressions.Negation: FormedExpression where Wrapped: FormedExpression {
  func note(in form: inout FormReader) { form.note(wrapped) }
}

extension PredicateExpressions.Conditional: FormedExpression
where Test: FormedExpression, If: FormedExpression, Else: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(test)
    form.note(trueBranch, falseBranch)
  }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) { form.note(lhs, rhs) }
}

extension PredicateExpressions.NotEqual: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) { form.note(lhs, rhs) }
}

extension PredicateExpressions.Comparison: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) {
    switch op {
    case .lessThan: form.note(0)
    case .lessThanOrEqual: form.note(1)
    case .greaterThan: form.note(2)
    case .greaterThanOrEqual: form.note(3)
    @unknown default: form.note(4)  // has no SQL
    }
    form.note(lhs, rhs)
  }
}

extension PredicateExpressions._Present: FormedExpression where Wrapped: FormedExpression {
  func note(in form: inout FormReader) { form.note(wrapped) }
}

extension PredicateExpressions.Range: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) { form.note(lower, upper) }
}

extension PredicateExpressions.ClosedRange: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) { form.note(lower, upper) }
}

extension PredicateExpressions.RangeExpressionContains: FormedExpression
where RangeExpression: FormedExpression, Element: FormedExpression {
  func note(in form: inout FormReader) { form.note(range, element) }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(variable)
    form.note(wrapped, transform)
  }
}

extension PredicateExpressions.ForcedUnwrap: FormedExpression where Inner: FormedExpression {
  func note(in form: inout FormReader) { form.note(inner) }
}

extension PredicateExpressions.NilCoalesce: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) { form.note(lhs, rhs) }
}

extension PredicateExpressions._OrEmpty: FormedExpression where Wrapped: FormedExpression {
  func note(in form: inout FormReader) { form.note(wrapped) }
}

// MARK: Text and related rows

extension PredicateExpressions.CollectionContainsCollection: FormedExpression
where Base: FormedExpression, Other: FormedExpression {
  func note(in form: inout FormReader) { form.note(base, other) }
}

extension PredicateExpressions._StringHasSuffix: FormedExpression
where Base: FormedExpression, Suffix: FormedExpression {
  func note(in form: inout FormReader) { form.note(base, suffix) }
}

extension PredicateExpressions._StringLocalizedStandardContains: FormedExpression
where Root: FormedExpression, Other: FormedExpression {
  func note(in form: inout FormReader) { form.note(root, other) }
}

extension PredicateExpressions.SequenceContainsWhere: FormedExpression
where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(variable)
    form.note(sequence, test)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: FormedExpression where LHS: FormedExpression, RHS: FormedExpression {
  func note(in form: inout FormReader) {
    form.note(variable)
    form.note(sequence, test)
  }
}
