#if !canImport(Darwin)
  public import Foundation
  import QuireRow

  extension PredicateExpressions {
    /// `localizedStandardContains` inside `#Predicate`, which Foundation lacks outside Apple's platforms.
    ///
    /// Both in Swift and in SQL, only the letters A to Z are compared without case: see ``ASCIICaseFolding``.
    public struct _StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression, CustomStringConvertible
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      /// Its result type.
      public typealias Output = Bool
      package let root: Root
      package let other: Other

      package init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// Its value in Swift, for one row.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        ASCIICaseFolding.contains(String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
      }

      public var description: String { "StringLocalizedStandardContains(root: \(root), other: \(other))" }
    }

    /// Written by `#Predicate`: `localizedStandardContains`.
    public static func build_localizedStandardContains<Root, Other>(_ root: Root, _ other: Other)
      -> _StringLocalizedStandardContains<Root, Other>
    {
      _StringLocalizedStandardContains(root: root, other: other)
    }
  }

  extension PredicateExpressions._StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}

  extension PredicateExpressions._StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}

  extension PredicateExpressions._StringLocalizedStandardContains: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#else
  import Foundation
  import QuireRow
#endif

extension PredicateExpressions._StringLocalizedStandardContains: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .expression(try translation.text(.containsFolded, root, other, in: self))
  }
  func words(in translation: Translation) -> String {
    "\(translation.words(root)).localizedStandardContains(\(translation.words(other)))"
  }
}
