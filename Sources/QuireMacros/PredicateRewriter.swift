import SwiftSyntax

/// Writes a predicate's closure again, call by call, as the expressions Foundation's `Predicate` is made of.
///
/// What does not look at the row is captured whole, unless running it for nothing could trap: `limit > 0 && $0.pages / limit`.
struct PredicateRewriter {
  private var names = 0

  /// A name no source has.
  mutating func newName() -> String {
    names += 1
    return "_quire\(names)"
  }

  func build(_ name: String, _ arguments: String...) -> String {
    "PredicateExpressions.build_\(name)(\(arguments.joined(separator: ", ")))"
  }

  // MARK: Closures and statements

  mutating func closure(_ closure: ClosureExprSyntax, _ outer: PredicateScope) throws -> String {
    var scope = outer.filter { !$0.key.hasPrefix("$") }
    var written: [String] = []
    let names = closure.parameterNames
    for name in names.isEmpty ? ["$0"] : names {
      if name == "_" {
        written.append("_")
        continue
      }
      let own = newName()
      scope[name] = own
      written.append(own)
    }
    let body = try statements(closure.statements[...], scope, in: closure)
    return "{ \(written.joined(separator: ", ")) in \(body) }"
  }

  /// Statements that end with a condition: declarations before it, and early returns as choices.
  mutating func statements(
    _ items: Slice<CodeBlockItemListSyntax>, _ scope: PredicateScope, in block: some SyntaxProtocol
  ) throws -> String {
    guard let first = items.first else { throw PredicateRefusal(.empty, at: block) }
    let rest = items.dropFirst()
    switch first.item {
    case .decl(let declaration):
      guard let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
        let binding = variable.bindings.first, let value = binding.initializer?.value,
        let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
      else { throw PredicateRefusal(.statement, at: first) }
      if !value.mentions(scope) {
        return "\(declaration.trimmedDescription); \(try statements(rest, scope, in: block))"
      }
      let own = newName()
      var inner = scope
      let written = try expression(value, scope)
      inner[name] = own
      return "let \(own) = \(written); \(try statements(rest, inner, in: block))"
    case .stmt(let statement):
      if let value = statement.as(ReturnStmtSyntax.self)?.expression, rest.isEmpty {
        return "return \(try expression(value, scope))"
      }
      if let guarded = statement.as(GuardStmtSyntax.self) {
        let otherwise = try branch(guarded.body.statements[...], scope, in: guarded)
        return "return "
          + (try conditions(guarded.conditions[...], scope, otherwise: otherwise) { rewriter, scope in
            try rewriter.branch(rest, scope, in: block)
          })
      }
      if let value = statement.as(ExpressionStmtSyntax.self)?.expression { return try last(value, rest, scope, block) }
      throw PredicateRefusal(.statement, at: first)
    case .expr(let value): return try last(value, rest, scope, block)
    default: throw PredicateRefusal(.statement, at: first)
    }
  }

  private mutating func last(
    _ value: ExprSyntax, _ rest: Slice<CodeBlockItemListSyntax>, _ scope: PredicateScope, _ block: some SyntaxProtocol
  ) throws -> String {
    if rest.isEmpty { return "return " + (try expression(value, scope)) }
    // An `if` that returns, and what is done where it does not.
    guard let choice = value.as(IfExprSyntax.self), choice.elseBody == nil else {
      throw PredicateRefusal(.statement, at: value)
    }
    return "return " + (try self.choice(choice, scope, otherwise: try branch(rest, scope, in: block)))
  }

  /// Statements as one expression.
  mutating func branch(
    _ items: Slice<CodeBlockItemListSyntax>, _ scope: PredicateScope, in block: some SyntaxProtocol
  ) throws -> String {
    let text = try statements(items, scope, in: block)
    return text.hasPrefix("return ") ? String(text.dropFirst(7)) : "{ () in \(text) }()"
  }

  // MARK: Choices

  mutating func choice(_ choice: IfExprSyntax, _ scope: PredicateScope, otherwise: String? = nil) throws -> String {
    var alternative = otherwise
    switch choice.elseBody {
    case .codeBlock(let block): alternative = try branch(block.statements[...], scope, in: block)
    case .ifExpr(let next): alternative = try self.choice(next, scope, otherwise: otherwise)
    default: break
    }
    guard let alternative else { throw PredicateRefusal(.withoutElse, at: choice) }
    return try conditions(choice.conditions[...], scope, otherwise: alternative) { rewriter, scope in
      try rewriter.branch(choice.body.statements[...], scope, in: choice)
    }
  }

  /// `body` where all conditions hold, with the names they bind; else `otherwise`.
  private mutating func conditions(
    _ list: Slice<ConditionElementListSyntax>, _ scope: PredicateScope, otherwise: String,
    _ body: (inout PredicateRewriter, PredicateScope) throws -> String
  ) throws -> String {
    guard let first = list.first else { return try body(&self, scope) }
    switch first.condition {
    case .expression(let condition):
      let test = try expression(condition, scope)
      let then = try conditions(list.dropFirst(), scope, otherwise: otherwise, body)
      return build("Conditional", test, then, otherwise)
    case .optionalBinding(let binding):
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
        throw PredicateRefusal(.condition, at: first)
      }
      let value = binding.initializer?.value ?? ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(name)))
      let own = newName()
      var inner = scope
      inner[name] = own
      let wrapped = try expression(value, scope)
      let then = try conditions(list.dropFirst(), inner, otherwise: otherwise, body)
      return build("NilCoalesce", "lhs: " + build("flatMap", wrapped) + " { \(own) in \(then) }", "rhs: " + otherwise)
    default: throw PredicateRefusal(.condition, at: first)
    }
  }
}
