import QuireRow

/// The writes of a session that can be taken back, and those that were.
///
/// Within a transaction each statement is one; a rollback forgets those it takes back itself. The rows of the last write are
/// kept, and of those before it as many as a session may take memory for.
struct UndoLog {
  /// One statement's changes.
  struct Entry {
    fileprivate(set) var tables: [TableChanges]
    /// The file's `data_version` before it: still the same if no other program has written since.
    let version: Value?
    /// Why it cannot be undone; nil if it can.
    fileprivate(set) var obstacle: String?

    var rowCount: Int { tables.reduce(0) { $0 + $1.rows.count } }
  }

  private(set) var done: [Entry] = []
  private(set) var undone: [Entry] = []
  /// Beginnings of the open transaction and its savepoints, with how many writes there were.
  private var marks: [(name: String, count: Int)] = []

  /// How many rows all entries have.
  private var rowCount = 0
  /// How many of `done`, from the oldest on, were looked at to make room.
  private var passed = 0
  private let limit: Int

  init(keeping limit: Int) { self.limit = limit }

  mutating func add(_ entry: Entry) {
    forgetUndone()
    done.append(entry)
    rowCount += entry.rowCount
    while rowCount > limit, passed < done.count - 1 {
      rowCount -= done[passed].rowCount
      if done[passed].obstacle == nil {
        done[passed].obstacle = "it is too far back: a session keeps \(limit.grouped) changed rows"
      }
      done[passed].tables = []
      passed += 1
    }
  }

  private mutating func forgetUndone() {
    for entry in undone { rowCount -= entry.rowCount }
    undone = []
  }

  mutating func didUndo() {
    if let entry = done.popLast() { undone.append(entry) }
    passed = min(passed, done.count)
  }
  mutating func didRedo() { if let entry = undone.popLast() { done.append(entry) } }

  /// - Parameter name: Of a savepoint; empty for the transaction itself.
  mutating func begin(_ name: String) { marks.append((name.lowercased(), done.count)) }

  /// - Parameter name: The savepoint that is gone back to; nil for the whole transaction.
  mutating func rollBack(to name: String?) {
    let mark = name.flatMap { name in marks.last { $0.name == name.lowercased() } } ?? marks.first
    guard let mark else { return }
    let count = max(0, done.count - mark.count)
    for entry in done.suffix(count) { rowCount -= entry.rowCount }
    done.removeLast(count)
    passed = min(passed, done.count)
    forgetUndone()
  }

  /// Whether a statement commits the transaction, and not only a savepoint in it.
  func isEnd(_ words: StatementWords) -> Bool {
    switch words.verb {
    case "commit", "end": true
    case "release": marks.first?.name == words.name(behind: "release")?.lowercased()
    default: false
    }
  }

  mutating func transactionEnded() { marks = [] }
}
