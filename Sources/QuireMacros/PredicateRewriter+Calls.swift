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
    case ("contains", "_"): return try function("contains", base, arguments[0].value, scope)
    case ("hasPrefix", "_"), ("starts", "with"):
      return build("starts", try expression(base, scope), "with: \(try expression(arguments[0].value, scope))")
    case ("hasSuffix", "_"): return try function("hasSuffix", base, arguments[0].value, scope)
    case ("localizedStandardContains", "_"), ("localizedCaseInsensitiveContains", "_"):
      return try function("localizedStandardContains", base, arguments[0].value, scope)
    case ("caseInsensitiveCompare", "_"), ("localizedCaseInsensitiveCompare", "_"):
      return try function("caseInsensitiveCompare", base, arguments[0].value, scope)
    case ("min", ""), ("max", ""): return build(name, try expression(base, scope))
    case ("contains", "where"), ("allSatisfy", "_"), ("filter", "_"), ("flatMap", "_"), ("map", "_"):
      guard let closure = arguments[0].value.as(ClosureExprSyntax.self) else { return nil }
      let value = try expression(base, scope)
      return build(name == "map" ? "flatMap" : name, value) + " " + (try self.closure(closure, scope))
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
    let own = newName()
    let text = ExprSyntax(call).replacing(place, by: own).trimmedDescription
    return build("computed", try expression(place, scope), "called: \"\(name)\"") + " { \(own) in \(text) }"
  }
}
