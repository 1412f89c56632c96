public import Foundation
import QuireRow

extension PredicateExpressions {
  /// `$0[keyPath: path]`, with a key path that is captured and may have several steps.
  public struct _Path<Root: PredicateExpression, Output>: PredicateExpression, CustomStringConvertible {
    package let root: Root
    package let keyPath: any Swift.KeyPath<Root.Output, Output> & Sendable

    /// Its value in Swift, for one row.
    public func evaluate(_ bindings: PredicateBindings) throws -> Output {
      try root.evaluate(bindings)[keyPath: keyPath]
    }

    public var description: String { "Path(root: \(root), keyPath: \(keyPath))" }
  }

  /// Written by `#Predicate`: a property.
  ///
  /// In the Swift 5 language mode a literal is not inferred to be `Sendable`, and with complete checking each property of
  /// a predicate would be warned of; what the macro writes captures nothing.
  @inlinable public static func _build_KeyPath<Root: PredicateExpression, Value>(
    root: Root, keyPath: Swift.KeyPath<Root.Output, Value>
  ) -> KeyPath<Root, Value> {
    build_KeyPath(
      root: root, keyPath: unsafeBitCast(keyPath, to: (any Swift.KeyPath<Root.Output, Value> & Sendable).self))
  }

  /// Written by `#Predicate`: `[keyPath:]`.
  public static func _build_Path<Root, Output>(root: Root, keyPath: any Swift.KeyPath<Root.Output, Output> & Sendable)
    -> _Path<Root, Output>
  {
    _Path(root: root, keyPath: keyPath)
  }
}

extension PredicateExpressions._Path: Sendable where Root: Sendable {}
extension PredicateExpressions._Path: Encodable, Decodable where Root: StandardPredicateExpression {}
extension PredicateExpressions._Path: StandardPredicateExpression, _UnarchivedExpression
where Root: StandardPredicateExpression {}

extension PredicateExpressions._Path: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    switch try translation.term(of: root) {
    case .row(let row):
      // Not a path of several steps: a computed property reads other properties just as a path does.
      if let term = row.property(keyPath, resolving: translation.resolver, takesPaths: false) { return term }
    case .captured(let value):
      if let base = value as? Root.Output { return .captured(base[keyPath: keyPath]) }
    default: break
    }
    throw translation.refusal(
      self, "the key path does not name one stored property", "Write the property, or the path to it.")
  }

  func words(in translation: Translation) -> String {
    let name = translation.resolver.name(of: keyPath, from: Root.Output.self)
    return "\(translation.words(root))[keyPath: \(name.map { "\\.\($0)" } ?? "a path to \(Output.self)")]"
  }
}
