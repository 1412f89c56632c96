public import Foundation
import QuireRow

/// Which transactions of a store's history to fetch.
public struct HistoryDescriptor<Transaction: HistoryTransaction>: Sendable {
  /// Which transactions; nil for all. With a lower bound (`>`) on `token` or `transactionIdentifier` the log before it
  /// is not read.
  public var predicate: Predicate<Transaction>?
  /// The order; empty for that of the commits.
  public var sortBy: [SortDescriptor<Transaction>]
  /// The highest number of transactions; nil for all.
  public var fetchLimit: Int?

  /// All transactions, or those that the arguments select.
  public init(
    predicate: Predicate<Transaction>? = nil, sortBy: [SortDescriptor<Transaction>] = [], fetchLimit: Int? = nil
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
  }
}

/// The position from which the log must be read: a predicate with a lower bound needs nothing before it.
enum HistoryStart {
  case token(DefaultHistoryToken)
  case place(Int64)

  /// Nil if the predicate may accept any transaction.
  init?(_ predicate: Predicate<DefaultHistoryTransaction>?) {
    guard let found = (predicate?.expression as? any HistoryStartBearing)?.historyStart else { return nil }
    self = found
  }
}

/// Parts of a predicate that imply a lower bound.
private protocol HistoryStartBearing {
  var historyStart: HistoryStart? { get }
}

extension PredicateExpressions.Conjunction: HistoryStartBearing {
  fileprivate var historyStart: HistoryStart? {
    (lhs as? any HistoryStartBearing)?.historyStart ?? (rhs as? any HistoryStartBearing)?.historyStart
  }
}

extension PredicateExpressions.Comparison: HistoryStartBearing {
  fileprivate var historyStart: HistoryStart? {
    guard op == .greaterThan else { return nil }
    if let path = lhs as? TransactionPath<DefaultHistoryToken>, path.keyPath == \.token,
      let bound = rhs as? PredicateExpressions.Value<DefaultHistoryToken>
    {
      return .token(bound.value)
    }
    if let path = lhs as? TransactionPath<Int64>, path.keyPath == \.transactionIdentifier,
      let bound = rhs as? PredicateExpressions.Value<Int64>
    {
      return .place(bound.value)
    }
    return nil
  }
}

private typealias TransactionPath<Output> = PredicateExpressions.KeyPath<
  PredicateExpressions.Variable<DefaultHistoryTransaction>, Output
>
