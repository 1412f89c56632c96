import SwiftSyntax
import SwiftSyntaxMacros

/// `@_Initializer("_author", …)`, written by `@Model` on an initializer that gives the properties with this storage their
/// first values: these may refer to objects, which are then notified of the new one. No code of ours knows the object when a
/// property is first set, and it is whole only at the initializer's end.
struct InitializerMacro: BodyMacro {
  static func expansion(
    of node: AttributeSyntax, providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
    in context: some MacroExpansionContext
  ) throws -> [CodeBlockItemSyntax] {
    guard let statements = declaration.body?.statements, let first = statements.first else { return [] }
    let end = node.labeledArguments
      .compactMap { $0.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
      .map { "self.\($0).initialized(in: self)" }.joined(separator: "; ")
    let rewriter = ReturnRewriter()
    let written = context.placing(rewriter.rewrite(statements).trimmedDescription, at: first)
    let body = rewriter.hasReturned ? "\(ReturnRewriter.label): do {\n\(written)\n}" : written
    let whole = statements.endsEarly ? body : body + "\n" + end
    return Array(CodeBlockItemListSyntax(stringLiteral: whole))
  }
}

extension InitializerDeclSyntax {
  /// The storage of the properties that the body assigns and that may be relationships; none for a convenience
  /// initializer, which leaves it to the one that it calls.
  func assignedReferences(of model: ModelSyntax) -> [String] {
    guard let body, isDesignated else { return [] }
    let candidates = model.properties.filter(\.mayRefer)
    if candidates.isEmpty { return [] }
    let assigned = AssignedNames(body)
    return candidates.filter { assigned.names.contains($0.name) }.map(\.storage)
  }
}

extension PropertySyntax {
  /// Whether its type, as written, can be a model or a list of models.
  fileprivate var mayRefer: Bool {
    guard !isConstant, plain == nil, let annotation else { return false }
    var (base, _) = unwrapped(annotation)
    if let list = base.as(ArrayTypeSyntax.self) { base = list.element }
    return PlainType(base) == nil && (base.is(IdentifierTypeSyntax.self) || base.is(MemberTypeSyntax.self))
  }
}

/// The names that a body assigns: `name = …`, `self.name = …` and `(name, self.name) = …`.
private final class AssignedNames: SyntaxVisitor {
  private(set) var names: Set<String> = []

  init(_ body: CodeBlockSyntax) {
    super.init(viewMode: .sourceAccurate)
    walk(body)
  }

  /// In the list of an expression before operators are folded, a target stands left of its `=`.
  override func visit(_ node: ExprListSyntax) -> SyntaxVisitorContinueKind {
    for (target, operation) in zip(node, node.dropFirst()) where operation.is(AssignmentExprSyntax.self) {
      note(target)
    }
    return .visitChildren
  }

  private func note(_ target: ExprSyntax) {
    if let member = target.as(MemberAccessExprSyntax.self), member.base?.trimmedDescription == "self" {
      names.insert(member.declName.baseName.bareName)
    } else if let name = target.as(DeclReferenceExprSyntax.self) {
      names.insert(name.baseName.bareName)
    } else if let tuple = target.as(TupleExprSyntax.self) {
      for element in tuple.elements { note(element.expression) }
    }
  }
}

/// Makes each `return` of a body leave a `do` around it, so that the body has one end; those of functions and closures in
/// it stay.
private final class ReturnRewriter: SyntaxRewriter {
  static let label = "_quireBody"
  private(set) var hasReturned = false

  init() { super.init(viewMode: .sourceAccurate) }

  override func visit(_ node: ReturnStmtSyntax) -> StmtSyntax {
    if node.expression != nil { return StmtSyntax(node) }  // `return nil`
    hasReturned = true
    return StmtSyntax(
      BreakStmtSyntax(
        leadingTrivia: node.leadingTrivia, label: .identifier(Self.label, leadingTrivia: .space),
        trailingTrivia: node.trailingTrivia))
  }

  override func visit(_ node: ClosureExprSyntax) -> ExprSyntax { ExprSyntax(node) }
  override func visit(_ node: FunctionDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
  override func visit(_ node: ClassDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
  override func visit(_ node: StructDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
  override func visit(_ node: EnumDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
  override func visit(_ node: AccessorBlockSyntax) -> AccessorBlockSyntax { node }
}

extension CodeBlockItemListSyntax {
  /// Whether what stands after the last statement would never run.
  fileprivate var endsEarly: Bool {
    guard let last = last?.item else { return false }
    if last.is(ThrowStmtSyntax.self) || last.as(ReturnStmtSyntax.self)?.expression != nil { return true }
    let called = last.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription
    return called == "fatalError" || called == "preconditionFailure"
  }
}
