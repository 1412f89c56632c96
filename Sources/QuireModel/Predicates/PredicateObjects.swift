public import Foundation

// `$0.author == lem`: the macro writes a comparison of the row with a captured value by these, so that an object can be
// one. It is captured as its identifier, which is `Sendable`, and compared as one.

extension PredicateExpressions {
  /// The identifier of an object of the row.
  public typealias _Identifier<Base: PredicateExpression> = KeyPath<Base, PersistentIdentifier>
  /// The identifier of an object that may not be there.
  public typealias _OptionalIdentifier<Base: PredicateExpression, Model: PersistentModel> =
    OptionalFlatMap<Base, Model, KeyPath<Variable<Model>, PersistentIdentifier>, PersistentIdentifier>
  where Base.Output == Model?

  static func identifier<Base: PredicateExpression, Model: PersistentModel>(of base: Base)
    -> _OptionalIdentifier<Base, Model>
  {
    build_flatMap(base) { build_KeyPath(root: $0, keyPath: \.persistentModelID) }
  }

  /// Written by `#Predicate`: `==` of a part of the row with a value.
  @_disfavoredOverload
  public static func _build_EqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: LHS.Output)
    -> Equal<LHS, Value<LHS.Output>> where LHS.Output: Equatable
  {
    build_Equal(lhs: lhs, rhs: build_Arg(rhs))
  }

  /// Written by `#Predicate`: `==` of a part of the row with a value that may not be there.
  @_disfavoredOverload
  public static func _build_EqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: LHS.Output?)
    -> Equal<_Present<LHS>, Value<LHS.Output?>> where LHS.Output: Equatable
  {
    build_Equal(lhs: _Present(lhs), rhs: build_Arg(rhs))
  }

  /// Written by `#Predicate`: `==` of a part of the row with the element of a list of optionals.
  @_disfavoredOverload
  public static func _build_EqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: LHS.Output??)
    -> Equal<_Present<LHS>, Value<LHS.Output?>> where LHS.Output: Equatable
  {
    build_Equal(lhs: _Present(lhs), rhs: build_Arg(rhs ?? nil))
  }

  /// Written by `#Predicate`: `==` of a character of the row.
  public static func _build_EqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: Character?)
    -> Equal<LHS, _Captured<Character?>> where LHS.Output == Character?
  {
    build_Equal(lhs: lhs, rhs: _Captured(rhs))
  }

  /// Written by `#Predicate`: `==` of an object of the row with one that may not be there.
  public static func _build_EqualToValue<LHS: PredicateExpression, Model: PersistentModel>(lhs: LHS, rhs: Model?)
    -> Equal<_Present<_Identifier<LHS>>, Value<PersistentIdentifier?>> where LHS.Output == Model
  {
    build_Equal(
      lhs: _Present(build_KeyPath(root: lhs, keyPath: \.persistentModelID)), rhs: build_Arg(rhs?.persistentModelID))
  }

  /// Written by `#Predicate`: `==` of an object of the row with an object.
  public static func _build_EqualToValue<LHS: PredicateExpression, Model: PersistentModel>(lhs: LHS, rhs: Model)
    -> Equal<_Identifier<LHS>, Value<PersistentIdentifier>> where LHS.Output == Model
  {
    build_Equal(lhs: build_KeyPath(root: lhs, keyPath: \.persistentModelID), rhs: build_Arg(rhs.persistentModelID))
  }

  /// Written by `#Predicate`: `==` of an object of the row, which may not be there, with an object.
  public static func _build_EqualToValue<LHS: PredicateExpression, Model: PersistentModel>(lhs: LHS, rhs: Model?)
    -> Equal<_OptionalIdentifier<LHS, Model>, Value<PersistentIdentifier?>> where LHS.Output == Model?
  {
    build_Equal(lhs: identifier(of: lhs), rhs: build_Arg(rhs?.persistentModelID))
  }

  /// Written by `#Predicate`: `!=` of a part of the row with a value.
  @_disfavoredOverload
  public static func _build_NotEqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: LHS.Output)
    -> NotEqual<LHS, Value<LHS.Output>> where LHS.Output: Equatable
  {
    build_NotEqual(lhs: lhs, rhs: build_Arg(rhs))
  }

  /// Written by `#Predicate`: `!=` of a part of the row with a value that may not be there.
  @_disfavoredOverload
  public static func _build_NotEqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: LHS.Output?)
    -> NotEqual<_Present<LHS>, Value<LHS.Output?>> where LHS.Output: Equatable
  {
    build_NotEqual(lhs: _Present(lhs), rhs: build_Arg(rhs))
  }

  /// Written by `#Predicate`: `!=` of a part of the row with the element of a list of optionals.
  @_disfavoredOverload
  public static func _build_NotEqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: LHS.Output??)
    -> NotEqual<_Present<LHS>, Value<LHS.Output?>> where LHS.Output: Equatable
  {
    build_NotEqual(lhs: _Present(lhs), rhs: build_Arg(rhs ?? nil))
  }

  /// Written by `#Predicate`: `!=` of a character of the row.
  public static func _build_NotEqualToValue<LHS: PredicateExpression>(lhs: LHS, rhs: Character?)
    -> NotEqual<LHS, _Captured<Character?>> where LHS.Output == Character?
  {
    build_NotEqual(lhs: lhs, rhs: _Captured(rhs))
  }

  /// Written by `#Predicate`: `!=` of an object of the row with one that may not be there.
  public static func _build_NotEqualToValue<LHS: PredicateExpression, Model: PersistentModel>(lhs: LHS, rhs: Model?)
    -> NotEqual<_Present<_Identifier<LHS>>, Value<PersistentIdentifier?>> where LHS.Output == Model
  {
    build_NotEqual(
      lhs: _Present(build_KeyPath(root: lhs, keyPath: \.persistentModelID)), rhs: build_Arg(rhs?.persistentModelID))
  }

  /// Written by `#Predicate`: `!=` of an object of the row with an object.
  public static func _build_NotEqualToValue<LHS: PredicateExpression, Model: PersistentModel>(lhs: LHS, rhs: Model)
    -> NotEqual<_Identifier<LHS>, Value<PersistentIdentifier>> where LHS.Output == Model
  {
    build_NotEqual(lhs: build_KeyPath(root: lhs, keyPath: \.persistentModelID), rhs: build_Arg(rhs.persistentModelID))
  }

  /// Written by `#Predicate`: `!=` of an object of the row, which may not be there, with an object.
  public static func _build_NotEqualToValue<LHS: PredicateExpression, Model: PersistentModel>(lhs: LHS, rhs: Model?)
    -> NotEqual<_OptionalIdentifier<LHS, Model>, Value<PersistentIdentifier?>> where LHS.Output == Model?
  {
    build_NotEqual(lhs: identifier(of: lhs), rhs: build_Arg(rhs?.persistentModelID))
  }

  /// Written by `#Predicate`: `==` of an object of the row with one whose identifier is captured.
  public static func _build_EqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> Equal<_Identifier<LHS>, RHS> where LHS.Output: PersistentModel, RHS.Output == PersistentIdentifier
  {
    build_Equal(lhs: build_KeyPath(root: lhs, keyPath: \.persistentModelID), rhs: rhs)
  }

  /// Written by `#Predicate`: `==` of an object of the row, which may not be there, with one whose identifier is captured.
  public static func _build_EqualInRow<LHS: PredicateExpression, RHS: PredicateExpression, Model: PersistentModel>(
    lhs: LHS, rhs: RHS
  ) -> Equal<_OptionalIdentifier<LHS, Model>, _Present<RHS>>
  where LHS.Output == Model?, RHS.Output == PersistentIdentifier {
    build_Equal(lhs: identifier(of: lhs), rhs: _Present(rhs))
  }

  /// Written by `#Predicate`: `!=` of an object of the row with one whose identifier is captured.
  public static func _build_NotEqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> NotEqual<_Identifier<LHS>, RHS> where LHS.Output: PersistentModel, RHS.Output == PersistentIdentifier
  {
    build_NotEqual(lhs: build_KeyPath(root: lhs, keyPath: \.persistentModelID), rhs: rhs)
  }

  /// Written by `#Predicate`: `!=` of an object of the row, which may not be there, with one whose identifier is captured.
  public static func _build_NotEqualInRow<LHS: PredicateExpression, RHS: PredicateExpression, Model: PersistentModel>(
    lhs: LHS, rhs: RHS
  ) -> NotEqual<_OptionalIdentifier<LHS, Model>, _Present<RHS>>
  where LHS.Output == Model?, RHS.Output == PersistentIdentifier {
    build_NotEqual(lhs: identifier(of: lhs), rhs: _Present(rhs))
  }

  /// Written by `#Predicate`: `==` of an object of the row with one whose identifier is captured, or with nil.
  public static func _build_EqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> Equal<_Present<_Identifier<LHS>>, RHS> where LHS.Output: PersistentModel, RHS.Output == PersistentIdentifier?
  {
    build_Equal(lhs: _Present(build_KeyPath(root: lhs, keyPath: \.persistentModelID)), rhs: rhs)
  }

  /// Written by `#Predicate`: `==` of an object of the row, which may not be there, with one whose identifier is captured,
  /// or with nil.
  public static func _build_EqualInRow<LHS: PredicateExpression, RHS: PredicateExpression, Model: PersistentModel>(
    lhs: LHS, rhs: RHS
  ) -> Equal<_OptionalIdentifier<LHS, Model>, RHS> where LHS.Output == Model?, RHS.Output == PersistentIdentifier? {
    build_Equal(lhs: identifier(of: lhs), rhs: rhs)
  }

  /// Written by `#Predicate`: `!=` of an object of the row with one whose identifier is captured, or with nil.
  public static func _build_NotEqualInRow<LHS: PredicateExpression, RHS: PredicateExpression>(lhs: LHS, rhs: RHS)
    -> NotEqual<_Present<_Identifier<LHS>>, RHS>
  where LHS.Output: PersistentModel, RHS.Output == PersistentIdentifier? {
    build_NotEqual(lhs: _Present(build_KeyPath(root: lhs, keyPath: \.persistentModelID)), rhs: rhs)
  }

  /// Written by `#Predicate`: `!=` of an object of the row, which may not be there, with one whose identifier is captured,
  /// or with nil.
  public static func _build_NotEqualInRow<LHS: PredicateExpression, RHS: PredicateExpression, Model: PersistentModel>(
    lhs: LHS, rhs: RHS
  ) -> NotEqual<_OptionalIdentifier<LHS, Model>, RHS> where LHS.Output == Model?, RHS.Output == PersistentIdentifier? {
    build_NotEqual(lhs: identifier(of: lhs), rhs: rhs)
  }

  /// Written by `#Predicate`: `contains` of a captured value.
  @_disfavoredOverload
  public static func _build_containsValue<List, Element: Equatable & Sendable>(_ list: List, _ value: Element)
    -> SequenceContains<List, Value<Element>> where List.Output: Sequence, List.Output.Element == Element
  {
    build_contains(list, build_Arg(value))
  }

  /// Written by `#Predicate`: `contains` of a captured text.
  public static func _build_containsValue<Text, Part: StringProtocol>(_ text: Text, _ part: Part)
    -> CollectionContainsCollection<Text, Value<String>> where Text.Output: StringProtocol
  {
    build_contains(text, build_Arg(String(part)))
  }

  /// Written by `#Predicate`: `contains` of a captured character.
  public static func _build_containsValue<Text>(_ text: Text, _ part: Character)
    -> CollectionContainsCollection<Text, Value<String>> where Text.Output: StringProtocol
  {
    build_contains(text, build_Arg(String(part)))
  }

  /// Written by `#Predicate`: `contains` of a captured pattern.
  @_disfavoredOverload
  public static func _build_containsValue<Text, Pattern: RegexComponent>(_ text: Text, _ pattern: Pattern)
    -> StringContainsRegex<Text, Value<PredicateRegex>>
  where Text.Output: BidirectionalCollection, Text.Output.SubSequence == Substring {
    build_contains(text, build_Arg(pattern))
  }

  /// Written by `#Predicate`: `contains` of a captured object.
  public static func _build_containsValue<List, Model: PersistentModel>(_ list: List, _ object: Model)
    -> SequenceContainsWhere<List, Equal<_Identifier<Variable<Model>>, Value<PersistentIdentifier>>>
  where List.Output: Sequence, List.Output.Element == Model {
    build_contains(list) { _build_EqualToValue(lhs: $0, rhs: object) }
  }
}
