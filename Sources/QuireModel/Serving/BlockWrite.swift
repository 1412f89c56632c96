import QuireRow
import QuireSQLite
import QuireShared

/// A block of `store.write` in the queue of its database.
// @unchecked: `author` is changed by the thread that runs the block, and read there.
final class BlockWrite: QueuedWrite, @unchecked Sendable {
  private let block: any ServedWork
  private let container: ModelContainer
  /// The name that was given, and the one that the block has left.
  private let name: String?
  private(set) var author: String?
  private let number: UInt64
  let arrival = ContinuousClock.now
  private let note: (@Sendable (SaveUnderWay.Outcome) -> Void)?

  /// - Parameters:
  ///   - number: The number of its context; a new one if it is nil.
  ///   - decided: Called once with the outcome, under the write lock; it must only record it.
  init(
    _ block: any ServedWork, _ container: ModelContainer, author: String?, number: UInt64? = nil,
    decided: (@Sendable (SaveUnderWay.Outcome) -> Void)? = nil
  ) {
    self.block = block
    self.container = container
    name = author
    self.number = number ?? container.store.nextContextNumber()
    note = decided
  }

  func decided(_ outcome: Result<Int64?, any Error>) {
    switch outcome {
    case .success(let number): note?(.committed(number))
    case .failure(let error): note?(.failed(error))
    }
  }

  var origin: ChangeSet.Origin { .context(number) }
  var isOver: Bool { block.limit.error != nil }

  /// The context is made for this run and closed after it: nothing of a run that is taken back is left.
  func run(in transaction: Transaction) throws {
    try block.limit.limiting(transaction.connection) {
      let context = ModelContext(serving: container, number: number, author: name)
      defer { context.owner.close() }
      try context.owner.saver.serve(transaction) { try block.run(context) }
      author = context.author
    }
  }

  func finish(_ error: (any Error)?) {
    if let refused = error as? SQLiteError, refused.isForeignKey {
      return block.finish(
        ModelError.relationshipRefused("a reference to an object that is not there was refused. Nothing was saved."))
    }
    if error.map(wasOverBefore) == true, let over = block.limit.error { return block.finish(over) }
    block.finish(error)
  }
}

/// Whether it may come of not having waited any longer; nothing was written.
private func wasOverBefore(_ error: any Error) -> Bool {
  switch error {
  case is DatabaseError, SharedStoreError.cutOff, SharedStoreError.contended: true
  default: false
  }
}

extension Saver {
  /// Runs the block in a transaction that is another's to commit, and saves what it leaves unsaved.
  func serve(_ transaction: Transaction, _ block: () throws -> Void) throws {
    let open = OpenTransaction(transaction, on: transaction.connection, isSavepoint: true)
    self.open = open
    defer { self.open = nil }
    try core.fitting(block)
    try save(in: open)
  }
}
