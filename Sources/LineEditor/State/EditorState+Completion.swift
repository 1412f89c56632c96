extension EditorState {
  /// Several candidates at the cursor, to choose from.
  struct Menu: Sendable {
    let completions: Completions
    /// Which one is shown in the text; nil while one only looks.
    var selected: Int?
  }

  /// What is shown: the text, with the candidate that is selected in its place.
  public var shown: (text: String, cursor: Int) {
    if let found { return (found.text, found.range.lowerBound) }
    guard let menu, let selected = menu.selected else { return (text, cursor) }
    let range = menu.completions.range
    let candidate = menu.completions.candidates[selected].text
    let shown = text[offsets: 0..<range.lowerBound] + candidate + text[offsets: range.upperBound..<text.length]
    return (String(shown), String(shown).boundary(from: range.lowerBound + candidate.length))
  }

  /// Tab: inserts the only candidate, otherwise the common prefix, and opens the menu.
  mutating func complete(_ language: Language) -> Outcome {
    guard let completions = completions(language), let first = completions.candidates.first else { return .refused }
    undoLog.close()
    if completions.candidates.count == 1 {
      guard String(text[offsets: completions.range]) != first.text else { return .refused }
      replace(completions.range, with: first.text)
      return .editing
    }
    let common = completions.candidates.dropFirst().reduce(first.text) { $0.commonPrefix(with: $1.text) }
    // Not the opening quote alone of names that all need one.
    let isWord = common.contains { $0.isLetter || $0.isNumber }
    let isContinued = common.lowercased().hasPrefix(text[offsets: completions.range].lowercased())
    if common.length > completions.range.count, isWord, isContinued { replace(completions.range, with: common) }
    openMenu(language)
    return .editing
  }

  /// Opens the menu if there are candidates.
  mutating func openMenu(_ language: Language) {
    menu = completions(language).map { Menu(completions: $0) }
  }

  /// Nil if nothing fits; a caller's range is clamped to the text, and to whole characters.
  private func completions(_ language: Language) -> Completions? {
    var completions = language.complete(text, cursor)
    let range = completions.range.clamped(to: 0..<text.length)
    completions.range = text.boundary(from: range.lowerBound)..<text.boundary(from: range.upperBound)
    return completions.candidates.isEmpty ? nil : completions
  }

  /// - Returns: Nil if the key closes the menu and then has its usual effect.
  mutating func pressInMenu(_ command: Command?) -> Outcome? {
    guard let menu else { return nil }
    let count = menu.completions.candidates.count
    switch command {
    case .complete, .down, .newer: self.menu?.selected = menu.selected.map { ($0 + 1) % count } ?? 0
    case .completeBackwards, .up, .older:
      self.menu?.selected = menu.selected.map { ($0 + count - 1) % count } ?? (count - 1)
    case .olderLikeThis: self.menu?.selected = max(0, (menu.selected ?? 0) - 8)
    case .newerLikeThis: self.menu?.selected = min(count - 1, (menu.selected ?? 0) + 8)
    case .enter where menu.selected != nil, .right where menu.selected != nil: closeMenu(taking: true)
    case .escape, .abort: closeMenu(taking: false)
    default: return nil
    }
    return .editing
  }

  /// - Parameter taking: Whether what is selected stays.
  mutating func closeMenu(taking: Bool) {
    if taking, let menu, let selected = menu.selected {
      undoLog.close()
      replace(menu.completions.range, with: menu.completions.candidates[selected].text)
      undoLog.close()
    }
    menu = nil
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
