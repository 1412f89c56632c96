import SwiftSyntax

extension PredicateRewriter {
  /// An expression as calls of `PredicateExpressions.build_…`.
  mutating func expression(_ source: ExprSyntax, _ scope: PredicateScope) throws -> String {
    if source.is(NilLiteralExprSyntax.self) { return build("NilLiteral") }
    if let inner = source.parenthesized { return try expression(inner, scope) }
    let isCaptured = !source.mentions(scope)
    // What may trap although its value is not needed is taken apart as far as possible.
    if isCaptured, !source.mayTrap { return build("Arg", source.trimmedDescription) }
    if isCaptured, let part = partOfWhatMayBeMissing(source) { return part }
    if let known = try structure(source, scope) ?? postfix(source, scope) { return known }
    if isCaptured { return build("Arg", source.trimmedDescription) }
    throw PredicateRefusal(source.is(StringLiteralExprSyntax.self) ? .interpolation : .part, at: source)
  }

  /// An expression whose value is true or false, under a name.
  mutating func condition(_ source: ExprSyntax, _ scope: PredicateScope) throws -> String {
    let written = try expression(source, scope)
    return written.contains("(") ? named(written) : written
  }

  /// Operators and choices.
  private mutating func structure(_ source: ExprSyntax, _ scope: PredicateScope) throws -> String? {
    if let infix = source.as(InfixOperatorExprSyntax.self) {
      return try self.infix(infix, scope)
    }
    if let prefix = source.as(PrefixOperatorExprSyntax.self) {
      if prefix.expression.is(IntegerLiteralExprSyntax.self) || prefix.expression.is(FloatLiteralExprSyntax.self) {
        return build("Arg", source.trimmedDescription)
      }
      switch prefix.operator.text {
      case "!": return build("Negation", try condition(prefix.expression, scope))
      case "-": return build("UnaryMinus", try expression(prefix.expression, scope))
      case let name where source.mentions(scope): throw PredicateRefusal(.operator(name), at: source)
      default: return nil
      }
    }
    if let ternary = source.as(TernaryExprSyntax.self) {
      return conditional(
        try condition(ternary.condition, scope), try expression(ternary.thenExpression, scope),
        try expression(ternary.elseExpression, scope))
    }
    if let choice = source.as(IfExprSyntax.self) { return try self.choice(choice, scope) }
    if let choice = source.as(SwitchExprSyntax.self) { return try self.choice(choice, scope) }
    guard source.mentions(scope) else { return nil }
    if let cast = source.as(AsExprSyntax.self) {
      let type = cast.type.trimmedDescription
      let value = try expression(cast.expression, scope)
      switch cast.questionOrExclamationMark?.text {
      case "?": return "Foundation.PredicateExpressions.ConditionalCast<_, \(type)>(\(value))"
      case "!": return "Foundation.PredicateExpressions.ForceCast<_, \(type)>(\(value))"
      default: return value
      }
    }
    if let check = source.as(IsExprSyntax.self) {
      return
        "Foundation.PredicateExpressions.TypeCheck<_, \(check.type.trimmedDescription)>(\(try expression(check.expression, scope)))"
    }
    return nil
  }

  private mutating func infix(_ infix: InfixOperatorExprSyntax, _ scope: PredicateScope) throws -> String? {
    guard let name = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return nil }
    if ["==", "!=", "<", "<=", ">", ">="].contains(name), let letters = try comparisonOfLetters(infix, scope) {
      return letters
    }
    if name == "??", infix.rightOperand.as(ArrayExprSyntax.self)?.elements.isEmpty == true, infix.mentions(scope) {
      return build("OrEmpty", try expression(infix.leftOperand, scope))
    }
    let forms: [String: (String, String, String, String?)] = [
      "==": ("Equal", "lhs", "rhs", nil), "!=": ("NotEqual", "lhs", "rhs", nil),
      "<": ("Comparison", "lhs", "rhs", "lessThan"), "<=": ("Comparison", "lhs", "rhs", "lessThanOrEqual"),
      ">": ("Comparison", "lhs", "rhs", "greaterThan"), ">=": ("Comparison", "lhs", "rhs", "greaterThanOrEqual"),
      "&&": ("Conjunction", "lhs", "rhs", nil), "||": ("Disjunction", "lhs", "rhs", nil),
      "+": ("Sum", "lhs", "rhs", nil), "-": ("Difference", "lhs", "rhs", nil),
      "*": ("Arithmetic", "lhs", "rhs", "multiply"), "/": ("Division", "lhs", "rhs", nil),
      "%": ("Remainder", "lhs", "rhs", nil), "??": ("NilCoalesce", "lhs", "rhs", nil),
      "..<": ("Range", "lower", "upper", nil), "...": ("ClosedRange", "lower", "upper", nil),
    ]
    if let (function, left, right, operation) = forms[name] {
      let isLogic = function == "Conjunction" || function == "Disjunction"
      var a = try isLogic ? condition(infix.leftOperand, scope) : expression(infix.leftOperand, scope)
      var b = try isLogic ? condition(infix.rightOperand, scope) : expression(infix.rightOperand, scope)
      let isEquality = function == "Equal" || function == "NotEqual"
      if isEquality, infix.leftOperand.isNil != infix.rightOperand.isNil {
        let other = infix.rightOperand.isNil ? infix.leftOperand : infix.rightOperand
        // What a call gives may be of any type.
        if function == "NotEqual" || other.is(FunctionCallExprSyntax.self) {
          return named(build(function + "ToNil", infix.rightOperand.isNil ? a : b))
        }
      }
      // What is beside an element of a list or of a text may be a letter.
      if infix.leftOperand.isElement(in: scope), infix.rightOperand.is(StringLiteralExprSyntax.self) {
        b = build("Literal", infix.rightOperand.trimmedDescription, "beside: \(a)")
      } else if infix.rightOperand.isElement(in: scope), infix.leftOperand.is(StringLiteralExprSyntax.self) {
        a = build("Literal", infix.leftOperand.trimmedDescription, "beside: \(b)")
      }
      // What is not written out may be an object, or a value that may not be there.
      if isEquality, infix.leftOperand.mentions(scope), infix.rightOperand.isLookedUp(outside: scope) {
        return named(build(function + "ToValue", "lhs: \(a)", "rhs: \(infix.rightOperand.trimmedDescription)"))
      }
      if isEquality, infix.rightOperand.mentions(scope), infix.leftOperand.isLookedUp(outside: scope) {
        return named(build(function + "ToValue", "lhs: \(b)", "rhs: \(infix.leftOperand.trimmedDescription)"))
      }
      // Not beside what is written out: to look for optionals beside every literal costs the compiler too much.
      let isInRow =
        isEquality && [infix.leftOperand, infix.rightOperand].allSatisfy { $0.mentions(scope) || $0.isTakenApart }
      let operation = operation.map { ["op: .\($0)"] } ?? []
      let isOpen = name == "??" && (infix.rightOperand.mentions(scope) || infix.rightOperand.isLookedUp(outside: scope))
      let own = isInRow ? function + "InRow" : isOpen ? "NilCoalesceWithAny" : function
      // What is captured comes second, as an object may be.
      let isTurned = isInRow && !infix.leftOperand.mentions(scope)
      let sides = isTurned ? ["lhs: \(b)", "rhs: \(a)"] : ["\(left): \(a)", "\(right): \(b)"]
      let written = build(own, sides + operation)
      // What does not look at the row may have its type from what is beside it.
      return isEquality || infix.mentions(scope) ? named(written) : written
    }
    if name == "~=" {
      return build("contains", try expression(infix.leftOperand, scope), try expression(infix.rightOperand, scope))
    }
    if infix.mentions(scope) {
      throw PredicateRefusal(["===", "!=="].contains(name) ? .identity : .operator(name), at: infix)
    }
    return nil
  }

  /// `names[0].count`, `chosen!.name`: a part of a captured value, where only the first step of the way to it may end the
  /// program. The predicate has the part; what it is a part of may be of any type.
  private mutating func partOfWhatMayBeMissing(_ source: ExprSyntax) -> String? {
    guard let step = source.firstStepThatMayTrap else { return nil }
    let own = newName()
    let rest = source.replacing(step, by: own)
    guard !rest.mayTrap else { return nil }
    let closure = " { \(own) in \(rest.trimmedDescription) }"
    if let unwrapped = step.as(ForceUnwrapExprSyntax.self), !unwrapped.expression.mayTrap {
      return build("unwrapped", unwrapped.expression.trimmedDescription) + closure
    }
    guard let call = step.as(SubscriptCallExprSyntax.self), call.arguments.count == 1, let index = call.arguments.first,
      index.label == nil, !call.calledExpression.mayTrap, !index.expression.mayTrap
    else { return nil }
    return build(
      "element", "of: \(call.calledExpression.trimmedDescription)", "at: \(index.expression.trimmedDescription)")
      + closure
  }

  /// Members, calls, look-ups, forced unwraps and optional chains; nil for anything else.
  private mutating func postfix(_ source: ExprSyntax, _ scope: PredicateScope) throws -> String? {
    if let chain = source.firstOptionalLink {
      let own = newName()
      var inner = scope
      inner[own] = own
      let wrapped = try expression(chain.expression, scope)
      let rest = try closure([own]) { rewriter in
        do {
          return try rewriter.expression(source.replacing(chain, by: own), inner)
        } catch let refusal as PredicateRefusal where refusal.node.root.id != source.root.id {
          throw PredicateRefusal(refusal.reason, at: source)  // what was written again has no place in the file
        }
      }
      return build("flatMap", wrapped) + rest
    }
    if let name = source.as(DeclReferenceExprSyntax.self)?.baseName.text {
      return scope[name].map { build("Arg", $0) }
    }
    if let member = source.as(MemberAccessExprSyntax.self), let base = member.base {
      return build(
        "KeyPath", "root: \(try expression(base, scope))", "keyPath: \\.\(member.declName.trimmedDescription)")
    }
    if let unwrapped = source.as(ForceUnwrapExprSyntax.self) {
      return build("ForcedUnwrap", try expression(unwrapped.expression, scope))
    }
    if let call = source.as(SubscriptCallExprSyntax.self) {
      if let path = call.arguments.first, call.arguments.count == 1, path.label?.text == "keyPath" {
        let root = try expression(call.calledExpression, scope)
        return build("Path", "root: \(root)", "keyPath: \(path.expression.trimmedDescription)")
      }
      var arguments = [try expression(call.calledExpression, scope)]
      for argument in call.arguments {
        let label = argument.label.map { "\($0.text): " } ?? ""
        arguments.append(label + (try expression(argument.expression, scope)))
      }
      return build("subscript", arguments.joined(separator: ", "))
    }
    if let call = source.as(FunctionCallExprSyntax.self) { return try self.call(call, scope) }
    return nil
  }
}

extension ExprSyntax {
  /// Whether it is `nil`.
  fileprivate var isNil: Bool { self.is(NilLiteralExprSyntax.self) }

  /// Whether it is a name of the source, or what is found or made from one: `lem`, `self.author`, `shelf?.owner`,
  /// `names.first`, `Genre(rawValue: text)`.
  ///
  /// A value that is given a type, such as `"a" as Character`, counts as one.
  func isLookedUp(outside scope: PredicateScope) -> Bool {
    !mentions(scope) && !mayTrap && (beginsWithName || hasWrittenType)
  }

  /// Whether it is a list that is written out with such names in it: `[lem, author]`.
  func isListOfNames(outside scope: PredicateScope) -> Bool {
    guard let list = self.as(ArrayExprSyntax.self), !mentions(scope), !mayTrap else { return false }
    return list.elements.contains { $0.expression.beginsWithName }
  }

  /// Whether it puts lists of such names together, which cannot end the program: `[lem] + authors`.
  func isListsJoined(outside scope: PredicateScope) -> Bool {
    let sum = parenthesized ?? self
    guard let infix = sum.as(InfixOperatorExprSyntax.self), infix.operator.trimmedDescription == "+",
      !mentions(scope)
    else { return false }
    return [infix.leftOperand, infix.rightOperand].allSatisfy { !$0.mayTrap || $0.isListsJoined(outside: scope) }
  }

  private var hasWrittenType: Bool {
    let value = parenthesized ?? self
    return value.as(AsExprSyntax.self).map { $0.questionOrExclamationMark == nil } ?? false
  }

  /// Whether it is the parameter of a closure in the predicate, or a name that a pattern binds.
  fileprivate func isElement(in scope: PredicateScope) -> Bool {
    self.as(DeclReferenceExprSyntax.self).map { scope[$0.baseName.text] != nil } ?? false
  }

  private var beginsWithName: Bool {
    if self.is(DeclReferenceExprSyntax.self) { return true }
    let base =
      self.as(MemberAccessExprSyntax.self)?.base ?? self.as(FunctionCallExprSyntax.self)?.calledExpression
      ?? self.as(OptionalChainingExprSyntax.self)?.expression ?? self.as(AsExprSyntax.self)?.expression
    return base?.beginsWithName ?? false
  }

  /// What comes before the last step of a chain of members, calls and look-ups.
  private var chainBase: ExprSyntax? {
    if let member = self.as(MemberAccessExprSyntax.self) { return member.base }
    if let call = self.as(FunctionCallExprSyntax.self) { return call.calledExpression }
    if let call = self.as(SubscriptCallExprSyntax.self) { return call.calledExpression }
    if let unwrapped = self.as(ForceUnwrapExprSyntax.self) { return unwrapped.expression }
    return self.as(OptionalChainingExprSyntax.self)?.expression
  }

  /// The step of a chain of members and calls that is the first to unwrap by force or to look up by index.
  fileprivate var firstStepThatMayTrap: ExprSyntax? {
    if let earlier = chainBase?.firstStepThatMayTrap { return earlier }
    return self.is(SubscriptCallExprSyntax.self) || self.is(ForceUnwrapExprSyntax.self) ? self : nil
  }

  /// Whether it is looked up in a way that may trap, such as `names[key]`.
  var isTakenApart: Bool { mayTrap && !self.is(InfixOperatorExprSyntax.self) }

  /// What is inside parentheses that only group.
  fileprivate var parenthesized: ExprSyntax? {
    guard let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first,
      only.label == nil
    else { return nil }
    return only.expression
  }

  /// The first `?` of the optional chain that this is the end of.
  var firstOptionalLink: OptionalChainingExprSyntax? {
    if let earlier = chainBase?.firstOptionalLink { return earlier }
    return self.as(OptionalChainingExprSyntax.self)
  }
}
