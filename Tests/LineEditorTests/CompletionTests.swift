import LineEditor
import Testing

@Suite struct CompletionTests {
  /// Words that begin as the word at the cursor does.
  static func words(_ words: String...) -> Language {
    Language(complete: { text, place in
      let before = text.utf8.prefix(place).reversed().prefix { $0 != 32 && $0 != 46 }.reversed()
      let start = String(decoding: before, as: UTF8.self)
      return Completions(
        (place - before.count)..<place, words.filter { $0.hasPrefix(start) }.map { .init($0, "a word") })
    })
  }

  private let books = words("book", "books", "bookshop", "author", "三島")

  private func typed(_ keys: String) -> String { Typist.typed(keys, language: books) }

  @Test(arguments: [
    ("a<tab>", "author|"), ("b<tab>", "book|"), ("x b<tab>", "x book|"), ("z<tab>", "z|"), ("三<tab>", "三島|"),
    ("b<tab><tab>", "book|"), ("b<tab><tab><tab>", "books|"), ("b<tab><backtab>", "bookshop|"),
    ("b<tab><down><down><down>", "bookshop|"), ("b<tab><down><down><down><down>", "book|"),
    ("b<tab><up><up>", "books|"),
    ("b<tab><down><down><enter>.", "books.|"), ("b<tab><down><down>.", "books.|"),
    ("b<tab><down><down><right>x", "booksx|"),
    ("b<tab><down><down><esc>", "book|"), ("b<tab><down><down><c-g>x", "bookx|"), ("b<tab>s<tab>", "books|"),
    ("b<tab>s<down><down>", "bookshop|"), ("b<tab>sh<tab>", "bookshop|"), ("b<tab>sh<back><back><down>", "book|"),
    ("b<tab>zz<down>", "bookzz|"), ("b<tab><down><down><enter><c-_>", "book|"),
  ])
  func `Tab completes, and the menu is chosen from with arrows`(keys: String, shown: String) {
    #expect(typed(keys) == shown)
  }

  @Test func `Enter in the menu takes what is selected, and runs nothing`() {
    var typist = Typist(language: books)
    typist.type("b<tab><down><enter>")
    #expect(typist.outcomes.isEmpty)
    typist.type("<enter>")
    #expect(typist.outcomes == [.entered("book")])
  }

  @Test func `a candidate may replace what differs in case`() {
    let language = Language(complete: { text, place in Completions(0..<place, [.init("SELECT"), .init("Selection")]) })
    #expect(Typist.typed("se<tab>", language: language) == "se|")
    #expect(Typist.typed("se<tab><down>", language: language) == "SELECT|")
  }

  @Test func `a range that is not in the text is kept within it`() {
    let language = Language(complete: { _, _ in Completions(0..<99, [.init("x")]) })
    #expect(Typist.typed("abc<tab>", language: language) == "x|")
  }
}
