import LineEditor
import Testing

@Suite struct HistoryTests {
  private let entries = ["select 1", "Book where\n  year > 1960", "select Title from book", "count Book"]

  private func typed(_ keys: String) -> String { Typist.typed(keys, history: entries) }

  @Test(arguments: [
    ("<up>", "count Book|"), ("<up><up>", "select Title from book|"), ("<up><up><down>", "count Book|"),
    ("ab<up><down>", "ab|"), ("<up><up><up>", "Book where\n  year > 1960|"),
    // Within an entry of two lines first, then on.
    ("<up><up><up><up>x", "Book wherex|\n  year > 1960"),
    ("<up><up><up><up><up>", "select 1|"), ("<up><up><up><up><up><up>", "select 1|"),
    ("<c-p><c-p><c-n>", "count Book|"),
    ("<oldest>", "select 1|"), ("<oldest><newest>", "|"), ("x<down>", "x|"),
  ])
  func `Up and Down walk through it`(keys: String, shown: String) {
    #expect(typed(keys) == shown)
  }

  @Test func `what was changed in an entry is there while one walks, and not afterwards`() {
    var typist = Typist(history: entries)
    typist.type("<up>s<up><down>")
    #expect(typist.shown == "count Books|")
    #expect(typist.state.history.entries == entries)
    typist.type("<a-r>")
    #expect(typist.shown == "count Book|")
  }

  @Test func `Page Up finds what begins alike`() {
    #expect(typed("sel<pageup>") == "sel|ect Title from book")
    #expect(typed("sel<pageup><pageup>") == "sel|ect 1")
    #expect(typed("sel<pageup><pageup><pageup>") == "sel|ect 1")
    #expect(typed("sel<pageup><pageup><pagedown><pagedown>") == "sel|")
  }

  @Test(arguments: [
    ("<c-r>sel", "|select Title from book"), ("<c-r>sel<c-r>", "|select 1"),
    ("<c-r>sel<c-r><c-s>", "|select Title from book"),
    ("<c-r>year<esc>x", "Book where\n  x|year > 1960"), ("<c-r>title", "select |Title from book"),
    // A large letter is only itself.
    ("<c-r>Book", "count |Book"), ("<c-r>book", "count |Book"), ("<c-r>bOok", "count |Book"),
    ("<c-r>selz", "|select Title from book"), ("<c-r>selz<back>", "|select Title from book"),
    ("ab<c-r>sel<c-g>", "ab|"), ("ab<c-r>sel<c-c>", "ab|"), ("<c-r>sel<right>x", "sx|elect Title from book"),
    ("<c-r>sel<esc><c-r><c-r>", "|select Title from book"), ("<c-r>year<esc><up>x", "Box|ok where\n  year > 1960"),
  ])
  func `Ctrl-R searches`(keys: String, shown: String) {
    #expect(typed(keys) == shown)
  }

  @Test func `Enter runs what a search found`() {
    var typist = Typist(history: entries)
    typist.type("<c-r>sel<c-r><enter>")
    #expect(typist.outcomes == [.entered("select 1")])
    typist.type("<c-g>")
    typist.type("<c-r>nothing<enter>")
    #expect(typist.outcomes.contains(.refused))
  }

  @Test func `entries are kept once in a row, and blank ones never`() {
    var history = History(most: 3)
    let added = ["a", "a", " \n", "b", "c", "a"].map { history.add($0) }
    #expect(added == [true, false, false, true, true, true])
    #expect(history.entries == ["b", "c", "a"])
  }

  // MARK: Hints

  @Test(arguments: [
    ("co<right>", "count Book|"), ("co<end>", "count Book|"), ("co<word-right>", "count|"),
    ("co<left><right>x", "cox|"), ("zz<right>", "zz|"), ("<right>", "|"),
  ])
  func `the gray hint is taken with the right arrow`(keys: String, shown: String) {
    #expect(typed(keys) == shown)
  }

  @Test func `the caller's hint comes before the history's`() {
    let language = Language(hint: { $0 == "co" ? "lumns" : nil })
    #expect(Typist.typed("co<right>", history: entries, language: language) == "columns|")
    #expect(Typist.typed("cou<right>", history: entries, language: language) == "count Book|")
  }

  @Test func `a hint never splits a character`() {
    #expect(Typist.typed("e<right>", history: ["e\u{301}a"]) == "e|")
  }
}
