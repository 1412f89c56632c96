import LineEditor
import PseudoTerminal
import Testing

@testable import struct LineEditor.Frame
@testable import struct LineEditor.Painter

@Suite struct FrameTests {
  /// The screen that a state is drawn on, a bar at the cursor.
  private func drawn(
    _ typist: Typist, columns: Int = 20, rows: Int = 8, above: [String] = [], isEditing: Bool = true
  ) -> [String] {
    var screen = VirtualScreen(Size(columns: columns, rows: rows))
    var painter = Painter()
    let setting = Frame.Setting(
      prompt: Prompt("lib› "), size: screen.size, above: above, isEditing: isEditing)
    screen.write(painter.draw(Frame(typist.state, typist.language, setting), columns: columns))
    #expect(screen.unknown.isEmpty)
    return marked(screen)
  }

  private func marked(_ screen: VirtualScreen) -> [String] {
    var lines = screen.lines
    while lines.count <= screen.cursor.row { lines.append("") }
    var line = ""
    var column = 0
    for character in lines[screen.cursor.row] {
      if column == screen.cursor.column { line += "|" }
      line.append(character)
      column += displayWidth(character)
    }
    if screen.cursor.column >= column {
      line += String(repeating: " ", count: screen.cursor.column - column) + "|"
    }
    lines[screen.cursor.row] = line
    return lines
  }

  @Test func `the cursor stands where the next character comes`() {
    #expect(drawn(Typist("abc")) == ["lib› abc|"])
    #expect(drawn(Typist()) == ["lib› |"])
    #expect(drawn(Typist("三島")) == ["lib› 三島|"])
  }

  @Test func `further lines have a prompt of their own`() {
    #expect(drawn(Typist("ab\ncd\n")) == ["lib› ab", "   · cd", "   · |"])
  }

  @Test func `text wraps at the right edge, and the cursor with it`() {
    #expect(drawn(Typist("0123456789abcde")) == ["lib› 0123456789abcde", "|"])
    #expect(drawn(Typist("0123456789abcdef")) == ["lib› 0123456789abcde", "f|"])
    #expect(drawn(Typist("0123456789abcd三")) == ["lib› 0123456789abcd", "三|"])
    #expect(drawn(Typist("0123456789abcde\nx")) == ["lib› 0123456789abcde", "", "   · x|"])
  }

  @Test func `flags, families and marks stand whole in their cells`() {
    #expect(drawn(Typist("🇫🇷e\u{301}👨‍👩‍👧x"), columns: 12) == ["lib› 🇫🇷e\u{301}👨‍👩‍👧x|"])
    #expect(drawn(Typist("🇫🇷🇫🇷🇫🇷🇫🇷"), columns: 12) == ["lib› 🇫🇷🇫🇷🇫🇷", "🇫🇷|"])
  }

  @Test func `what controls the terminal is shown as a sign`() {
    #expect(drawn(Typist("a\u{1B}[2J\u{202E}b")) == ["lib› a␛[2J\u{FFFD}b|"])
    #expect(drawn(Typist("a\tb")) == ["lib› a  b|"])
  }

  @Test func `what is above stands there while one types, cut at the edge`() {
    let above = ["\u{1B}[1mid  title\u{1B}[0m", String(repeating: "x", count: 50)]
    #expect(
      drawn(Typist("ab"), above: above) == ["id  title", String(repeating: "x", count: 20), "lib› ab|"])
    #expect(drawn(Typist("ab"), rows: 2, above: above) == ["id  title", "lib› ab|"])
  }

  @Test func `a text higher than the screen is shown around the cursor`() {
    let text = (1...20).map { "line \($0)" }.joined(separator: "\n")
    #expect(drawn(Typist(text), rows: 4) == ["   · line 17", "   · line 18", "   · line 19", "   · line 20|"])
    var typist = Typist(text)
    typist.type("<text-start>")
    #expect(drawn(typist, rows: 4) == ["lib› |line 1", "   · line 2", "   · line 3", "   · line 4"])
    #expect(drawn(typist, rows: 1) == ["lib› |line 1"])
  }

  @Test func `the menu stands below, and says how much more there is`() {
    var typist = Typist(language: CompletionTests.words("book", "books", "bookshop"))
    typist.type("b<tab><down>")
    #expect(drawn(typist) == ["lib› book|", "› book      a word", "  books     a word", "  bookshop  a word"])
    #expect(drawn(typist, rows: 3) == ["lib› book|", "› book      a word", "  1 to 1 of 3"])
    #expect(drawn(typist, isEditing: false) == ["lib› book|"])
  }

  @Test func `a long menu moves with what is selected`() {
    let words = (10..<40).map { "w\($0)" }
    var typist = Typist(language: Language(complete: { _, place in .init(0..<place, words.map { .init($0) }) }))
    typist.type("w<tab>" + String(repeating: "<down>", count: 12))
    #expect(
      drawn(typist, rows: 5) == ["lib› w21|", "  w20", "› w21", "  w22", "  11 to 13 of 30"])
  }

  @Test func `a search shows what it looks for in place of the prompt`() {
    var typist = Typist(history: ["select 1", "count"])
    typist.type("<c-r>lec")
    #expect(drawn(typist) == ["search ‘lec’› se|lect", " 1"])
    typist.type("x")
    #expect(drawn(typist, columns: 40) == ["no more ‘lecx’› se|lect 1"])
  }

  @Test func `the hint stands behind the cursor, its further lines as dots`() {
    #expect(drawn(Typist("co", history: ["count Book"])) == ["lib› co|unt Book"])
    #expect(drawn(Typist("co", history: ["count\nBook"])) == ["lib› co|unt …"])
    #expect(drawn(Typist("co", history: ["count Book"]), isEditing: false) == ["lib› co|"])
  }

  @Test func `the narrowest terminal holds`() {
    for columns in 1...6 {
      for rows in 1...3 {
        let lines = drawn(Typist("三a\nb", history: []), columns: columns, rows: rows, above: ["above"])
        #expect(lines.count <= rows)
      }
    }
  }

  @Test func `spans color the text, and brackets show their partners`() {
    let language = Language(highlight: { text in
      text.hasPrefix("select") ? [Span(0..<6, .blue), Span(7..<10, .green, isLiteral: true)] : []
    })
    var screen = VirtualScreen(Size(columns: 40, rows: 4))
    var painter = Painter()
    func draw(_ text: String) {
      let setting = Frame.Setting(prompt: Prompt("› ", style: .plain), size: screen.size)
      screen.write(painter.draw(Frame(EditorState(text), language, setting), columns: 40))
    }
    func pieces() -> [String] { screen.styles(row: 0).map { "\($0.text) \($0.style)" } }
    draw("select '('")
    #expect(pieces() == ["select [34]", "'(' [32]"])
    draw("(a[0])")
    #expect(pieces() == ["( [1, 4]", ") [1, 4]"])
    draw("select '(')")
    #expect(pieces() == ["select [34]", "'(' [32]"])
    draw("(a]")
    #expect(pieces().isEmpty)
  }

  // MARK: Frames over one another

  @Test(arguments: 0..<150) func `a frame over others is as the same frame on an empty screen`(seed: UInt64) {
    var random = Seeded(seed)
    let pool = [
      "a", "b", "三", " ", "<left>", "<home>", "<back>", "<c-w>", "<alt-enter>", "<up>", "<down>", "<tab>", "<esc>",
      "<c-r>",
      "<c-u>", "<c-_>", "🇫🇷", "0123456789",
    ]
    let size = Size(columns: Int.random(in: 8...24, using: &random), rows: Int.random(in: 2...9, using: &random))
    var typist = Typist(history: ["ab", "a\nb"], language: CompletionTests.words("a", "ab", "b", "bb"))
    var screen = VirtualScreen(size)
    screen.write("before\r\n")
    var painter = Painter()
    for step in 0..<40 {
      typist.type(pool.randomElement(using: &random) ?? "a")
      let above = Bool.random(using: &random) ? ["one", "two"] : []
      let setting = Frame.Setting(prompt: Prompt("lib› "), size: size, above: above)
      let frame = Frame(typist.state, typist.language, setting)
      screen.write(painter.draw(frame, columns: size.columns))
      var fresh = VirtualScreen(size)
      var other = Painter()
      fresh.write(other.draw(frame, columns: size.columns))
      let all = screen.lines + Array(repeating: "", count: size.rows - screen.lines.count)
      let top = screen.cursor.row - frame.cursorRow
      var below = Array(all[top...])
      while below.last == "" { below.removeLast() }
      #expect(below == fresh.lines, "seed \(seed), step \(step)")
      #expect(screen.cursor.column == fresh.cursor.column, "seed \(seed), step \(step)")
      #expect((screen.scrolledOff + all).contains("before"), "seed \(seed), step \(step)")
      #expect(!screen.isCursorHidden && screen.unknown.isEmpty)
    }
  }

  @Test func `rows that stay are not written again`() {
    var painter = Painter()
    let setting = Frame.Setting(prompt: Prompt("› "), size: Size(columns: 40, rows: 9), above: ["pinned above"])
    _ = painter.draw(Frame(EditorState("ab"), Language(), setting), columns: 40)
    let text = painter.draw(Frame(EditorState("abc"), Language(), setting), columns: 40)
    #expect(!text.contains("pinned"))
    #expect(text.contains("abc"))
  }
}
