extension EditorState {
  /// A position in the history.
  struct Walk: Sendable {
    /// After the last entry if the history is not being browsed.
    var position: Int
    /// Entries as they were edited while walking, by their place, the new text among them.
    var drafts: [Int: String] = [:]
  }

  mutating func walk(_ command: Command) -> Outcome {
    let count = history.entries.count
    let target: Int? =
      switch command {
      case .older: walk.position - 1
      case .newer: walk.position + 1
      case .oldest: 0
      case .newest: count
      case .revert: walk.position
      default: like(step: command == .olderLikeThis ? -1 : 1)
      }
    guard let target, (0...count).contains(target) else { return .refused }
    let keepsCursor = command == .olderLikeThis || command == .newerLikeThis
    let place = cursor
    if command == .revert { walk.drafts[target] = nil } else { walk.drafts[walk.position] = text }
    walk.position = target
    show(walk.drafts[target] ?? (target < count ? history.entries[target] : ""))
    if keepsCursor { cursor = text.boundary(from: min(place, text.length)) }
    return .editing
  }

  /// The next entry that begins with the text before the cursor, and continues differently.
  private func like(step: Int) -> Int? {
    let start = text[offsets: 0..<cursor].utf8
    var index = walk.position + step
    while history.entries.indices.contains(index) {
      let entry = history.entries[index]
      if entry != text, entry.utf8.starts(with: start) { return index }
      index += step
    }
    // Forwards one comes back to what was being typed.
    let count = history.entries.count
    return step > 0 && walk.position < count ? count : nil
  }

  /// Replaces the text, and puts the cursor after it.
  mutating func show(_ other: String) {
    undoLog.close()
    replace(0..<text.length, with: other)
    undoLog.close()
    cursor = text.length
  }
}
