import LineEditor
import Testing

@Suite struct EditingTests {
  @Test(arguments: [
    ("abc", "abc|"), ("abc<left><left>x", "ax|bc"), ("abc<home>x", "x|abc"), ("abc<c-a><c-d>", "|bc"),
    ("abc<back>", "ab|"), ("abc<home><delete>", "|bc"), ("ab cd<word-left>x", "ab x|cd"),
    ("ab cd<a-b><a-b>x", "x|ab cd"),
    ("ab.cd<text-start><a-f>x", "abx|.cd"), ("abc<c-b><c-f><c-b>x", "abx|c"), ("ab<c-t>", "ba|"),
    ("abc<left><c-t>", "acb|"), ("ab cd<home><a-u>", "AB| cd"), ("ab cd<home><a-f><a-c>", "ab Cd|"),
    ("AB<home><a-l>", "ab|"), ("a<back><back>", "|"),
  ])
  func `keys edit`(keys: String, shown: String) {
    #expect(Typist.typed(keys) == shown)
  }

  @Test(arguments: [
    ("e\u{301}<left>x", "x|e\u{301}"), ("ae\u{301}<back>", "a|"), ("👨‍👩‍👧<back>", "|"), ("a🇫🇷b<left><left>x", "ax|🇫🇷b"),
    ("🇫🇷🇩🇪<back>", "🇫🇷|"), ("三島<left>x", "三x|島"), ("e<left><right>\u{301}x", "e\u{301}x|"), ("👍🏽<left><delete>", "|"),
  ])
  func `no key splits what a reader takes for one character`(keys: String, shown: String) {
    #expect(Typist.typed(keys) == shown)
  }

  @Test func `a mark that is typed joins the character before the cursor`() {
    #expect(Typist.typed("eb<left>\u{301}") == "e\u{301}|b")
  }

  @Test(arguments: [
    ("ab cd<c-w>", "ab |"), ("ab c.d<c-w>", "ab |"), ("ab c.d<alt-back>", "ab c.|"), ("ab cd<home><c-k>", "|"),
    ("ab cd<c-u>", "|"), ("ab cd<home><a-d>", "| cd"), ("ab cd<c-w><c-y><c-y>", "ab cdcd|"),
    // Cuts in a row are one.
    ("ab cd<c-w><c-w><c-y>", "ab cd|"), ("ab cd<home><a-d><a-d><c-y>", "ab cd|"),
    // Others are several, and Alt-Y turns the ring.
    ("ab cd<c-w>x<c-w><c-y>", "ab x|"), ("ab cd<c-w>x<c-w><c-y><a-y>", "ab cd|"),
    ("ab cd<c-w>x<c-w><c-y><a-y><a-y>", "ab x|"),
  ])
  func `what is cut can be put in again`(keys: String, shown: String) {
    #expect(Typist.typed(keys) == shown)
  }

  @Test(arguments: [
    ("ab cd<c-_>", "ab|"), ("ab cd<c-_><c-_>", "|"), ("ab cd<c-_><a-_>", "ab cd|"), ("abc<back><back><c-_>", "abc|"),
    ("abc<c-u>x<c-_><c-_>", "abc|"), ("ab<left>x<c-_>", "a|b"), ("abc<c-_>x<a-_>", "x|"), ("ab<c-x><c-u>", "|"),
  ])
  func `editing is taken back and done again`(keys: String, shown: String) {
    #expect(Typist.typed(keys) == shown)
  }

  @Test(arguments: 0..<100) func `everything can be taken back, and done again`(seed: UInt64) {
    var random = Seeded(seed)
    let pool = [
      "a", "é", "三", "🇫🇷", "\u{301}", " ", "<left>", "<right>", "<home>", "<back>", "<delete>", "<c-w>", "<c-k>",
      "<c-y>",
      "<a-y>", "<c-t>", "<alt-enter>", "<word-left>", "<a-u>", "<up>", "<down>", "<c-u>", "<c-r>a<esc>", "<tab>",
    ]
    let language = Language(complete: { text, place in .init(0..<min(place, 1), [.init("ab"), .init("ac")]) })
    var typist = Typist(history: ["one", "two\nthree"], language: language)
    for _ in 0..<60 {
      typist.type(pool.randomElement(using: &random) ?? "a")
      let cursor = typist.state.cursor
      #expect((0...typist.state.text.utf8.count).contains(cursor))
      var places: Set<Int> = [0]
      var place = 0
      for character in typist.state.text {
        place += character.utf8.count
        places.insert(place)
      }
      #expect(places.contains(cursor), "seed \(seed)")
    }
    typist.type("<esc>")
    let end = typist.state.text
    for _ in 0..<200 { typist.type("<c-_>") }
    #expect(typist.state.text == "", "seed \(seed)")
    for _ in 0..<200 { typist.type("<a-_>") }
    #expect(typist.state.text == end, "seed \(seed)")
  }

  // MARK: Lines

  private let statements = Language(isComplete: { $0.hasSuffix(";") })

  @Test func `Enter begins a new line until the text is complete`() {
    var typist = Typist(language: statements)
    typist.type("select<enter>  1<enter>;")
    #expect(typist.shown == "select\n  1\n  ;|")
    typist.type("<enter>")
    #expect(typist.outcomes == [.entered("select\n  1\n  ;")])
  }

  @Test func `Alt-Enter always begins a new line`() {
    var typist = Typist()
    typist.type("a<alt-enter>b")
    #expect(typist.shown == "a\nb|")
    #expect(typist.outcomes.isEmpty)
  }

  @Test(arguments: [
    ("<up>x", "abc\ndex|\nghi", "abc\nde\nghi"), ("<up><up>x", "abcx|\nde\nghi", "abc\nde\nghi"),
    ("<up><up><down><down>x", "abc\nde\nghix|", "abc\nde\nghi"),
    // Counted in cells, as one sees it.
    ("<up>x", "三x|島\nab", "三島\nab"),
  ])
  func `Up and Down keep to their column`(keys: String, shown: String, text: String) {
    #expect(Typist.typed(keys, text) == shown)
  }

  @Test func `Home, End and cutting keep to the line`() {
    #expect(Typist.typed("<home>x", "ab\ncd") == "ab\nx|cd")
    #expect(Typist.typed("<up><end>x", "ab\ncd") == "abx|\ncd")
    #expect(Typist.typed("<c-u>", "ab\ncd") == "ab\n|")
    #expect(Typist.typed("<c-u><c-u>", "ab\ncd") == "ab|")
    #expect(Typist.typed("<up><c-k>", "ab\ncd") == "ab|cd")
  }

  @Test func `a paste never runs, whatever it holds`() {
    var typist = Typist()
    typist.paste("delete from book;\nselect 1;\n")
    #expect(typist.outcomes.isEmpty)
    #expect(typist.shown == "delete from book;\nselect 1;\n|")
    typist.type("<c-_>")
    #expect(typist.shown == "|")
  }

  @Test func `Control keys say what the caller is to do`() {
    var typist = Typist()
    typist.type("<c-d>a<home><c-d><c-c><c-z><c-l><c-x><c-e><left>")
    #expect(typist.outcomes == [.left, .interrupted, .suspended, .clearedScreen, .wantsEditor, .refused])
  }
}
