extension EditorState {
  private static let kills: Set<Command> = [
    .killToLineEnd, .killToLineStart, .killWordBackwards, .killBlankWordBackwards, .killWordForwards,
  ]

  mutating func kill(_ command: Command) -> Outcome {
    let range =
      switch command {
      case .killToLineEnd:
        // At the end of a line its end, so that the next line joins it.
        cursor..<max(text.lineEnd(of: cursor), min(text.length, cursor + (isAtLineEnd ? 1 : 0)))
      case .killToLineStart: min(text.lineStart(of: cursor), isAtLineStart ? max(0, cursor - 1) : cursor)..<cursor
      case .killWordBackwards: text.place(backOver: \.isOfWord, from: cursor)..<cursor
      case .killBlankWordBackwards: text.place(backOver: { !$0.isWhitespace }, from: cursor)..<cursor
      default: cursor..<text.place(forwardOver: \.isOfWord, from: cursor)
      }
    guard !range.isEmpty else { return .refused }
    let isBefore = range.upperBound == cursor
    kills.add(
      String(text[offsets: range]), joins: last.map { Self.kills.contains($0) } ?? false, before: isBefore)
    undoLog.close()
    replace(range, with: "")
    return .editing
  }

  private var isAtLineEnd: Bool { text.lineEnd(of: cursor) == cursor }
  private var isAtLineStart: Bool { text.lineStart(of: cursor) == cursor }

  /// Puts in what was cut last; Alt-Y after it, what was cut before that.
  mutating func yank(_ command: Command) -> Outcome {
    undoLog.close()
    if command == .yank {
      guard let cut = kills.newest else { return .refused }
      insert(cut)
      return .editing
    }
    guard last == .yank || last == .yankPop, let put = undoLog.last?.inserted, let cut = kills.next() else {
      return .refused
    }
    replace((cursor - put.length)..<cursor, with: cut)
    return .editing
  }
}
