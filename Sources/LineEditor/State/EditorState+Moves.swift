extension EditorState {
  mutating func move(_ command: Command, _ language: Language) -> Outcome {
    let takesHint = [.right, .wordRight, .lineEnd, .textEnd].contains(command)
    if takesHint, let hint = hint(language) {
      undoLog.close()
      let end = command == .wordRight ? hint.place(forwardOver: \.isOfWord, from: 0) : hint.length
      insert(String(hint[offsets: 0..<end]))
      return .editing
    }
    let place =
      switch command {
      case .left: text.place(before: cursor)
      case .right: text.place(after: cursor)
      case .wordLeft: text.place(backOver: \.isOfWord, from: cursor)
      case .wordRight: text.place(forwardOver: \.isOfWord, from: cursor)
      case .lineStart: text.lineStart(of: cursor)
      case .lineEnd: text.lineEnd(of: cursor)
      case .textStart: 0
      default: text.length
      }
    undoLog.close()
    // Moving left or right at the end of a line is refused; moving to an end where the cursor already is, is not.
    let isRefused = place == cursor && [.left, .right].contains(command)
    cursor = place
    return isRefused ? .refused : .editing
  }

  /// The gray continuation after the text: the caller's, otherwise that of an earlier entry.
  func hint(_ language: Language) -> String? {
    guard cursor == text.length, !text.isEmpty, menu == nil, search == nil else { return nil }
    let hint = language.hint(text) ?? history.rest(of: text)
    return hint.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Moves a line up or down in the text, at the same column; beyond its ends, in the history.
  mutating func moveLine(by step: Int) -> Outcome {
    let start = text.lineStart(of: cursor)
    let end = text.lineEnd(of: cursor)
    if step < 0 ? start == 0 : end == text.length { return walk(step < 0 ? .older : .newer) }
    let goal = goalColumn ?? displayWidth(String(text[offsets: start..<cursor]))
    let target = step < 0 ? text.lineStart(of: start - 1) : end + 1
    let limit = text.lineEnd(of: target)
    var place = target
    var column = 0
    while place < limit {
      let next = text.place(after: place)
      column += displayWidth(String(text[offsets: place..<next]))
      if column > goal { break }
      place = next
    }
    undoLog.close()
    cursor = place
    goalColumn = goal
    return .editing
  }

  mutating func change(_ command: Command) -> Outcome {
    if command == .transpose { return transpose() }
    let end = text.place(forwardOver: \.isOfWord, from: cursor)
    guard end > cursor else { return .refused }
    let word = text[offsets: cursor..<end]
    let lead = word.prefix { !$0.isOfWord }
    let rest = word.dropFirst(lead.count)
    let changed =
      switch command {
      case .upperCase: rest.uppercased()
      case .lowerCase: rest.lowercased()
      default: rest.prefix(1).uppercased() + rest.dropFirst().lowercased()
      }
    undoLog.close()
    replace(cursor..<end, with: lead + changed)
    return .editing
  }

  private mutating func transpose() -> Outcome {
    // At the end of a line the two before it.
    let middle = cursor == text.lineEnd(of: cursor) ? text.place(before: cursor) : cursor
    let start = text.place(before: middle)
    let end = text.place(after: middle)
    guard start >= text.lineStart(of: cursor), start < middle, middle < end else { return .refused }
    undoLog.close()
    replace(start..<end, with: text[offsets: middle..<end] + String(text[offsets: start..<middle]))
    return .editing
  }
}
