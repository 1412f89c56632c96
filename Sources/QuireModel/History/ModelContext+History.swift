import Foundation
import QuireRow
import QuireSQLite

extension ModelContext {
  /// What was committed to the file, by whomever, from its change log.
  ///
  ///     var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
  ///     descriptor.predicate = #Predicate { $0.token > lastToken }
  ///     for transaction in try context.fetchHistory(descriptor) { … }
  ///
  /// The log is read from its beginning, or from the token or identifier that the predicate says to begin after; of each
  /// transaction all changes are read. Unsaved edits are no history.
  ///
  /// - Throws: ``QuireSQLite/ChangeLogError``: the file keeps no log (open it with `changeLog: .on()`), the token is of
  ///   another one, or the log no longer goes back that far.
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

  /// Takes transactions out of the file's change log, from its beginning on: who goes on from a token before their end is
  /// told that they are gone.
  ///
  /// - Throws: ``ModelError/query(_:)`` where what is to be deleted lies behind what is to be kept; then nothing is
  ///   deleted. ``QuireSQLite/ChangeLogError`` where the file keeps no log.
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

  /// - Parameter body: Whether to go on.
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
