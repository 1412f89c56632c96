import SwiftSyntax

extension PredicateRewriter {
  /// What patterns are matched with: a value of the row under the text that stands for it, or several in a tuple.
  indirect enum Subject {
    case value(String)
    case tuple([Subject])
  }

  /// A `switch` over values of the row as choices, one for each case; the compiler has seen that the last is all that is
  /// left.
  mutating func choice(_ source: SwitchExprSyntax, _ scope: PredicateScope) throws -> String {
    let subject = try subject(source.subject, scope)
    var branches: [(test: String?, body: String)] = []
    for element in source.cases {
      guard case .switchCase(let one) = element else { throw PredicateRefusal(.statement, at: element) }
      var inner = scope
      let test = try test(one, subject, &inner)
      branches.append((test, try branch(one.statements[...], inner, in: one)))
    }
    guard var written = branches.popLast()?.body else { throw PredicateRefusal(.withoutElse, at: source) }
    for (test, body) in branches.reversed() {
      guard let test else { throw PredicateRefusal(.condition, at: source) }
      written = conditional(named(test), body, written)
    }
    return written
  }

  mutating func subject(_ source: ExprSyntax, _ scope: PredicateScope) throws -> Subject {
    guard let tuple = source.as(TupleExprSyntax.self), tuple.elements.count > 1 else {
      return .value(named(try expression(source, scope)))
    }
    var parts: [Subject] = []
    for element in tuple.elements { parts.append(try subject(element.expression, scope)) }
    return .tuple(parts)
  }

  /// Whether the subject is one of a case's patterns; nil for what matches all. Their names are in `scope` afterwards.
  private mutating func test(_ one: SwitchCaseSyntax, _ subject: Subject, _ scope: inout PredicateScope) throws
    -> String?
  {
    guard case .case(let label) = one.label else { return nil }
    var tests: [String] = []
    for item in label.caseItems {
      var inner = scope
      var test = try matches(item.pattern, subject, &inner)
      if let condition = item.whereClause?.condition {
        test = conjunction(test, try self.condition(condition, inner))
      }
      if inner.count > scope.count, label.caseItems.count > 1 { throw PredicateRefusal(.condition, at: item) }
      scope = inner
      guard let test else { return nil }
      tests.append(test)
    }
    return tests.dropFirst().reduce(tests.first) { build("Disjunction", "lhs: \($0 ?? "")", "rhs: \($1)") }
  }

  // MARK: Patterns

  /// Whether the subject matches; nil if it always does. The names that the pattern binds are in `scope` afterwards.
  mutating func matches(_ pattern: PatternSyntax, _ subject: Subject, _ scope: inout PredicateScope) throws -> String? {
    if pattern.is(WildcardPatternSyntax.self) { return nil }
    if let binding = pattern.as(ValueBindingPatternSyntax.self) { return try matches(binding.pattern, subject, &scope) }
    if let expression = pattern.as(ExpressionPatternSyntax.self)?.expression {
      return try matches(expression, subject, &scope)
    }
    if let name = pattern.as(IdentifierPatternSyntax.self)?.identifier.text, case .value(let written) = subject {
      scope[name] = written.contains("(") ? named(written) : written
      return nil
    }
    throw PredicateRefusal(.condition, at: pattern)
  }

  private mutating func matches(_ pattern: ExprSyntax, _ subject: Subject, _ scope: inout PredicateScope) throws
    -> String?
  {
    if pattern.is(DiscardAssignmentExprSyntax.self) { return nil }
    if let inner = pattern.as(PatternExprSyntax.self) { return try matches(inner.pattern, subject, &scope) }
    if let tuple = pattern.as(TupleExprSyntax.self) {
      return try matches(tuple.elements.map(\.expression), tuple, subject, &scope)
    }
    guard case .value(let value) = subject else { throw PredicateRefusal(.condition, at: pattern) }
    if let inner = pattern.unwrappedPattern {
      let rest = try matches(inner, .value(build("ForcedUnwrap", value)), &scope)
      return conjunction(build("NotEqualToNil", value), rest)
    }
    if pattern.is(FunctionCallExprSyntax.self) { throw PredicateRefusal(.condition, at: pattern) }
    let written = try expression(pattern, scope)
    return pattern.isRange ? build("contains", written, value) : build("Equal", "lhs: \(value)", "rhs: \(written)")
  }

  private mutating func matches(
    _ patterns: [ExprSyntax], _ whole: TupleExprSyntax, _ subject: Subject, _ scope: inout PredicateScope
  ) throws -> String? {
    if patterns.count == 1 { return try matches(patterns[0], subject, &scope) }
    guard case .tuple(let parts) = subject, parts.count == patterns.count else {
      throw PredicateRefusal(.condition, at: whole)
    }
    var test: String?
    for (pattern, part) in zip(patterns, parts) { test = conjunction(test, try matches(pattern, part, &scope)) }
    return test
  }

  /// Both, where nil stands for what always holds.
  private func conjunction(_ first: String?, _ second: String?) -> String? {
    guard let first, let second else { return first ?? second }
    return build("Conjunction", "lhs: \(first)", "rhs: \(second)")
  }
}

extension ExprSyntax {
  fileprivate var isRange: Bool {
    let name = self.as(InfixOperatorExprSyntax.self)?.operator.as(BinaryOperatorExprSyntax.self)?.operator.text
    return name == "..." || name == "..<"
  }

  /// What is matched with the value of an optional: of `.some(…)` and `"a"?`.
  fileprivate var unwrappedPattern: ExprSyntax? {
    if let chain = self.as(OptionalChainingExprSyntax.self) { return chain.expression }
    guard let call = self.as(FunctionCallExprSyntax.self), call.arguments.count == 1, call.trailingClosure == nil,
      let member = call.calledExpression.as(MemberAccessExprSyntax.self), member.base == nil,
      member.declName.baseName.text == "some"
    else { return nil }
    return call.arguments.first?.expression
  }
}
