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

  // MARK: Letters

  /// Written by `#Predicate`: a literal beside a value of the row.
  @_disfavoredOverload
  public static func _build_Literal<Other: PredicateExpression>(_ literal: Other.Output, beside other: Other)
    -> Value<Other.Output>
  {
    build_Arg(literal)
  }

  /// Written by `#Predicate`: a literal beside a character of the row.
  public static func _build_Literal<Other: PredicateExpression>(_ literal: Character, beside other: Other)
    -> _Captured<Character> where Other.Output == Character
  {
    _Captured(literal)
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

  /// Written by `#Predicate`: `contains` of a captured list of objects that may not be there, where one of the row is.
  public static func _build_isIn<List: Sequence, Element: PredicateExpression, Model: PersistentModel>(
    _ list: List, _ element: Element
  ) -> SequenceContains<Value<[PersistentIdentifier]>, _Identifier<Element>>
  where List.Element == Model?, Element.Output == Model {
    build_contains(
      build_Arg(list.compactMap { $0?.persistentModelID }), build_KeyPath(root: element, keyPath: \.persistentModelID))
  }

  /// Written by `#Predicate`: `contains` of a captured list of objects that may not be there, where one of the row may not
  /// be there, either.
  public static func _build_isIn<List: Sequence, Element: PredicateExpression, Model: PersistentModel>(
    _ list: List, _ element: Element
  ) -> SequenceContains<Value<[PersistentIdentifier?]>, _OptionalIdentifier<Element, Model>>
  where List.Element == Model?, Element.Output == Model? {
    build_contains(build_Arg(list.map { $0?.persistentModelID }), identifier(of: element))
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
