public import Foundation
import QuireRow

// Calls in `#Predicate` for which Foundation has no expression type.

extension PredicateExpressions {
  /// `hasSuffix`, by bytes.
  public struct _StringHasSuffix<Base: PredicateExpression, Suffix: PredicateExpression>: PredicateExpression,
    CustomStringConvertible
  where Base.Output: StringProtocol, Suffix.Output: StringProtocol {
    /// Its result type.
    public typealias Output = Bool
    package let base: Base
    package let suffix: Suffix

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      let (base, suffix) = (try base.evaluate(bindings).utf8, try suffix.evaluate(bindings).utf8)
      return base.suffix(suffix.count).elementsEqual(suffix)
    }

    public var description: String { "StringHasSuffix(base: \(base), suffix: \(suffix))" }
  }

  /// Written by `#Predicate`: `hasSuffix`.
  public static func _build_hasSuffix<Base, Suffix>(_ base: Base, _ suffix: Suffix) -> _StringHasSuffix<Base, Suffix> {
    _StringHasSuffix(base: base, suffix: suffix)
  }

  /// `+` of texts.
  public struct _StringJoin<LHS: PredicateExpression, RHS: PredicateExpression>: PredicateExpression,
    CustomStringConvertible
  where LHS.Output == String, RHS.Output == String {
    /// Its result type.
    public typealias Output = String
    package let lhs: LHS
    package let rhs: RHS

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> String {
      try lhs.evaluate(bindings) + rhs.evaluate(bindings)
    }

    public var description: String { "StringJoin(lhs: \(lhs), rhs: \(rhs))" }
  }

  /// Written by `#Predicate`: `+` of texts.
  public static func _build_Sum<LHS, RHS>(lhs: LHS, rhs: RHS) -> _StringJoin<LHS, RHS> {
    _StringJoin(lhs: lhs, rhs: rhs)
  }

  /// Written by `#Predicate`: `+` of numbers.
  public static func _build_Sum<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> Arithmetic<LHS, RHS> where LHS.Output == RHS.Output, LHS.Output: Numeric
  {
    build_Arithmetic(lhs: lhs, rhs: rhs, op: .add)
  }

  /// Written by `#Predicate`: `+` of captured lists.
  @_disfavoredOverload
  public static func _build_Sum<List: RangeReplaceableCollection>(lhs: Value<List>, rhs: Value<List>) -> Value<List> {
    build_Arg(lhs.value + rhs.value)
  }

  /// A call that only Swift can evaluate, with one value of the row: evaluated for each object.
  public struct _Computed<Input: PredicateExpression, Output>: PredicateExpression, CustomStringConvertible {
    package let input: Input
    package let name: String
    package let body: @Sendable (Input.Output) -> Output

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> Output { body(try input.evaluate(bindings)) }

    public var description: String { "Computed(input: \(input), name: \(name))" }
  }

  /// Written by `#Predicate`: a call without an SQL equivalent.
  public static func _build_computed<Input, Output>(
    _ input: Input, called name: String, _ body: @escaping @Sendable (Input.Output) -> Output
  ) -> _Computed<Input, Output> {
    _Computed(input: input, name: name, body: body)
  }
}

extension PredicateExpressions._StringHasSuffix: Sendable where Base: Sendable, Suffix: Sendable {}
extension PredicateExpressions._StringHasSuffix: Codable where Base: Codable, Suffix: Codable {}
extension PredicateExpressions._StringHasSuffix: StandardPredicateExpression
where Base: StandardPredicateExpression, Suffix: StandardPredicateExpression {}

extension PredicateExpressions._StringHasSuffix: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.text(.endsWith, base, suffix, in: self))
  }
  func words(in translation: Translation) -> String {
    "\(translation.words(base)).hasSuffix(\(translation.words(suffix)))"
  }
}

extension PredicateExpressions._StringJoin: Sendable where LHS: Sendable, RHS: Sendable {}
extension PredicateExpressions._StringJoin: Codable where LHS: Codable, RHS: Codable {}
extension PredicateExpressions._StringJoin: StandardPredicateExpression
where LHS: StandardPredicateExpression, RHS: StandardPredicateExpression {}

extension PredicateExpressions._StringJoin: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(RowExpression.joined(try translation.expression(of: lhs), try translation.expression(of: rhs)).folded)
  }
  func words(in translation: Translation) -> String { "(\(translation.words(lhs)) + \(translation.words(rhs)))" }
}

extension PredicateExpressions._Computed: Sendable where Input: Sendable {}
extension PredicateExpressions._Computed: Encodable, Decodable where Input: StandardPredicateExpression {}
extension PredicateExpressions._Computed: StandardPredicateExpression, _UnarchivedExpression
where Input: StandardPredicateExpression {}

extension PredicateExpressions._Computed: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    if case .captured(let value) = try translation.term(of: input), let value = value as? Input.Output {
      return .captured(body(value))
    }
    throw translation.refusal(
      self, "it is Swift code, which SQL cannot run",
      "Fetch with it, or store what it computes if a live result must follow it.")
  }
  func words(in translation: Translation) -> String { "\(name)(\(translation.words(input)))" }
}

#if !canImport(Darwin)
  extension PredicateExpressions {
    /// `caseInsensitiveCompare`: ignores the case of the letters A to Z only; see ``ASCIICaseFolding``.
    public struct _StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression, CustomStringConvertible
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      /// Its result type.
      public typealias Output = ComparisonResult
      package let root: Root
      package let other: Other

      /// Its value in Swift, for one row.
      public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
        let a = ASCIICaseFolding.folded(try root.evaluate(bindings).utf8)
        let b = ASCIICaseFolding.folded(try other.evaluate(bindings).utf8)
        if a == b { return .orderedSame }
        return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
      }

      public var description: String { "StringCaseInsensitiveCompare(root: \(root), other: \(other))" }
    }

    /// Written by `#Predicate`: `caseInsensitiveCompare`.
    public static func build_caseInsensitiveCompare<Root, Other>(_ root: Root, _ other: Other)
      -> _StringCaseInsensitiveCompare<Root, Other>
    {
      _StringCaseInsensitiveCompare(root: root, other: other)
    }
  }

  extension PredicateExpressions._StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions._StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
  extension PredicateExpressions._StringCaseInsensitiveCompare: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif

extension PredicateExpressions._StringCaseInsensitiveCompare: TranslatableExpression {
  /// The raw values of `ComparisonResult`: -1, 0 and 1.
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let a = RowExpression.lowercased(try translation.expression(of: root)).folded
    let b = RowExpression.lowercased(try translation.expression(of: other)).folded
    let rest = RowExpression.conditional(.compare(.greater, a, b), then: .literal(1), otherwise: .null)
    return .expression(
      .conditional(
        .compare(.equalOrAbsent, a, b), then: .literal(0),
        otherwise: .conditional(.compare(.less, a, b), then: .literal(-1), otherwise: rest)
      ).folded)
  }
  func words(in translation: Translation) -> String {
    "\(translation.words(root)).caseInsensitiveCompare(\(translation.words(other)))"
  }
}
