import SwiftSyntax

/// Writes a predicate's closure again, call by call, as the expressions Foundation's `Predicate` is made of.
///
/// What does not look at the row is captured whole, unless running it for nothing could trap: `limit > 0 && $0.pages / limit`.
///
/// Each condition, and each sum over the row, becomes a `let` of its own, so that the compiler solves one small problem
/// after the other: as one expression, three comparisons with optionals can take it longer than it is willing to try.
struct PredicateRewriter {
  /// Whether Swift may be asked for each row: else such calls are refused.
  let takesCalls: Bool
  private var names = 0
  private var body = Body()

  init(takesCalls: Bool) { self.takesCalls = takesCalls }

  /// The closure being written.
  private struct Body {
    var lines: [String] = []
    /// Whether names of the source are declared in it, which must not meet those of another branch.
    var declaresNames = false

    /// A closure of these lines and of what it gives, whose name is left out where its line is the last.
    func closure(_ parameters: String, returning result: String) -> String {
      var lines = lines
      if let last = lines.last, last.hasPrefix("let \(result) = ") {
        lines[lines.count - 1] = "return " + last.dropFirst("let \(result) = ".count)
      } else {
        lines.append("return " + result)
      }
      return "{ \(parameters) in \(lines.joined(separator: "\n")) }"
    }
  }

  /// A name no source has.
  mutating func newName() -> String {
    names += 1
    return "_quire\(names)"
  }

  /// The expression under a name, which stands for it from here on.
  mutating func named(_ written: String) -> String {
    let own = newName()
    body.lines.append("let \(own) = \(written)")
    return own
  }

  /// A closure with these parameters around what `write` writes.
  mutating func closure(_ parameters: [String], _ write: (inout PredicateRewriter) throws -> String) throws -> String {
    let outer = body
    defer { body = outer }
    body = Body()
    let result = try write(&self)
    return body.closure(parameters.joined(separator: ", "), returning: result)
  }

  func build(_ name: String, _ arguments: String...) -> String { build(name, arguments) }

  /// Foundation's function, or that of Quire for a call that Foundation has no expression for.
  func build(_ name: String, _ arguments: [String]) -> String {
    let own: Set = [
      "hasSuffix", "computed", "Sum", "Difference", "EqualInRow", "NotEqualInRow", "EqualToValue", "NotEqualToValue",
      "EqualToNil", "NotEqualToNil", "isIn", "containsValue", "element", "unwrapped", "Path", "OrEmpty", "map",
      "NilCoalesceWithAny", "isInPart", "containsPart", "containsNamed", "ConditionalOrNil", "Literal", "KeyPath",
    ]
    let prefix = own.contains(name) ? "_" : ""
    return "Foundation.PredicateExpressions.\(prefix)build_\(name)(\(arguments.joined(separator: ", ")))"
  }

  /// A choice; one between a value and nil is an optional of the value's type, which has to be known before.
  mutating func conditional(_ test: String, _ then: String, _ otherwise: String) -> String {
    switch build("NilLiteral") {
    case then where then != otherwise: build("ConditionalOrNil", test, "otherwise: \(named(otherwise))")
    case otherwise where then != otherwise: build("ConditionalOrNil", test, "then: \(named(then))")
    default: build("Conditional", test, then, otherwise)
    }
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
    // `$0` beside a named parameter is the compiler's to refuse, in the source: what is generated says nothing more.
    if !names.isEmpty, let first = written.first { scope["$0"] = first }
    return try self.closure(written) { try $0.statements(closure.statements[...], scope, in: closure) }
  }

  /// What statements that end with a condition give: declarations before it, and early returns as choices.
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
        body.lines.append(declaration.trimmedDescription)
        body.declaresNames = true
        return try statements(rest, scope, in: block)
      }
      var inner = scope
      inner[name] = named(try expression(value, scope))
      return try statements(rest, inner, in: block)
    case .stmt(let statement):
      if let value = statement.as(ReturnStmtSyntax.self)?.expression, rest.isEmpty {
        return try expression(value, scope)
      }
      if let guarded = statement.as(GuardStmtSyntax.self) {
        let otherwise = try branch(guarded.body.statements[...], scope, in: guarded)
        return try conditions(guarded.conditions[...], scope, otherwise: otherwise) { rewriter, scope in
          try rewriter.branch(rest, scope, in: block)
        }
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
    if rest.isEmpty { return try expression(value, scope) }
    // An `if` that returns, and what is done where it does not.
    guard let choice = value.as(IfExprSyntax.self), choice.elseBody == nil else {
      throw PredicateRefusal(.statement, at: value)
    }
    return try self.choice(choice, scope, otherwise: try branch(rest, scope, in: block))
  }

  /// Statements as one expression, in a closure of their own only where they declare names.
  mutating func branch(
    _ items: Slice<CodeBlockItemListSyntax>, _ scope: PredicateScope, in block: some SyntaxProtocol
  ) throws -> String {
    let outer = body
    body = Body()
    let result = try statements(items, scope, in: block)
    let inner = body
    body = outer
    if inner.declaresNames {
      return inner.closure("()", returning: result) + "()"
    }
    body.lines += inner.lines
    return result
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
      let test = try self.condition(condition, scope)
      let then = try conditions(list.dropFirst(), scope, otherwise: otherwise, body)
      return conditional(test, then, otherwise)
    case .matchingPattern(let match):
      var inner = scope
      let subject = try subject(match.initializer.value, scope)
      let test = try matches(match.pattern, subject, &inner).map { named($0) }
      let then = try conditions(list.dropFirst(), inner, otherwise: otherwise, body)
      return test.map { conditional($0, then, otherwise) } ?? then
    case .optionalBinding(let binding):
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
        throw PredicateRefusal(.condition, at: first)
      }
      let value = binding.initializer?.value ?? ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(name)))
      let own = newName()
      var inner = scope
      inner[name] = own
      let wrapped = try expression(value, scope)
      let then = try closure([own]) {
        try $0.conditions(list.dropFirst(), inner, otherwise: otherwise, body)
      }
      let found = build("flatMap", wrapped) + then
      return otherwise == build("NilLiteral") ? found : build("NilCoalesce", "lhs: " + found, "rhs: " + otherwise)
    default: throw PredicateRefusal(.condition, at: first)
    }
  }
}
