public import Foundation
import QuireRow

extension PredicateExpressions {
  /// `?? []` of a list that may be nil.
  public struct _OrEmpty<Wrapped: PredicateExpression, Element>: PredicateExpression, CustomStringConvertible
  where Wrapped.Output == [Element]? {
    /// Its result type.
    public typealias Output = [Element]
    package let wrapped: Wrapped

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> [Element] { try wrapped.evaluate(bindings) ?? [] }

    public var description: String { "OrEmpty(\(wrapped))" }
  }

  /// Written by `#Predicate`: `?? []`.
  public static func _build_OrEmpty<Wrapped, Element>(_ wrapped: Wrapped) -> _OrEmpty<Wrapped, Element> {
    _OrEmpty(wrapped: wrapped)
  }

  /// `map` of a list.
  public struct _Mapped<Base: PredicateExpression, Transform: PredicateExpression>: PredicateExpression,
    CustomStringConvertible
  where Base.Output: Sequence {
    /// Its result type.
    public typealias Output = [Transform.Output]
    package let base: Base
    package let variable: Variable<Base.Output.Element>
    package let transform: Transform

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> [Transform.Output] {
      var bindings = bindings
      return try base.evaluate(bindings).map { element in
        bindings[variable] = element
        return try transform.evaluate(bindings)
      }
    }

    public var description: String { "Mapped(base: \(base), transform: \(transform))" }
  }

  /// Written by `#Predicate`: `map` of an optional.
  public static func _build_map<Base, Wrapped, Transform, Result>(
    _ base: Base, _ transform: (Variable<Wrapped>) -> Transform
  ) -> OptionalFlatMap<Base, Wrapped, Transform, Result> where Base.Output == Wrapped?, Transform.Output == Result {
    build_flatMap(base, transform)
  }

  /// Written by `#Predicate`: `map` of a list.
  public static func _build_map<Base, Transform>(
    _ base: Base, _ transform: (Variable<Base.Output.Element>) -> Transform
  ) -> _Mapped<Base, Transform> where Base.Output: Sequence {
    let variable = Variable<Base.Output.Element>()
    return _Mapped(base: base, variable: variable, transform: transform(variable))
  }

  // MARK: `??`

  /// Written by `#Predicate`: `??` with a value.
  public static func _build_NilCoalesceWithAny<LHS, RHS>(lhs: LHS, rhs: RHS) -> NilCoalesce<LHS, RHS>
  where LHS.Output == RHS.Output? { build_NilCoalesce(lhs: lhs, rhs: rhs) }

  /// Written by `#Predicate`: `??` with another value that may not be there. The first is an optional in an optional, of
  /// which both are nil or neither.
  @_disfavoredOverload
  public static func _build_NilCoalesceWithAny<LHS, RHS, Wrapped>(lhs: LHS, rhs: RHS)
    -> NilCoalesce<OptionalFlatMap<LHS, Wrapped, _Present<Variable<Wrapped>>, Wrapped?>, RHS>
  where LHS.Output == Wrapped?, RHS.Output == Wrapped? {
    build_NilCoalesce(lhs: _build_map(lhs) { _Present($0) }, rhs: rhs)
  }
}

extension PredicateExpressions._OrEmpty: Sendable where Wrapped: Sendable {}
extension PredicateExpressions._OrEmpty: Encodable, Decodable where Wrapped: StandardPredicateExpression {}
extension PredicateExpressions._OrEmpty: StandardPredicateExpression, _UnarchivedExpression
where Wrapped: StandardPredicateExpression {}

extension PredicateExpressions._OrEmpty: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    switch try translation.term(of: wrapped) {
    case .toMany(let rows, let type): return .toMany(rows, type)
    case .captured(let list): return .captured(Translation.unwrapped(list) ?? [Element]())
    default: throw translation.refusal(self, "a column is compared whole", "Store what you want to ask for.")
    }
  }
  func words(in translation: Translation) -> String { "(\(translation.words(wrapped)) ?? [])" }
}

extension PredicateExpressions._Mapped: Sendable where Base: Sendable, Transform: Sendable {}
extension PredicateExpressions._Mapped: Encodable, Decodable
where Base: StandardPredicateExpression, Transform: StandardPredicateExpression {}
extension PredicateExpressions._Mapped: StandardPredicateExpression, _UnarchivedExpression
where Base: StandardPredicateExpression, Transform: StandardPredicateExpression {}

extension PredicateExpressions._Mapped: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    throw translation.refusal(
      self, "a list made for each row is not a column",
      "Ask with contains(where:), allSatisfy, filter, count or isEmpty, or a @Projection with @Sum, @Max or @Min.")
  }
  func words(in translation: Translation) -> String { "\(translation.words(base)).map { … }" }
}
