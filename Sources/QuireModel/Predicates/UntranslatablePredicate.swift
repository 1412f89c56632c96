/// A predicate, or a part of one, that has no meaning in SQL: which part, why, and what to write instead.
///
/// Thrown when a query is made, before anything is read. (Foundation has a `PredicateError` already.)
public struct UntranslatablePredicate: Error, Hashable, Sendable, CustomStringConvertible {
  /// The part in Swift's words, `$0.tags.contains(where: …)`. Captured values are not shown: they may be private.
  public let part: String
  /// Why it has no meaning in SQL.
  public let reason: String
  /// What to write instead.
  public let advice: String
  /// Whether Swift may be asked in SQL's place; not where the answer would be as wrong.
  package let mayBeComputed: Bool

  /// An error for a part of a predicate.
  public init(part: String, reason: String, advice: String) {
    self.init(part: part, reason: reason, advice: advice, mayBeComputed: true)
  }

  package init(part: String, reason: String, advice: String, mayBeComputed: Bool) {
    self.part = part
    self.reason = reason
    self.advice = advice
    self.mayBeComputed = mayBeComputed
  }

  public var description: String { "‘\(part)’ in a predicate: \(reason). \(advice)" }
}
