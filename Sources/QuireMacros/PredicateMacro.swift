import SwiftSyntax
import SwiftSyntaxMacros

/// `#Predicate { … }` on a model: the closure written again as the expressions that Foundation's `Predicate` is made of.
///
/// Foundation's own macro does that too, and less of it: this one takes nested predicates, what is captured as any
/// expression, cases by their name alone, several statements, and calls that only Swift can answer.
struct PredicateMacro: ExpressionMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    let type = node.genericArgumentClause?.trimmedDescription ?? ""
    guard let closure = node.trailingClosure ?? node.arguments.first?.expression.as(ClosureExprSyntax.self) else {
      context.diagnose(PredicateRefusal(.notAClosure, at: node).diagnostic)
      return "Foundation.Predicate\(raw: type)({ _ in PredicateExpressions.build_Arg(true) })"
    }
    do {
      var rewriter = PredicateRewriter()
      return "Foundation.Predicate\(raw: type)(\(raw: try rewriter.closure(closure, [:])))"
    } catch let refusal as PredicateRefusal {
      context.diagnose(refusal.diagnostic)
      return "Foundation.Predicate\(raw: type)({ _ in PredicateExpressions.build_Arg(true) })"
    }
  }
}
