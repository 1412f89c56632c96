import Dispatch
import QuireSQLite

/// A block of `store.read` that waits for a reader.
protocol QueuedRead: AnyObject, Sendable {
  func run()
}

/// Runs as many blocks at once as there are readers, each on a thread that is none of Swift's; the others wait in order of
/// arrival.
package final class ReadQueue: Sendable {
  private struct State {
    var idle: [DispatchQueue] = []
    var made = 0
    var waiting: [any QueuedRead] = []
  }
  private let state = Locked(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// How many wait.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  func enqueue(_ read: any QueuedRead) {
    let reader = state.withLock { state -> DispatchQueue? in
      if let idle = state.idle.popLast() { return idle }
      if state.made < limit {
        state.made += 1
        return DispatchQueue(label: "quire.reader")
      }
      state.waiting.append(read)
      return nil
    }
    reader?.async { self.run(read, on: reader) }
  }

  /// - Returns: false if it is not there any longer, because its turn has come.
  func remove(_ read: any QueuedRead) -> Bool {
    state.withLock { state in
      guard let place = state.waiting.firstIndex(where: { $0 === read }) else { return false }
      state.waiting.remove(at: place)
      return true
    }
  }

  private func run(_ first: any QueuedRead, on reader: DispatchQueue?) {
    var next: (any QueuedRead)? = first
    while let read = next {
      read.run()
      next = state.withLock { state in
        if !state.waiting.isEmpty { return state.waiting.removeFirst() }
        if let reader { state.idle.append(reader) }
        return nil
      }
    }
  }
}

/// A block of `store.read` in the queue.
final class BlockRead: QueuedRead {
  private let block: any ServedWork
  private let container: ModelContainer

  init(_ block: any ServedWork, _ container: ModelContainer) {
    self.block = block
    self.container = container
  }

  func run() {
    do {
      let context = try ModelContext(reading: container)
      defer { context.owner.close() }
      try context.owner.position.read { connection in
        try block.limit.limiting(connection) {
          try context.owner.fitting { try block.run(context) }
          try context.owner.checkNothingWritten()
        }
      }
      block.finish(nil)
    } catch {
      block.finish(container.store.database.explaining(error))
    }
  }
}

extension ContextCore {
  /// - Throws: ``ModelError/writeInRead(_:)`` if anything has been edited.
  func checkNothingWritten() throws {
    if !hasChanges { return }
    let inserted = pending.inserted.compactMap { $0 }.first.map { "a new \(type(of: $0)) was inserted" }
    let deleted = pending.deleted.first.map { "\($0.persistentModelID) was deleted" }
    let edited = pending.edits.first.map { "\($0.persistentModelID) was edited" }
    throw ModelError.writeInRead(inserted ?? deleted ?? edited ?? "something was edited")
  }
}
