public import Foundation

// `contains` of a set of options, which is a number in its column and no list: Swift is asked for it. The set that is
// asked for may be one option or several, all of which have to be there.

extension PredicateExpressions {
  /// Written by `#Predicate`: `contains` of captured options.
  public static func _build_containsValue<Base, Options: OptionSet & Sendable>(_ base: Base, _ options: Options)
    -> _Computed<Base, Bool> where Base.Output == Options, Options.Element == Options
  {
    _build_computed(base, called: "contains") { $0.isSuperset(of: options) }
  }

  /// Written by `#Predicate`: whether captured options contain those of the row.
  public static func _build_isIn<Options: OptionSet & Sendable, Part: PredicateExpression>(
    _ options: Options, _ part: Part
  ) -> _Computed<Part, Bool> where Part.Output == Options, Options.Element == Options {
    _build_computed(part, called: "contains") { options.isSuperset(of: $0) }
  }

  /// Written by `#Predicate`: `contains` of options by their names alone, `.bold` or `[.bold, .italic]`.
  public static func _build_containsNamed<Base, Options: OptionSet & Sendable>(_ base: Base, _ options: Options)
    -> _Computed<Base, Bool> where Base.Output == Options, Options.Element == Options
  {
    _build_containsValue(base, options)
  }

  /// Written by `#Predicate`: `contains` of a value by its name alone, `.novel`.
  @_disfavoredOverload
  public static func _build_containsNamed<List, Element: Equatable & Sendable>(_ list: List, _ value: Element)
    -> SequenceContains<List, Value<Element>> where List.Output: Sequence, List.Output.Element == Element
  {
    build_contains(list, build_Arg(value))
  }

  /// Written by `#Predicate`: `contains` of several values by their names alone, one after the other.
  @_disfavoredOverload
  public static func _build_containsNamed<List, Element: Equatable & Sendable>(_ list: List, _ values: [Element])
    -> CollectionContainsCollection<List, Value<[Element]>>
  where List.Output: Collection, List.Output.Element == Element {
    build_contains(list, build_Arg(values))
  }
}
