import SwiftSyntax
import SwiftSyntaxMacros

/// `#Predicate { … }` on a model: the closure written again as the expressions that Foundation's `Predicate` is made of.
///
/// Foundation's own macro does that too, and less of it: this one takes nested predicates, what is captured as any
/// expression, cases by their name alone, several statements, and calls that only Swift can answer.
struct PredicateMacro: ExpressionMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax { rewritten(node, as: "Foundation.Predicate", in: context) }
}

/// `#Expression { … }` on a model: as ``PredicateMacro``, for a value of any type.
struct RowExpressionMacro: ExpressionMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax { rewritten(node, as: "Foundation.Expression", in: context) }
}

/// `#_RowExpression { … }`, written for `@Computed`: as `#Expression`, of what has SQL.
struct SQLExpressionMacro: ExpressionMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax { rewritten(node, as: "Foundation.Expression", takesCalls: false, in: context) }
}

/// The macro's closure as the builder of a `Predicate` or an `Expression`.
private func rewritten(
  _ node: some FreestandingMacroExpansionSyntax, as type: String, takesCalls: Bool = true,
  in context: some MacroExpansionContext
) -> ExprSyntax {
  let made = type + (node.genericArgumentClause?.trimmedDescription ?? "")
  guard let closure = node.trailingClosure ?? node.arguments.first?.expression.as(ClosureExprSyntax.self) else {
    context.diagnose(PredicateRefusal(.notAClosure, at: node).diagnostic)
    return "\(raw: made)({ _ in Swift.fatalError() })"  // never run: the refusal is an error of the build
  }
  do {
    var rewriter = PredicateRewriter(takesCalls: takesCalls)
    return "\(raw: made)(\(raw: try rewriter.closure(closure, [:])))"
  } catch {
    if let refusal = error as? PredicateRefusal { context.diagnose(refusal.diagnostic) }
    let parameters = closure.parameterNames.isEmpty ? ["_"] : closure.parameterNames.map { _ in "_" }
    // Without the closure's own text, which could be refused a second time.
    // Never run: the refusal is an error of the build.
    return "\(raw: made)({ \(raw: parameters.joined(separator: ", ")) in Swift.fatalError() })"
  }
}
