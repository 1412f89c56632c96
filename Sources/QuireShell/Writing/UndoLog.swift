import QuireRow

/// The writes of a session that can be taken back, and those that were.
///
/// Within a transaction each statement is one; a rollback forgets those it takes back itself.
struct UndoLog {
  /// One statement's changes.
  struct Entry {
    let tables: [TableChanges]
    /// The file's `data_version` before it: still the same if no other program has written since.
    let version: Value?
    /// Why it cannot be undone; nil if it can.
    let obstacle: String?

    var rowCount: Int { tables.reduce(0) { $0 + $1.rows.count } }
  }

  private(set) var done: [Entry] = []
  private(set) var undone: [Entry] = []
  /// Beginnings of the open transaction and its savepoints, with how many writes there were.
  private var marks: [(name: String, count: Int)] = []

  mutating func add(_ entry: Entry) {
    done.append(entry)
    undone = []
  }

  mutating func didUndo() { if let entry = done.popLast() { undone.append(entry) } }
  mutating func didRedo() { if let entry = undone.popLast() { done.append(entry) } }

  /// - Parameter name: Of a savepoint; empty for the transaction itself.
  mutating func begin(_ name: String) { marks.append((name.lowercased(), done.count)) }

  /// - Parameter name: The savepoint that is gone back to; nil for the whole transaction.
  mutating func rollBack(to name: String?) {
    let mark = name.flatMap { name in marks.last { $0.name == name.lowercased() } } ?? marks.first
    guard let mark else { return }
    done.removeLast(max(0, done.count - mark.count))
    undone = []
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
