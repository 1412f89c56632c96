import SwiftSyntax

extension PredicateRewriter {
  /// A `switch` over a value of the row as choices, one for each case; the compiler has seen that the last is all that is
  /// left.
  mutating func choice(_ source: SwitchExprSyntax, _ scope: PredicateScope) throws -> String {
    let subject = named(try expression(source.subject, scope))
    var branches: [(test: String?, body: String)] = []
    for element in source.cases {
      guard case .switchCase(let one) = element else { throw PredicateRefusal(.statement, at: element) }
      let body = try branch(one.statements[...], scope, in: one)
      branches.append((try test(one, subject, scope), body))
    }
    guard var written = branches.popLast()?.body else { throw PredicateRefusal(.withoutElse, at: source) }
    for (test, body) in branches.reversed() {
      guard let test else { throw PredicateRefusal(.condition, at: source) }
      written = build("Conditional", named(test), body, written)
    }
    return written
  }

  /// Whether the subject is one of a case's patterns; nil for what matches all.
  private mutating func test(_ one: SwitchCaseSyntax, _ subject: String, _ scope: PredicateScope) throws -> String? {
    guard case .case(let label) = one.label else { return nil }
    var tests: [String] = []
    for item in label.caseItems {
      if item.pattern.is(WildcardPatternSyntax.self), item.whereClause == nil { return nil }
      guard let pattern = item.pattern.as(ExpressionPatternSyntax.self)?.expression, item.whereClause == nil else {
        throw PredicateRefusal(.condition, at: item)
      }
      tests.append(try matches(pattern, subject, scope))
    }
    return tests.dropFirst().reduce(tests.first) { named(build("Disjunction", "lhs: \($0 ?? "")", "rhs: \($1)")) }
  }

  private mutating func matches(_ pattern: ExprSyntax, _ subject: String, _ scope: PredicateScope) throws -> String {
    let written = try expression(pattern, scope)
    if pattern.isRange { return build("contains", written, subject) }
    if pattern.isUnwrapping { throw PredicateRefusal(.condition, at: pattern) }
    return build("Equal", "lhs: \(subject)", "rhs: \(written)")
  }
}

extension ExprSyntax {
  fileprivate var isRange: Bool {
    let name = self.as(InfixOperatorExprSyntax.self)?.operator.as(BinaryOperatorExprSyntax.self)?.operator.text
    return name == "..." || name == "..<"
  }

  /// `.some(…)`, `"a"?`: what is inside is no value to be compared.
  fileprivate var isUnwrapping: Bool {
    self.is(OptionalChainingExprSyntax.self) || self.is(FunctionCallExprSyntax.self) || self.is(TupleExprSyntax.self)
  }
}
