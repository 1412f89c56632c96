extension EditorState {
  /// A search through the history, as it is typed.
  struct Search: Sendable {
    var query = ""
    /// The index of the entry that was found; after the last one if there was no search yet.
    var index: Int
    /// The range in the entry.
    var range: Range<Int> = 0..<0
    /// Whether nothing (more) was found; then what was found last is shown.
    var hasFailed = false
    /// What was looked for the time before.
    let lastQuery: String
  }

  mutating func beginSearch() {
    search = Search(index: history.entries.count, lastQuery: lastQuery)
  }

  /// The result of a search, and the cursor's position in it.
  var found: (text: String, range: Range<Int>)? {
    guard let search, history.entries.indices.contains(search.index) else { return nil }
    return (history.entries[search.index], search.range)
  }

  /// - Returns: Nil if the key ends the search and then has its usual effect.
  mutating func pressInSearch(_ key: Key, _ command: Command?, _ language: Language) -> Outcome? {
    guard var search else { return nil }
    switch (command, key.code) {
    case (.search, _), (.searchForwards, _):
      if search.query.isEmpty { search.query = search.lastQuery }
      let step = command == .search ? -1 : 1
      return look(&search, from: search.index + step, step: step)
    case (.deleteBackwards, _):
      search.query = String(search.query.dropLast())
      search.index = history.entries.count
      search.range = 0..<0
      return look(&search, from: history.entries.count - 1, step: -1)
    case (.abort, _), (.interrupt, _):
      self.search = nil
      return .editing
    case (nil, .text(let text)) where key.modifiers.isEmpty: search.query += text
    case (nil, .paste(let text)): search.query += text.prefix { $0 != "\n" }
    default:
      takeFound()
      return command == .escape ? .editing : nil
    }
    return look(&search, from: min(search.index, history.entries.count - 1), step: -1)
  }

  private mutating func look(_ search: inout Search, from index: Int, step: Int) -> Outcome {
    defer { self.search = search }
    guard !search.query.isEmpty else { return .editing }
    let found = history.find(search.query, from: index, step: step)
    search.hasFailed = found == nil
    guard let found else { return .refused }
    search.index = found.index
    search.range = found.range
    return .editing
  }

  /// Ends the search with what it shows as the text.
  private mutating func takeFound() {
    if let search, let found {
      lastQuery = search.query
      walk.drafts[walk.position] = text
      walk.position = search.index
      show(found.text)
      cursor = found.range.lowerBound
    }
    search = nil
  }
}
