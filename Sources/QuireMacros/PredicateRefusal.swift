import SwiftDiagnostics
import SwiftSyntax

/// A part of a predicate that cannot be asked of rows: which, and what to write instead.
struct PredicateRefusal: Error {
  let node: Syntax
  let reason: Reason

  init(_ reason: Reason, at node: some SyntaxProtocol) {
    self.node = Syntax(node)
    self.reason = reason
  }

  var diagnostic: Diagnostic { Diagnostic(node: node, message: reason) }

  enum Reason: Hashable {
    case notAClosure
    case empty
    case statement
    case withoutElse
    case condition
    case `operator`(String)
    case identity
    case interpolation
    case call(String)
    case several(String)
    case withoutSQL(String)
    case part
  }
}

extension PredicateRefusal.Reason: DiagnosticMessage {
  var severity: DiagnosticSeverity { .error }

  var diagnosticID: MessageID { MessageID(domain: "Quire", id: "predicate." + String("\(self)".prefix { $0 != "(" })) }

  var message: String {
    switch self {
    case .notAClosure: "a predicate is written out, so that it can be read: write ‘#Predicate { … }’"
    case .empty: "a predicate ends with a condition: write ‘true’ for all rows"
    case .statement: "a predicate is made of ‘let’, ‘guard’, ‘if’ and conditions: compute the rest before it"
    case .withoutElse: "every way through a predicate ends with a condition: write the ‘else’"
    case .condition:
      "a predicate takes values, ranges, ‘.some’, tuples and names as patterns: match others with ‘==’"
    case .operator(let name): "‘\(name)’ has no meaning for rows: compare with what is computed before the predicate"
    case .identity: "objects are compared with ‘==’ and ‘!=’, which ask for their rows"
    case .interpolation:
      "a text that values of the row are put into cannot be asked of rows: join texts with ‘+’, or compare the values"
    case .call(let name):
      "‘\(name)’ is called with closures over the row: use contains(where:), allSatisfy, filter or flatMap"
    case .several(let name):
      "‘\(name)’ is called with several values of the row: give the model a property that computes it"
    case .withoutSQL(let name):
      "‘\(name)’ has no SQL, so the database cannot compute it: store its result as a property of the model"
    case .part: "this cannot be asked of rows: give the model a property that computes it"
    }
  }
}
