import LineEditor
import QuireShell

/// Shows a long result one screen at a time, without running anything again.
///
/// Space and `b` turn pages, arrows move by lines, `g` and `G` go to the ends, `/` searches for text and `n` for its
/// next occurrence; `q` returns to the prompt, and leaves the last screen visible.
struct Pager {
  /// How many of the first `lines` stay fixed above the scrolled ones.
  let headerHeight: Int
  let count: Int
  let footer: String
  /// Whether the last lines are shown first.
  var beginsAtEnd = false
  /// The header and the lines in a range, made when they are wanted.
  let lines: (Range<Int>) -> [String]

  /// The visible position, and the search text.
  private struct Place {
    var top = 0
    var sought = ""
    /// Whether what is typed is looked for.
    var isTyping = false
    var found: Int?
  }

  func run(_ editor: Editor, _ paint: Paint) {
    var place = Place()
    if beginsAtEnd { place.top = count }
    while true {
      let height = max(1, editor.size.rows - 2 - headerHeight)
      place.top = min(max(0, place.top), max(0, count - height))
      draw(place, height, editor, paint)
      switch editor.next() {
      case .key(.control("z")): editor.suspend()
      case .key(let key) where place.isTyping: look(key, &place)
      case .key(.text("q")), .key(Key(.escape)), .key(.control("c")), .key(.control("d")), .interrupted, .closed:
        return end(place, height, editor, paint)
      case .key(let key): move(key, height, &place)
      case .rung, .resized, .resumed, .timedOut: continue
      }
    }
  }

  private func move(_ key: Key, _ height: Int, _ place: inout Place) {
    switch key {
    case .text(" "), .text("f"), Key(.pageDown), .control("v"), .control("f"): place.top += height
    case .text("b"), Key(.pageUp), .alt("v"), .control("b"): place.top -= height
    case Key(.down), Key(.enter), .text("j"), .control("n"): place.top += 1
    case Key(.up), .text("k"), .control("p"): place.top -= 1
    case .text("g"), Key(.home), .alt("<"): place.top = 0
    case .text("G"), Key(.end), .alt(">"): place.top = count
    case .text("/"):
      place.isTyping = true
      place.sought = ""
    case .text("n"): find(from: (place.found ?? place.top - 1) + 1, &place)
    default: break
    }
  }

  private func look(_ key: Key, _ place: inout Place) {
    switch key.code {
    case .enter:
      place.isTyping = false
      find(from: place.top, &place)
    case .backspace where !place.sought.isEmpty: place.sought.removeLast()
    case .text(let text) where key.modifiers.isEmpty: place.sought += text
    case .paste(let text): place.sought += text.prefix { $0 != "\n" }
    default: place.isTyping = false
    }
  }

  /// Goes to the next line that holds what is sought, in letters of any size, a thousand lines at a time.
  private func find(from start: Int, _ place: inout Place) {
    let sought = place.sought.lowercased()
    guard !sought.isEmpty else { return }
    var index = start
    while index < count {
      let end = min(count, index + 1000)
      if let offset = lines(index..<end).dropFirst(headerHeight).firstIndex(where: { $0.lowercased().contains(sought) })
      {
        place.found = index + offset - headerHeight
        place.top = index + offset - headerHeight
        return
      }
      index = end
    }
    place.found = nil
  }

  // MARK: Drawing

  private func shown(_ place: Place, _ height: Int) -> [String] {
    lines(place.top..<min(count, place.top + height))
  }

  private func draw(_ place: Place, _ height: Int, _ editor: Editor, _ paint: Paint) {
    let rows = "\((place.top + 1).grouped) to \(min(count, place.top + height).grouped) of \(count.grouped)"
    let help = "space more · b back · / find · q end"
    let status = place.isTyping ? "find: " + printable(place.sought) : paint("\(rows) · \(help)", .dim)
    editor.show(shown(place, height) + [status])
  }

  private func end(_ place: Place, _ height: Int, _ editor: Editor, _ paint: Paint) {
    let end = wrapped(footer, to: editor.size.columns).map { paint($0, .dim) }
    editor.show(shown(place, height).dropLast(end.count - 1) + end)
    editor.finishShowing(keeping: true)
  }
}
