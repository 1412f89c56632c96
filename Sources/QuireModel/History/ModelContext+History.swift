import Foundation
import QuireRow
import QuireSQLite

extension ModelContext {
  /// Transactions committed to the file by any program, from its change log.
  ///
  ///     var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
  ///     descriptor.predicate = #Predicate { $0.token > lastToken }
  ///     for transaction in try context.fetchHistory(descriptor) { … }
  ///
  /// Reads the log from its beginning, or from the token or identifier that is the predicate's lower bound, with all
  /// changes of each transaction. Unsaved edits are not included.
  ///
  /// - Throws: ``QuireSQLite/ChangeLogError`` if the file has no log (open it with `changeLog: .on()`), if the token
  ///   belongs to another log, or if the log no longer goes back that far.
  public func fetchHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws
    -> [DefaultHistoryTransaction]
  {
    let isSorted = !descriptor.sortBy.isEmpty
    let limit = max(0, descriptor.fetchLimit ?? .max)
    var result: [DefaultHistoryTransaction] = []
    try eachTransaction(HistoryStart(descriptor.predicate)) { transaction in
      if try descriptor.predicate?.evaluate(transaction) ?? true { result.append(transaction) }
      return isSorted || result.count < limit
    }
    if isSorted { result.sort(using: descriptor.sortBy) }
    return Array(result.prefix(limit))
  }

  /// Deletes transactions from the beginning of the file's change log. Fetching from a token before the end of the
  /// deleted part throws an error afterwards.
  ///
  /// - Throws: ``ModelError/query(_:)`` if a transaction to be kept precedes one to be deleted; then nothing is
  ///   deleted. ``QuireSQLite/ChangeLogError`` if the file has no log.
  public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    var end: Int64?
    var isKept = false
    try eachTransaction(nil) { transaction in
      if try descriptor.predicate?.evaluate(transaction) ?? true {
        if isKept {
          throw ModelError.query(
            "history is deleted from its beginning on, and this predicate keeps an earlier transaction than one that it "
              + "deletes")
        }
        end = transaction.transactionIdentifier
      } else {
        isKept = true
      }
      return true
    }
    if let end { try container.store.database.forgetLog(upTo: end) }
  }

  /// - Parameter body: Returns whether to continue.
  private func eachTransaction(
    _ start: HistoryStart?, _ body: (DefaultHistoryTransaction) throws -> Bool
  ) throws {
    let store = container.store
    let reading = HistoryReading(store: store)
    var place = try store.database.logStart(after: start?.token?.commitToken, or: start?.place)
    while true {
      let (commits, isEnd) = try store.database.loggedHistory(after: place, atMost: 2000)
      for commit in commits {
        guard let transaction = reading.transaction(commit) else { continue }
        if try !body(transaction) { return }
      }
      guard !isEnd, let last = commits.last?.changes.token else { return }
      place = last
    }
  }
}

extension HistoryStart {
  fileprivate var token: DefaultHistoryToken? { if case .token(let token) = self { token } else { nil } }
  fileprivate var place: Int64? { if case .place(let place) = self { place } else { nil } }
}
