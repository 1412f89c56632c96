public import Foundation

// What is taken from a captured value where that may not be possible: `names[0].count`, `chosen!`, `shelves[0].books`. Objects
// are captured as their identifiers.

extension PredicateExpressions {
  /// Written by `#Predicate`: a part of an element of a captured list; a condition on it is neither true nor false if the
  /// list has no such element.
  public static func _build_element<List: Collection, Part: Codable & Sendable>(
    of list: List, at index: List.Index, _ part: (List.Element) throws -> Part
  ) rethrows -> ForcedUnwrap<Value<Part?>, Part> {
    let isInside = index >= list.startIndex && index < list.endIndex
    return build_ForcedUnwrap(build_Arg(isInside ? try part(list[index]) : nil))
  }

  /// Written by `#Predicate`: a part of what a captured dictionary has for a key.
  public static func _build_element<Key, Element, Part: Codable & Sendable>(
    of dictionary: [Key: Element], at key: Key, _ part: (Element?) throws -> Part
  ) rethrows -> Value<Part> {
    build_Arg(try part(dictionary[key]))
  }

  /// Written by `#Predicate`: a part of a captured value that is unwrapped by force; a condition on it is neither true nor
  /// false if it is nil.
  public static func _build_unwrapped<Wrapped, Part: Codable & Sendable>(
    _ value: Wrapped?, _ part: (Wrapped) throws -> Part
  ) rethrows -> ForcedUnwrap<Value<Part?>, Part> {
    build_ForcedUnwrap(build_Arg(try value.map(part)))
  }

  /// Written by `#Predicate`: an object of a captured list.
  public static func _build_element<List: Collection, Model: PersistentModel>(
    of list: List, at index: List.Index, _ part: (List.Element) throws -> Model
  ) rethrows -> ForcedUnwrap<Value<PersistentIdentifier?>, PersistentIdentifier> {
    try _build_element(of: list, at: index) { try part($0).persistentModelID }
  }

  /// Written by `#Predicate`: a captured object that is unwrapped by force.
  public static func _build_unwrapped<Wrapped, Model: PersistentModel>(
    _ value: Wrapped?, _ part: (Wrapped) throws -> Model
  ) rethrows -> ForcedUnwrap<Value<PersistentIdentifier?>, PersistentIdentifier> {
    try _build_unwrapped(value) { try part($0).persistentModelID }
  }

  /// Written by `#Predicate`: an object that an element of a captured list refers to, or nil.
  public static func _build_element<List: Collection, Model: PersistentModel>(
    of list: List, at index: List.Index, _ part: (List.Element) throws -> Model?
  ) rethrows -> ForcedUnwrap<Value<PersistentIdentifier??>, PersistentIdentifier?> {
    try _build_element(of: list, at: index) { try part($0)?.persistentModelID }
  }

  /// Written by `#Predicate`: an object that is reached by unwrapping by force, or nil.
  public static func _build_unwrapped<Wrapped, Model: PersistentModel>(
    _ value: Wrapped?, _ part: (Wrapped) throws -> Model?
  ) rethrows -> ForcedUnwrap<Value<PersistentIdentifier??>, PersistentIdentifier?> {
    try _build_unwrapped(value) { try part($0)?.persistentModelID }
  }

  /// Written by `#Predicate`: the objects of a list in a captured list.
  public static func _build_element<List: Collection, Models: Sequence>(
    of list: List, at index: List.Index, _ part: (List.Element) throws -> Models
  ) rethrows -> ForcedUnwrap<Value<[PersistentIdentifier]?>, [PersistentIdentifier]>
  where Models.Element: PersistentModel {
    try _build_element(of: list, at: index) { try part($0).map(\.persistentModelID) }
  }

  /// Written by `#Predicate`: the objects of a captured list that is reached by unwrapping by force.
  public static func _build_unwrapped<Wrapped, Models: Sequence>(
    _ value: Wrapped?, _ part: (Wrapped) throws -> Models
  ) rethrows -> ForcedUnwrap<Value<[PersistentIdentifier]?>, [PersistentIdentifier]>
  where Models.Element: PersistentModel {
    try _build_unwrapped(value) { try part($0).map(\.persistentModelID) }
  }

  // MARK: contains

  /// Written by `#Predicate`: whether a list of the row contains such a part.
  @_disfavoredOverload
  public static func _build_containsPart<List, Part>(_ list: List, _ part: Part) -> SequenceContains<List, Part> {
    build_contains(list, part)
  }

  /// Written by `#Predicate`: whether a text of the row contains such a part.
  public static func _build_containsPart<Text, Part>(_ text: Text, _ part: Part)
    -> CollectionContainsCollection<Text, Part> where Text.Output: StringProtocol, Part.Output: StringProtocol
  {
    build_contains(text, part)
  }

  /// Written by `#Predicate`: whether objects of the row contain such an object.
  public static func _build_containsPart<List, Part: PredicateExpression, Model: PersistentModel>(
    _ list: List, _ part: Part
  ) -> SequenceContainsWhere<List, Equal<_Identifier<Variable<Model>>, Part>>
  where List.Output: Sequence, List.Output.Element == Model, Part.Output == PersistentIdentifier {
    build_contains(list) { build_Equal(lhs: build_KeyPath(root: $0, keyPath: \.persistentModelID), rhs: part) }
  }

  /// Written by `#Predicate`: whether such a list contains a value of the row.
  @_disfavoredOverload
  public static func _build_isInPart<List, Element>(_ list: List, _ element: Element) -> SequenceContains<List, Element>
  {
    build_contains(list, element)
  }

  /// Written by `#Predicate`: whether such a text contains one of the row.
  public static func _build_isInPart<Text, Part>(_ text: Text, _ part: Part) -> CollectionContainsCollection<Text, Part>
  where Text.Output: StringProtocol, Part.Output: StringProtocol {
    build_contains(text, part)
  }

  /// Written by `#Predicate`: whether such a range contains a value of the row.
  public static func _build_isInPart<Range, Element>(_ range: Range, _ element: Element)
    -> RangeExpressionContains<Range, Element>
  {
    build_contains(range, element)
  }

  /// Written by `#Predicate`: whether such a list contains an object of the row.
  public static func _build_isInPart<List, Element: PredicateExpression>(_ list: List, _ element: Element)
    -> SequenceContains<List, _Identifier<Element>>
  where List.Output == [PersistentIdentifier], Element.Output: PersistentModel {
    build_contains(list, build_KeyPath(root: element, keyPath: \.persistentModelID))
  }
}
