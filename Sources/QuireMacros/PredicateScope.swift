import SwiftSyntax

/// What the names in a predicate stand for that are no captured values: the source's name, and the one written for it.
typealias PredicateScope = [String: String]

extension SyntaxProtocol {
  /// Whether it looks at the row: names a parameter of the predicate's closures. `$0` in a closure without named parameters is that closure's own.
  func mentions(_ scope: PredicateScope) -> Bool {
    let finder = MentionFinder(scope)
    finder.walk(self)
    return finder.found
  }

  /// Whether running it for nothing could end the program: it calculates, unwraps by force, casts or looks up by index.
  var mayTrap: Bool {
    let finder = TrapFinder(viewMode: .sourceAccurate)
    finder.walk(self)
    return finder.found
  }
}

extension ExprSyntax {
  /// This with a name in the place of one of its parts.
  func replacing(_ part: some ExprSyntaxProtocol, by name: String) -> ExprSyntax {
    PartReplacer(part, by: name).rewrite(self).as(ExprSyntax.self) ?? self
  }
}

private final class PartReplacer: SyntaxRewriter {
  private let part: SyntaxIdentifier
  private let name: String

  init(_ part: some ExprSyntaxProtocol, by name: String) {
    self.part = part.id
    self.name = name
    super.init(viewMode: .sourceAccurate)
  }

  override func visitAny(_ node: Syntax) -> Syntax? {
    if node.id != part { return nil }
    var written = DeclReferenceExprSyntax(baseName: .identifier(name))
    (written.leadingTrivia, written.trailingTrivia) = (node.leadingTrivia, node.trailingTrivia)
    return Syntax(written)
  }
}

private final class MentionFinder: SyntaxVisitor {
  private var scopes: [PredicateScope]
  private(set) var found = false

  init(_ scope: PredicateScope) {
    scopes = [scope]
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id
    if !isMember, scopes[scopes.count - 1][node.baseName.text] != nil { found = true }
    return .visitChildren
  }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
    let names = node.parameterNames
    scopes.append(
      scopes[scopes.count - 1].filter { names.isEmpty ? !$0.key.hasPrefix("$") : !names.contains($0.key) })
    return .visitChildren
  }

  override func visitPost(_ node: ClosureExprSyntax) { scopes.removeLast() }
}

private final class TrapFinder: SyntaxVisitor {
  private(set) var found = false

  override func visit(_ node: ForceUnwrapExprSyntax) -> SyntaxVisitorContinueKind { find() }
  override func visit(_ node: SubscriptCallExprSyntax) -> SyntaxVisitorContinueKind { find() }
  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    let name = node.operator.trimmedDescription
    if name == "+", node.joinsText { return .visitChildren }
    if node.isWrittenOut { return .skipChildren }
    return ["+", "-", "*", "/", "%", "..<", "..."].contains(name) ? find() : .visitChildren
  }
  override func visit(_ node: AsExprSyntax) -> SyntaxVisitorContinueKind {
    node.questionOrExclamationMark?.text == "!" ? find() : .visitChildren
  }
  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  private func find() -> SyntaxVisitorContinueKind {
    found = true
    return .skipChildren
  }
}

extension InfixOperatorExprSyntax {
  /// Whether it is made of numbers alone, so that it cannot end the program: `7 * 24 * 3600`, `0..<3`.
  fileprivate var isWrittenOut: Bool {
    if let (lower, upper) = bounds { return lower <= upper }
    func isNumber(_ side: ExprSyntax) -> Bool {
      if side.is(IntegerLiteralExprSyntax.self) || side.is(FloatLiteralExprSyntax.self) { return true }
      if let prefix = side.as(PrefixOperatorExprSyntax.self) { return isNumber(prefix.expression) }
      return side.as(InfixOperatorExprSyntax.self)?.isWrittenOut ?? false
    }
    return ["+", "-", "*"].contains(self.operator.trimmedDescription) && isNumber(leftOperand) && isNumber(rightOperand)
  }

  /// Of a range between two numbers that are written out.
  private var bounds: (Int, Int)? {
    guard ["..<", "..."].contains(self.operator.trimmedDescription), let lower = Int(leftOperand.trimmedDescription),
      let upper = Int(rightOperand.trimmedDescription)
    else { return nil }
    return (lower, upper)
  }

  /// Whether a literal says that text is added, which cannot overflow: `"." + domain`, `first + " " + last`.
  fileprivate var joinsText: Bool {
    func isText(_ side: ExprSyntax) -> Bool {
      side.is(StringLiteralExprSyntax.self) || side.as(InfixOperatorExprSyntax.self)?.joinsText == true
    }
    return self.operator.trimmedDescription == "+" && (isText(leftOperand) || isText(rightOperand))
  }
}

extension ClosureExprSyntax {
  /// Whether it has more than one parameter, named or not.
  var takesSeveral: Bool {
    if parameterNames.count > 1 { return true }
    let finder = MentionFinder(["$1": "$1"])
    finder.walk(statements)
    return finder.found
  }

  /// The names of its parameters, where it gives any.
  var parameterNames: [String] {
    switch signature?.parameterClause {
    case .simpleInput(let names): names.map(\.name.text)
    case .parameterClause(let clause): clause.parameters.map { ($0.secondName ?? $0.firstName).text }
    default: []
    }
  }
}
