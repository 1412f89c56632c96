/// What was edited, so that it can be taken back and done again.
///
/// Typing is taken back a word at a time, deleting a run of keys at a time.
struct UndoLog: Sendable {
  struct Edit: Hashable, Sendable {
    var place: Int
    var removed: String
    var inserted: String
    var cursor: Int
  }

  private var done: [Edit] = []
  private var undone: [Edit] = []
  /// Whether the next edit may be one with the last.
  private var isOpen = false
  /// More steps than anyone undoes one by one.
  private static let most = 1000

  var last: Edit? { done.last }

  /// The next edit is one of its own.
  mutating func close() { isOpen = false }

  mutating func add(_ edit: Edit) {
    undone = []
    if isOpen, let joined = done.last.flatMap({ Self.join($0, edit) }) {
      done[done.count - 1] = joined
    } else {
      done.append(edit)
      if done.count > Self.most { done.removeFirst() }
    }
    isOpen = true
  }

  mutating func undo() -> Edit? {
    guard let edit = done.popLast() else { return nil }
    undone.append(edit)
    isOpen = false
    return edit
  }

  mutating func redo() -> Edit? {
    guard let edit = undone.popLast() else { return nil }
    done.append(edit)
    isOpen = false
    return edit
  }

  private static func join(_ last: Edit, _ next: Edit) -> Edit? {
    var joined = last
    if next.removed.isEmpty, last.removed.isEmpty, next.inserted.count == 1,
      next.place == last.place + last.inserted.length,
      !(next.inserted.allSatisfy(\.isWhitespace) && !(last.inserted.last?.isWhitespace ?? true))
    {
      joined.inserted += next.inserted
      return joined
    }
    guard next.inserted.isEmpty, last.inserted.isEmpty else { return nil }
    if next.place + next.removed.length == last.place {
      joined.place = next.place
      joined.removed = next.removed + last.removed
      return joined
    }
    guard next.place == last.place else { return nil }
    joined.removed += next.removed
    return joined
  }
}
