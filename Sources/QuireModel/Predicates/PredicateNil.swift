public import Foundation

// Comparisons with nil of what may be of any type.

extension PredicateExpressions {
  /// Written by `#Predicate`: `== nil` of what a call gives.
  @_disfavoredOverload
  public static func _build_EqualToNil<Base: PredicateExpression, Wrapped: Equatable>(_ base: Base)
    -> Equal<Base, NilLiteral<Wrapped>> where Base.Output == Wrapped?
  {
    build_Equal(lhs: base, rhs: build_NilLiteral())
  }

  /// Written by `#Predicate`: `== nil` of an object that a call gives.
  public static func _build_EqualToNil<Base: PredicateExpression, Model: PersistentModel>(_ base: Base)
    -> Equal<Base, NilLiteral<Model>> where Base.Output == Model?
  {
    build_Equal(lhs: base, rhs: build_NilLiteral())
  }

  /// Written by `#Predicate`: `== nil` of what has no `==`, such as a match of a pattern.
  @_disfavoredOverload
  public static func _build_EqualToNil<Base: PredicateExpression, Wrapped>(_ base: Base) -> _Computed<Base, Bool>
  where Base.Output == Wrapped? {
    _build_computed(base, called: "isNil") { $0 == nil }
  }

  /// Written by `#Predicate`: `!= nil`.
  @_disfavoredOverload
  public static func _build_NotEqualToNil<Base: PredicateExpression, Wrapped: Equatable>(_ base: Base)
    -> NotEqual<Base, NilLiteral<Wrapped>> where Base.Output == Wrapped?
  {
    build_NotEqual(lhs: base, rhs: build_NilLiteral())
  }

  /// Written by `#Predicate`: `!= nil` of an object of the row. That it is `Equatable` follows from its being a model: the
  /// compiler does not find that conformance if it meets the model, which is declared in another file, here for the first
  /// time.
  public static func _build_NotEqualToNil<Base: PredicateExpression, Model: PersistentModel>(_ base: Base)
    -> NotEqual<Base, NilLiteral<Model>> where Base.Output == Model?
  {
    build_NotEqual(lhs: base, rhs: build_NilLiteral())
  }

  /// Written by `#Predicate`: `!= nil` of what has no `==`, such as a match of a pattern.
  @_disfavoredOverload
  public static func _build_NotEqualToNil<Base: PredicateExpression, Wrapped>(_ base: Base) -> _Computed<Base, Bool>
  where Base.Output == Wrapped? {
    _build_computed(base, called: "isNotNil") { $0 != nil }
  }
}
