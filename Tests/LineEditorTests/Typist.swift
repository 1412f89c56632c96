import LineEditor

/// A state that keys are pressed on, in the notation of the tests: plain characters are typed, `<…>` is a key.
struct Typist {
  var state: EditorState
  var language = Language()
  /// What each key came to that was more than editing.
  private(set) var outcomes: [EditorState.Outcome] = []

  init(_ text: String = "", history: [String] = [], language: Language = Language()) {
    state = EditorState(text, history: History(history))
    self.language = language
  }

  static let names: [String: Key] = [
    "enter": Key(.enter), "alt-enter": Key(.enter, .alt), "tab": Key(.tab), "backtab": Key(.tab, .shift),
    "esc": Key(.escape), "up": Key(.up), "down": Key(.down), "left": Key(.left), "right": Key(.right),
    "home": Key(.home), "end": Key(.end), "pageup": Key(.pageUp), "pagedown": Key(.pageDown),
    "back": Key(.backspace), "delete": Key(.delete), "word-left": Key(.left, .control),
    "word-right": Key(.right, .control), "alt-back": Key(.backspace, .alt), "text-start": Key(.home, .control),
    "oldest": .alt("<"), "newest": .alt(">"),
  ]

  /// Such as `select<left><left>x<c-k><a-b>`: `c-` is Control, `a-` Alt.
  mutating func type(_ text: String) {
    // By scalars: a mark behind a key in brackets is typed by itself.
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "<", let end = rest.firstIndex(of: ">") else {
        press(.text(String(scalar)))
        continue
      }
      let name = String(rest[..<end])
      rest = rest[rest.index(after: end)...]
      if let key = Self.names[name] {
        press(key)
      } else if name.hasPrefix("c-") {
        press(.control(String(name.dropFirst(2))))
      } else {
        press(.alt(String(name.dropFirst(2))))
      }
    }
  }

  mutating func paste(_ text: String) { press(Key(.paste(text))) }

  mutating func press(_ key: Key) {
    let outcome = state.press(key, language)
    if outcome != .editing { outcomes.append(outcome) }
  }

  /// What is shown, a bar at the cursor.
  var shown: String {
    let (text, cursor) = state.shown
    let bytes = Array(text.utf8)
    return String(decoding: bytes[..<cursor], as: UTF8.self) + "|" + String(decoding: bytes[cursor...], as: UTF8.self)
  }
}

extension Typist {
  /// What is shown after these keys.
  static func typed(_ keys: String, _ text: String = "", history: [String] = [], language: Language = Language())
    -> String
  {
    var typist = Typist(text, history: history, language: language)
    typist.type(keys)
    return typist.shown
  }
}
