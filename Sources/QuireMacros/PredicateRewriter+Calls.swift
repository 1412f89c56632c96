import SwiftSyntax

extension PredicateRewriter {
  /// A call that looks at the row: one whose meaning is known, or one that Swift is asked for each row.
  mutating func call(_ call: FunctionCallExprSyntax, _ scope: PredicateScope) throws -> String? {
    if let member = call.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base,
      let known = try self.call(known: member.declName.baseName.text, of: base, call, scope)
    {
      return known
    }
    return try computed(call, scope)
  }

  private mutating func call(
    known name: String, of base: ExprSyntax, _ call: FunctionCallExprSyntax, _ scope: PredicateScope
  ) throws -> String? {
    var arguments = call.arguments.map { (label: $0.label?.text, value: $0.expression) }
    if let closure = call.trailingClosure {
      arguments.append((name == "contains" ? "where" : nil, ExprSyntax(closure)))
    }
    let labels = arguments.map { $0.label ?? "_" }.joined(separator: ",")
    switch (name, labels) {
    case ("contains", "_"):
      let value = arguments[0].value
      if base.isLookedUp(outside: scope) || base.isListOfNames(outside: scope) || base.isListsJoined(outside: scope),
        value.mentions(scope)
      {
        return build("isIn", base.trimmedDescription, try expression(value, scope))
      }
      if let list = base.as(ArrayExprSyntax.self), value.mentions(scope), !list.mentions(scope), list.mayTrap {
        return try equalsOne(of: list, value, scope)
      }
      if value.isLookedUp(outside: scope), base.mentions(scope) {
        return build("containsValue", try expression(base, scope), value.trimmedDescription)
      }
      if value.isByNameAlone, base.mentions(scope) {
        return build("containsNamed", try expression(base, scope), value.trimmedDescription)
      }
      // A part of a captured value may be an object, or a list of objects.
      if value.mentions(scope) != base.mentions(scope) {
        if base.mentions(scope), value.isTakenApart { return try function("containsPart", base, value, scope) }
        if value.mentions(scope), base.isTakenApart { return try function("isInPart", base, value, scope) }
      }
      return try function("contains", base, value, scope)
    case ("hasPrefix", "_"), ("starts", "with"):
      return build("starts", try expression(base, scope), "with: \(try expression(arguments[0].value, scope))")
    case ("hasSuffix", "_"): return try function("hasSuffix", base, arguments[0].value, scope)
    case ("localizedStandardContains", "_"), ("localizedCaseInsensitiveContains", "_"):
      return try function("localizedStandardContains", base, arguments[0].value, scope)
    case ("caseInsensitiveCompare", "_"), ("localizedCaseInsensitiveCompare", "_"):
      return try function("caseInsensitiveCompare", base, arguments[0].value, scope)
    case ("min", ""), ("max", ""): return build(name, try expression(base, scope))
    case ("contains", "where"), ("allSatisfy", "_"), ("filter", "_"), ("flatMap", "_"), ("map", "_"):
      guard let closure = arguments[0].value.as(ClosureExprSyntax.self), !closure.takesSeveral else { return nil }
      let value = try expression(base, scope)
      return build(name, value) + " " + (try self.closure(closure, scope))
    case ("evaluate", "_"):
      return build("evaluate", base.trimmedDescription, try expression(arguments[0].value, scope))
    default: return nil
    }
  }

  private mutating func function(_ name: String, _ base: ExprSyntax, _ argument: ExprSyntax, _ scope: PredicateScope)
    throws -> String
  {
    build(name, try expression(base, scope), try expression(argument, scope))
  }

  /// `[lem, books[0].author!].contains($0.author)`: a comparison with each element, so that one that may be missing is taken
  /// apart. An object is captured by each as its identifier.
  private mutating func equalsOne(of list: ArrayExprSyntax, _ value: ExprSyntax, _ scope: PredicateScope) throws
    -> String
  {
    var found: String?
    for element in list.elements {
      let equals = BinaryOperatorExprSyntax(
        leadingTrivia: .space, operator: .binaryOperator("=="), trailingTrivia: .space)
      let comparison = InfixOperatorExprSyntax(
        leftOperand: value.trimmed, operator: equals, rightOperand: element.expression.trimmed)
      let test: String
      do {
        test = try condition(ExprSyntax(comparison), scope)
      } catch let refusal as PredicateRefusal {
        throw PredicateRefusal(refusal.reason, at: value)  // what was written again has no place in the file
      }
      found = found.map { named(build("Disjunction", "lhs: \($0)", "rhs: \(test)")) } ?? test
    }
    return found ?? build("Arg", "false")
  }

  /// `$0.title.lowercased()`, `calendar.isDateInToday($0.added)`: a Swift closure over the one value of the row in it.
  private mutating func computed(_ call: FunctionCallExprSyntax, _ scope: PredicateScope) throws -> String {
    let name =
      call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.trimmedDescription
      ?? call.calledExpression.trimmedDescription
    if !takesCalls { throw PredicateRefusal(.withoutSQL(name), at: call) }
    if call.trailingClosure?.mentions(scope) == true || !call.additionalTrailingClosures.isEmpty {
      throw PredicateRefusal(.call(name), at: call)
    }
    var places = call.arguments.map(\.expression).filter { $0.mentions(scope) }
    if let base = call.calledExpression.as(MemberAccessExprSyntax.self)?.base, base.mentions(scope) {
      places.insert(base, at: 0)
    }
    guard places.count == 1, let place = places.first, !place.is(ClosureExprSyntax.self) else {
      throw PredicateRefusal(places.count > 1 ? .several(name) : .call(name), at: call)
    }
    return try computed(ExprSyntax(call), of: place, as: place, called: name, scope)
  }

  /// `whole` as a Swift closure over the value of the row in it, which stands in the source as `place`.
  private mutating func computed(
    _ whole: ExprSyntax, of part: ExprSyntax, as place: ExprSyntax, called name: String, captures: String = "",
    _ scope: PredicateScope
  ) throws -> String {
    let own = newName()
    // What an optional chain before it leads to may be nil.
    let isChained = part.firstOptionalLink != nil && part.parent?.is(OptionalChainingExprSyntax.self) != true
    let text = whole.replacing(part, by: isChained ? own + "?" : own).trimmedDescription
    return build("computed", try expression(place, scope), "called: \"\(name)\"")
      + " { \(captures)\(own) in \(text) }"
  }

  /// `$0.title.first == "a"`, `$0.title.prefix(2) == start`, `$0.words.prefix(1) == ["a"]`: a comparison with a part of a
  /// text or a list, or with it turned round, which is of a type that no predicate takes. Swift is asked for it as a whole.
  mutating func comparisonOfLetters(_ infix: InfixOperatorExprSyntax, _ scope: PredicateScope) throws -> String? {
    for (side, other) in [(infix.leftOperand, infix.rightOperand), (infix.rightOperand, infix.leftOperand)] {
      guard side.mentions(scope), !other.mentions(scope), !other.mayTrap, let member = side.lettersMember,
        let base = member.base, base.mentions(scope)
      else { continue }
      let name = member.declName.baseName.text
      let isLetter = name == "first" || name == "last"
      let isWrittenOut =
        other.is(StringLiteralExprSyntax.self)
        || (!isLetter && (other.is(ArrayExprSyntax.self) || other.isCallOfLiteral))
      guard isWrittenOut || (!isLetter && other.isLookedUp(outside: scope)) else { continue }
      if !takesCalls { throw PredicateRefusal(.withoutSQL(name), at: side) }
      let place = base.unchained
      if isWrittenOut {
        return named(try computed(ExprSyntax(infix), of: place, as: place, called: name, scope))
      }
      let value = newName()
      let whole = ExprSyntax(infix).replacing(other, by: value)
      guard let again = whole.as(InfixOperatorExprSyntax.self),
        let part = (again.leftOperand.lettersMember ?? again.rightOperand.lettersMember)?.base?.unchained
      else { continue }
      let isTurned = other.lettersMember?.declName.baseName.text == "reversed"
      let captured = isTurned ? "Array(\(other.trimmedDescription))" : other.trimmedDescription
      let captures = "[\(value) = \(captured)] "
      return named(try computed(whole, of: part, as: place, called: name, captures: captures, scope))
    }
    return nil
  }
}

extension ExprSyntax {
  /// Without the `?` at its end.
  fileprivate var unchained: ExprSyntax { self.as(OptionalChainingExprSyntax.self)?.expression ?? self }

  /// Whether it is `.bold`, or a list of such names, which may be options as well as elements.
  fileprivate var isByNameAlone: Bool {
    if let member = self.as(MemberAccessExprSyntax.self) { return member.base == nil }
    guard let list = self.as(ArrayExprSyntax.self), !list.elements.isEmpty else { return false }
    return list.elements.allSatisfy {
      $0.expression.as(MemberAccessExprSyntax.self)?.base == nil
        && $0.expression.is(MemberAccessExprSyntax.self)
    }
  }

  /// Whether it is a call on what is written out, without arguments: `"abc".reversed()`, `"abc".lowercased().reversed()`.
  fileprivate var isCallOfLiteral: Bool {
    guard let call = self.as(FunctionCallExprSyntax.self), call.arguments.isEmpty, call.trailingClosure == nil,
      let base = call.calledExpression.as(MemberAccessExprSyntax.self)?.base
    else { return false }
    return base.is(StringLiteralExprSyntax.self) || base.is(ArrayExprSyntax.self) || base.isCallOfLiteral
  }

  /// The first or last letters of something, or all from last to first: the member that takes them.
  fileprivate var lettersMember: MemberAccessExprSyntax? {
    if let member = self.as(MemberAccessExprSyntax.self) {
      return ["first", "last"].contains(member.declName.baseName.text) ? member : nil
    }
    guard let call = self.as(FunctionCallExprSyntax.self), call.trailingClosure == nil,
      let member = call.calledExpression.as(MemberAccessExprSyntax.self)
    else { return nil }
    return ["prefix", "suffix", "dropFirst", "dropLast", "reversed"].contains(member.declName.baseName.text)
      ? member : nil
  }
}
