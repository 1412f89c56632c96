public import Foundation
import QuireRow

extension PredicateExpressions {
  /// A captured value that no archive can hold, such as a `Character` or the keys of a dictionary.
  public struct _Captured<Output: Sendable>: PredicateExpression, CustomStringConvertible {
    package let value: Output

    package init(_ value: Output) { self.value = value }

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> Output { value }

    public var description: String { "Captured(\(Output.self))" }
  }

  // MARK: What is taken from a captured value, where that may not be possible

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

  // MARK: Captured lists

  // A range of whole numbers is a sequence, too, and may have no end: its own function is preferred.

  /// Written by `#Predicate`: `contains` of a captured list.
  @_disfavoredOverload
  public static func _build_isIn<List: Sequence & Codable & Sendable, Element: PredicateExpression>(
    _ list: List, _ element: Element
  ) -> SequenceContains<Value<List>, Element> where List.Element == Element.Output, Element.Output: Equatable {
    build_contains(build_Arg(list), element)
  }

  /// Written by `#Predicate`: `contains` of a captured list of optionals.
  @_disfavoredOverload
  public static func _build_isIn<List: Sequence & Codable & Sendable, Element: PredicateExpression>(
    _ list: List, _ element: Element
  ) -> SequenceContains<Value<List>, _Present<Element>>
  where List.Element == Element.Output?, Element.Output: Equatable {
    build_contains(build_Arg(list), _Present(element))
  }

  /// Written by `#Predicate`: `contains` of a captured sequence that is not kept, such as the keys of a dictionary.
  @_disfavoredOverload
  public static func _build_isIn<List: Sequence & Sendable, Element: PredicateExpression>(
    _ list: List, _ element: Element
  ) -> SequenceContains<_Captured<List>, Element> where List.Element == Element.Output, Element.Output: Equatable {
    build_contains(_Captured(list), element)
  }

  /// Written by `#Predicate`: `contains` of a captured list of objects.
  public static func _build_isIn<List: Sequence, Element: PredicateExpression>(
    _ list: List, _ element: Element
  ) -> SequenceContains<Value<[PersistentIdentifier]>, _Identifier<Element>>
  where List.Element == Element.Output, Element.Output: PersistentModel {
    build_contains(
      build_Arg(list.map(\.persistentModelID)), build_KeyPath(root: element, keyPath: \.persistentModelID))
  }

  /// Written by `#Predicate`: `contains` of a captured range.
  public static func _build_isIn<Range: RangeExpression & Sendable, Element: PredicateExpression>(
    _ range: Range, _ element: Element
  ) -> RangeExpressionContains<Value<Range>, Element> where Range.Bound == Element.Output {
    build_contains(build_Arg(range), element)
  }

  /// Written by `#Predicate`: `contains` of a captured interval of time.
  public static func _build_isIn<Element: PredicateExpression>(
    _ interval: DateInterval, _ element: Element
  ) -> RangeExpressionContains<Value<Swift.ClosedRange<Date>>, Element> where Element.Output == Date {
    build_contains(build_Arg(interval.start...interval.end), element)
  }

  /// Written by `#Predicate`: `contains` of a captured text.
  public static func _build_isIn<Text: StringProtocol, Part: PredicateExpression>(
    _ text: Text, _ part: Part
  ) -> CollectionContainsCollection<Value<String>, Part> where Part.Output: StringProtocol {
    build_contains(build_Arg(String(text)), part)
  }
}

extension PredicateExpressions._Captured: Sendable {}
extension PredicateExpressions._Captured: StandardPredicateExpression, _UnarchivedExpression {}

extension PredicateExpressions._Captured: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term { .captured(value) }
  func words(in translation: Translation) -> String { "a \(Output.self)" }
}
