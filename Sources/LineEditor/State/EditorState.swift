/// A text being edited: keys in, what is to be shown out.
///
/// A value without a terminal. Places are offsets into the text's UTF-8, always between two characters as a reader
/// counts them, so that no key splits a letter from its marks.
public struct EditorState: Sendable {
  public internal(set) var text = ""
  public internal(set) var cursor = 0
  public var history: History

  var undoLog = UndoLog()
  var kills = KillRing()
  var walk: Walk
  var menu: Menu?
  var search: Search?
  /// What was looked for last.
  var lastQuery = ""
  /// The previous command: some commands have another effect when repeated.
  var last: Command?
  /// The column that Up and Down keep to, while they follow one another.
  var goalColumn: Int?
  private var isPrefixed = false

  /// What a key came to.
  public enum Outcome: Hashable, Sendable {
    /// Editing continues.
    case editing
    /// Nothing could be done.
    case refused
    /// Enter, with a text that is complete.
    case entered(String)
    /// Ctrl-C.
    case interrupted
    /// Ctrl-D without text.
    case left
    /// Ctrl-Z.
    case suspended
    /// Ctrl-L.
    case clearedScreen
    /// Ctrl-X Ctrl-E.
    case wantsEditor
  }

  public init(_ text: String = "", history: History = History()) {
    self.text = text
    self.history = history
    cursor = text.length
    walk = Walk(position: history.entries.count)
  }

  /// Takes one key.
  public mutating func press(_ key: Key, _ language: Language) -> Outcome {
    let command = command(of: key)
    if search != nil, let outcome = pressInSearch(key, command, language) { return outcome }
    var narrows = false
    if menu != nil {
      if let outcome = pressInMenu(command) { return outcome }
      narrows = menu?.selected == nil && (key.isTyped || command == .deleteBackwards)
      closeMenu(taking: true)
    }
    defer { last = command }
    if command != .up, command != .down { goalColumn = nil }
    if let command { return perform(command, language) }
    switch key.code {
    case .text(let text) where key.modifiers.isEmpty: insert(text)
    case .paste(let text):
      undoLog.close()
      insert(text)
      undoLog.close()
    default: return .refused
    }
    if narrows { openMenu(language) }
    return .editing
  }

  private mutating func command(of key: Key) -> Command? {
    let command = (isPrefixed ? Command.prefixedKeys : Command.keys).first { $0.key == key }?.value
    isPrefixed = command == .prefix
    return command
  }

  private mutating func perform(_ command: Command, _ language: Language) -> Outcome {
    switch command {
    case .enter: return enter(language)
    case .newline: newline()
    case .complete: return complete(language)
    case .escape, .abort, .prefix, .completeBackwards: break
    case .left, .right, .wordLeft, .wordRight, .lineStart, .lineEnd, .textStart, .textEnd:
      return move(command, language)
    case .up, .down: return moveLine(by: command == .up ? -1 : 1)
    case .older, .newer, .olderLikeThis, .newerLikeThis, .oldest, .newest, .revert: return walk(command)
    case .deleteOrLeave where text.isEmpty: return .left
    case .deleteBackwards, .deleteForwards, .deleteOrLeave: return delete(command)
    case .killToLineEnd, .killToLineStart, .killWordBackwards, .killBlankWordBackwards, .killWordForwards:
      return kill(command)
    case .yank, .yankPop: return yank(command)
    case .transpose, .upperCase, .lowerCase, .capitalize: return change(command)
    case .undo, .redo: return takeBack(command)
    case .search, .searchForwards: beginSearch()
    case .clearScreen: return .clearedScreen
    case .suspend: return .suspended
    case .interrupt: return .interrupted
    case .openEditor: return .wantsEditor
    }
    return .editing
  }

  // MARK: Editing

  /// The one way the text changes: by replacing a piece of it.
  mutating func replace(_ range: Range<Int>, with new: String) {
    guard !range.isEmpty || !new.isEmpty else { return }
    let removed = String(text[offsets: range])
    undoLog.add(.init(place: range.lowerBound, removed: removed, inserted: new, cursor: cursor))
    put(new, at: range)
  }

  private mutating func put(_ new: String, at range: Range<Int>) {
    text.replaceSubrange(text.index(range.lowerBound)..<text.index(range.upperBound), with: new)
    cursor = text.boundary(from: range.lowerBound + new.length)
  }

  mutating func insert(_ new: String) { replace(cursor..<cursor, with: new) }

  private mutating func newline() {
    let line = text[offsets: text.lineStart(of: cursor)..<cursor]
    undoLog.close()
    insert("\n" + line.prefix { $0 == " " || $0 == "\t" })
  }

  private mutating func enter(_ language: Language) -> Outcome {
    if language.isComplete(text) { return .entered(text) }
    newline()
    return .editing
  }

  private mutating func delete(_ command: Command) -> Outcome {
    let range =
      command == .deleteBackwards ? text.place(before: cursor)..<cursor : cursor..<text.place(after: cursor)
    guard !range.isEmpty else { return .refused }
    replace(range, with: "")
    return .editing
  }

  private mutating func takeBack(_ command: Command) -> Outcome {
    if command == .undo {
      guard let edit = undoLog.undo() else { return .refused }
      put(edit.removed, at: edit.place..<(edit.place + edit.inserted.length))
      cursor = text.boundary(from: edit.cursor)
    } else {
      guard let edit = undoLog.redo() else { return .refused }
      put(edit.inserted, at: edit.place..<(edit.place + edit.removed.length))
    }
    return .editing
  }
}

extension Key {
  /// Whether it is a printable character.
  var isTyped: Bool {
    if case .text = code { return modifiers.isEmpty }
    return false
  }
}
