/// A predicate, or a part of one, that has no SQL equivalent: which part, why, and what to write instead.
///
/// Thrown when a query is made, before anything is read. (The name `PredicateError` is taken by Foundation.)
public struct UntranslatablePredicate: Error, Hashable, Sendable, CustomStringConvertible {
  /// The part as Swift source, `$0.tags.contains(where: …)`. Captured values are not shown: they may be private.
  public let part: String
  /// Why it has no SQL equivalent.
  public let reason: String
  /// What to write instead.
  public let advice: String
  /// Whether Swift may evaluate it instead; false if the result would be just as wrong.
  package let mayBeComputed: Bool

  /// An error for a part of a predicate.
  package init(part: String, reason: String, advice: String) {
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
