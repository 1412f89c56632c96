/// The screen's content while a line is edited: rows, and a cursor.
struct Frame: Hashable, Sendable {
  var rows: [Rows.Row]
  var cursorRow: Int
  var cursorColumn: Int

  /// What a frame is made of besides the text itself.
  struct Setting {
    var prompt: Prompt
    /// Rows and columns of the terminal.
    var size: Size
    /// Rows above the prompt, with their styles.
    var above: [String] = []
    var usesColor = true
    /// Whether editing continues: an entered text shows neither menu nor hint.
    var isEditing = true
  }

  init(_ state: EditorState, _ language: Language, _ setting: Setting) {
    let shown = state.shown
    let columns = max(1, setting.size.columns)
    var painted = Rows(columns: columns)
    let prompt = state.search.map { Self.prompt(of: $0) } ?? setting.prompt
    let lines = Self.paint(shown, state, language, setting, prompt, on: &painted)
    cursorRow = lines.row
    cursorColumn = lines.column
    rows = painted.finish()
    let most = max(1, setting.size.rows)
    let menu = setting.isEditing ? Self.menu(state, setting, room: most - min(rows.count, most)) : []
    fit(most - menu.count)
    rows += menu
    // Pinned rows make room for the text and the menu.
    let above = setting.above.prefix(max(0, most - rows.count)).map { Rows.Row($0, columns: columns) }
    rows = above + rows
    cursorRow += above.count
  }

  /// Keeps so many rows of the text that the cursor is among them.
  private mutating func fit(_ room: Int) {
    let room = max(1, room)
    guard rows.count > room else { return }
    let first = min(max(0, cursorRow - room / 2), rows.count - room)
    rows = Array(rows[first..<(first + room)])
    cursorRow -= first
  }

  /// Lines by themselves, the cursor on the last; what does not fit is left out at the top.
  init(lines: [String], size: Size) {
    rows = lines.suffix(max(1, size.rows)).map { Rows.Row($0, columns: max(1, size.columns)) }
    cursorRow = max(0, rows.count - 1)
    cursorColumn = 0
  }

  // MARK: Text

  private static func prompt(of search: EditorState.Search) -> Prompt {
    let state = search.hasFailed ? "no more " : "search "
    return Prompt("\(state)‘\(search.query)’› ", style: search.hasFailed ? .yellow : .cyan)
  }

  /// - Returns: The position of the cursor.
  private static func paint(
    _ shown: (text: String, cursor: Int), _ state: EditorState, _ language: Language, _ setting: Setting,
    _ prompt: Prompt, on rows: inout Rows
  ) -> (row: Int, column: Int) {
    let styles = setting.usesColor ? styles(shown, state, language, setting) : []
    rows.append(prompt.first, setting.usesColor ? prompt.style : .plain)
    var cursor: (row: Int, column: Int)?
    var offset = 0
    for character in shown.text {
      let place = rows.append(character, styles.isEmpty ? .plain : styles[offset])
      if offset == shown.cursor { cursor = place }
      if character == "\n" { rows.append(prompt.rest, setting.usesColor ? prompt.style : .plain) }
      offset += character.utf8.count
    }
    let place = cursor ?? rows.endPlace()
    if setting.isEditing, let hint = state.hint(language) {
      let line = hint.prefix { $0 != "\n" }
      rows.append(String(line) + (line.count < hint.count ? " …" : ""), setting.usesColor ? .dim : .plain)
    }
    return place
  }

  /// The style at each offset.
  private static func styles(
    _ shown: (text: String, cursor: Int), _ state: EditorState, _ language: Language, _ setting: Setting
  ) -> [Style] {
    let length = shown.text.length
    var styles = [Style](repeating: .plain, count: length + 1)
    let spans = language.highlight(shown.text)
    func dress(_ range: Range<Int>, _ style: (Style) -> Style) {
      for offset in range.clamped(to: 0..<length) { styles[offset] = style(styles[offset]) }
    }
    for span in spans { dress(span.range) { _ in span.style } }
    if let found = state.found { dress(found.range) { $0.and(.reverse) } }
    if setting.isEditing, state.search == nil,
      let pair = BracketPair(in: shown.text, cursor: shown.cursor, spans: spans)
    {
      dress(pair.first..<(pair.first + 1)) { $0.and(.bold).and(.underlined) }
      dress(pair.second..<(pair.second + 1)) { $0.and(.bold).and(.underlined) }
    }
    return styles
  }

  // MARK: Menu

  /// The most candidates at once.
  private static let menuHeight = 8

  /// One row for each candidate around the selected one, and a last row if there are more.
  private static func menu(_ state: EditorState, _ setting: Setting, room: Int) -> [Rows.Row] {
    guard let menu = state.menu, room > 1 else { return [] }
    let candidates = menu.completions.candidates
    let isLong = candidates.count > min(menuHeight, room)
    let height = isLong ? min(menuHeight, room - 1) : candidates.count
    let first = min(max(0, (menu.selected ?? 0) - height / 2), candidates.count - height)
    let width = min(candidates.map { displayWidth($0.text) }.max() ?? 0, setting.size.columns / 2)
    var rows = candidates[first..<(first + height)].enumerated().map { index, candidate in
      let isSelected = first + index == menu.selected
      var row = Rows(columns: setting.size.columns)
      let text = cut(candidate.text, to: width)
      let space = String(repeating: " ", count: width - displayWidth(text))
      // The selection must be visible without color, too.
      row.append(
        (isSelected ? "› " : "  ") + text + space, isSelected && setting.usesColor ? .reverse : .plain)
      let detail = cut("  " + candidate.detail, to: max(0, setting.size.columns - width - 3))
      row.append(detail, setting.usesColor ? .dim : .plain)
      return row.finish()[0]
    }
    if isLong {
      var row = Rows(columns: setting.size.columns)
      let place = "  \(first + 1) to \(first + height) of \(candidates.count)"
      row.append(cut(place, to: setting.size.columns), setting.usesColor ? .dim : .plain)
      rows.append(row.finish()[0])
    }
    return rows
  }

  private static func cut(_ text: String, to width: Int) -> String {
    guard displayWidth(text) > width else { return text }
    var result = ""
    var used = 0
    for character in text {
      used += displayWidth(character)
      if used > width - 1 { break }
      result.append(character)
    }
    return width > 0 ? result + "…" : ""
  }
}

/// The text before the first line, and before further lines.
public struct Prompt: Hashable, Sendable {
  public var first: String
  public var rest: String
  public var style: Style

  /// - Parameter rest: By default as wide as `first`, with dots at its end.
  public init(_ first: String, rest: String? = nil, style: Style = .bold) {
    self.first = first
    let width = displayWidth(first)
    self.rest = rest ?? (width < 2 ? "" : String(repeating: " ", count: width - 2) + "· ")
    self.style = style
  }
}

/// Of a terminal, in cells.
public struct Size: Hashable, Sendable {
  public var columns: Int
  public var rows: Int

  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }
}
