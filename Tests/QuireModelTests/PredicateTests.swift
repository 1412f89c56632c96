import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireModel

private typealias Author = PredicateFixture.Author
private typealias Book = PredicateFixture.Book
private typealias Genre = PredicateFixture.Genre
private typealias Key = PredicateFixture.Key
private typealias Mood = PredicateFixture.Mood
private typealias Rank = PredicateFixture.Rank

@Suite(.fewAtOnce) struct PredicateTests {
  private struct Search: Codable, Sendable {
    var text = "Left"
    var isOn = true
    var years = [1910, 1911, 2000]
  }

  /// SQLite and Foundation choose the same rows: some, and not all.
  private func agree(
    _ predicates: [Predicate<Book>], everyOrNone: Bool = false, at location: SourceLocation = #_sourceLocation
  )
    throws
  {
    let library = try PredicateFixture.Library()
    for (index, predicate) in predicates.enumerated() {
      let expected = try library.expected(of: predicate)
      let found = try library.found(by: predicate)
      let sql = try translate(predicate, resolving: PredicateFixture.Resolver()).conditionSQL()
      #expect(found == expected, "predicate \(index): \(sql)", sourceLocation: location)
      if !everyOrNone { #expect((1..<200).contains(found.count), "predicate \(index)", sourceLocation: location) }
    }
  }

  private func refusal(_ predicate: Predicate<Book>) -> UntranslatablePredicate? {
    do {
      _ = try translate(predicate, resolving: PredicateFixture.Resolver())
      return nil
    } catch { return error }
  }

  @Test func `equality and order of columns with captured values`() throws {
    let title = "Left"
    let noYear: Int? = nil
    let day = Date(timeIntervalSince1970: 50_000_025)
    let number = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))
    let link = URL(string: "https://example.org/3")
    let price = Decimal(string: "1.50")!
    try agree([
      #Predicate { $0.title == title },
      #Predicate { $0.title != title },
      #Predicate { title < $0.title },
      #Predicate { $0.pages > 90 },
      #Predicate { $0.pages >= 90 && $0.pages <= 120 },
      #Predicate { $0.weight == 0.25 },
      #Predicate { $0.weight < 0.5 },
      #Predicate { $0.year == 1999 },
      #Predicate { $0.year != 1999 },
      #Predicate { $0.year == noYear },
      #Predicate { $0.year != noYear },
      #Predicate { $0.added > day },
      #Predicate { $0.added == day },
      #Predicate { $0.returned == nil },
      #Predicate { $0.number == number },
      #Predicate { $0.link == link },
      #Predicate { $0.price == price },
      #Predicate { $0.price > price },
      #Predicate { $0.price <= price && 0.25 < $0.price },
      #Predicate { (price...2).contains($0.price) },
      #Predicate<Book> { $0.title == $0.editor.name || $0.pages < ($0.year ?? 0) - 1890 },
    ])
  }

  @Test func `nil tests, and nil in comparisons`() throws {
    let some: String? = "A story"
    try agree([
      #Predicate { $0.year == nil },
      #Predicate { $0.year != nil },
      #Predicate { $0.subtitle == some },
      #Predicate { $0.subtitle != some },
      #Predicate { !($0.subtitle == some) },
      #Predicate { $0.author == nil },
      #Predicate { $0.author != nil },
      #Predicate { $0.author?.country == nil },
      #Predicate { $0.author?.age == nil },
      #Predicate { $0.author?.age != 31 },
    ])
  }

  @Test func `logic`() throws {
    let on = true
    try agree([
      #Predicate { $0.isAvailable },
      #Predicate { !$0.isAvailable },
      #Predicate { $0.isAvailable == false },
      #Predicate { $0.isAvailable != on && $0.pages > 0 },
      #Predicate { $0.isAvailable || $0.year == nil },
      #Predicate { !($0.isAvailable || $0.pages > 100) },
      #Predicate { $0.isSigned == true },
      #Predicate { $0.isSigned != true },
      #Predicate { $0.isSigned ?? true },
      #Predicate { !($0.isSigned ?? false) },
      #Predicate { $0.isAvailable == $0.editor.isAlive },
      #Predicate { ($0.pages > 100) == $0.isAvailable },
      #Predicate { on && $0.isAvailable },
    ])
    try agree(
      [#Predicate { _ in true }, #Predicate { _ in false }, #Predicate { on || $0.isAvailable }], everyOrNone: true)
    let all: Predicate<Book> = #Predicate { !on || $0.isAvailable || on }
    #expect(try translate(all, resolving: PredicateFixture.Resolver()) == .true)
  }

  @Test func `paths through to-one relationships`() throws {
    let key = Key(number: 3)
    try agree([
      #Predicate { $0.author?.name == "Kofi" },
      #Predicate { $0.author?.name != "Kofi" },
      #Predicate { $0.editor.name == "Marie" },
      #Predicate { $0.editor.country?.name == "Ghana" },
      #Predicate { $0.author?.country?.name == "Ghana" },
      #Predicate { $0.author?.country?.isFar == true },
      #Predicate { $0.author?.country?.isFar != true },
      #Predicate { $0.author?.isAlive ?? false },
      #Predicate { $0.author?.name.contains("e") ?? true },
      #Predicate { $0.author?.name.contains("e") == true },
      #Predicate { $0.author?.name.isEmpty ?? true },
      #Predicate { ($0.author?.name ?? "none") == "none" },
      #Predicate { ($0.author?.age ?? 0) > 33 },
      #Predicate { $0.author?.key == key },
      #Predicate { $0.editor.key == key },
      #Predicate { $0.key == key },
    ])
  }

  @Test func `a reference is compared without a join, a condition beyond it needs no CASE`() throws {
    let key = Key(number: 3)
    let byKey: Predicate<Book> = #Predicate { $0.author?.key == key }
    #expect(
      try translate(byKey, resolving: PredicateFixture.Resolver()).conditionSQL().condition.text
        == "(t0.\"author_id\" = ?)")
    let byName: Predicate<Book> = #Predicate { $0.author?.country?.name == "Ghana" }
    #expect(
      try translate(byName, resolving: PredicateFixture.Resolver()).conditionSQL().condition.text == "(t2.\"name\" = ?)"
    )
  }

  @Test func `text`() throws {
    let search = Search()
    try agree([
      #Predicate { $0.title.contains("eft") },
      #Predicate { $0.title.contains(search.text) },
      #Predicate { search.text.isEmpty || $0.title.contains(search.text) },
      #Predicate { $0.title.contains("%") },
      #Predicate { "The Left Hand of Darkness".contains($0.title) },
      #Predicate { $0.title.starts(with: "Left") },
      #Predicate { $0.editor.name.starts(with: $0.title) },
      #Predicate { $0.title.isEmpty },
      #Predicate { !$0.title.isEmpty },
      #Predicate { $0.title.isEmpty == false },
      #Predicate { $0.title.count > 6 },
      #Predicate { $0.subtitle?.isEmpty ?? true },
      #Predicate { $0.subtitle?.contains("t") == true },
      #Predicate { $0.title.localizedStandardContains("GERMINAL") },
      #Predicate { $0.title.localizedStandardContains(search.text) },
      #Predicate { $0.subtitle?.localizedStandardContains("left") ?? false },
      #Predicate { $0.cover.isEmpty },
      #Predicate { $0.cover.count == 1 },
    ])
  }

  @Test func `captured lists and ranges`() throws {
    let search = Search()
    let keys = [Key(number: 3), Key(number: 50), Key(number: 999)]
    let genres: Set<Genre> = [.novel, .essay]
    let maybe: [Int?] = [1901, nil]
    let names = ["Kofi", "Marie"]
    let days = Date(timeIntervalSince1970: 5e7)...Date(timeIntervalSince1970: 9e7)
    let many = Array(stride(from: -30, to: 900, by: 60))
    try agree([
      #Predicate { keys.contains($0.key) },
      #Predicate { !keys.contains($0.key) },
      #Predicate { genres.contains($0.genre) },
      #Predicate { maybe.contains($0.year) },
      #Predicate { !maybe.contains($0.year) },
      #Predicate { many.contains($0.pages) },
      #Predicate { search.years.contains($0.year ?? 0) },
      #Predicate { names.contains($0.author.flatMap { $0.name } ?? "") },
      #Predicate { book in names.contains { $0 == book.editor.name } },
      #Predicate { book in names.allSatisfy { $0 != book.editor.name } },
      #Predicate { (30...90).contains($0.pages) },
      #Predicate { (30..<90).contains($0.pages) },
      #Predicate { days.contains($0.added) },
      #Predicate { [1, 2].contains($0.rank.rawValue) },
    ])
    let none: [Int] = []
    try agree([#Predicate { none.contains($0.pages) }, #Predicate { !none.contains($0.pages) }], everyOrNone: true)
  }

  @Test func `enums by their raw values`() throws {
    let genre = Genre.poem
    let mood: Genre? = nil
    let rank = Rank.middle
    try agree([
      #Predicate { $0.genre == genre },
      #Predicate { $0.mood == genre },
      #Predicate { $0.mood == mood },
      #Predicate { $0.mood != genre },
      #Predicate { $0.genre.rawValue == "essay" },
      #Predicate { $0.mood?.rawValue == "novel" },
      #Predicate { $0.rank > rank },
      #Predicate { $0.rank.rawValue >= 5 },
    ])
  }

  @Test func `optionals unwrapped, chained and replaced`() throws {
    try agree([
      #Predicate { ($0.year ?? 0) > 1950 },
      #Predicate { book in if let year = book.year { year > 1950 } else { book.isAvailable } },
      #Predicate { book in if let year = book.year { year == 1951 || book.isAvailable } else { true } },
      #Predicate { $0.year != nil && $0.year! > 1950 },
      #Predicate { $0.year.flatMap { $0 > 1950 } ?? true },
      #Predicate { $0.year.flatMap { $0 > 1950 || $0 == 1902 } == nil },
      #Predicate { if let author = $0.author { author.isAlive || author.age == nil } else { false } },
      #Predicate { if let author = $0.author { author.age == nil } else { true } },
      #Predicate { $0.isAvailable ? $0.pages > 100 : $0.weight > 0.5 },
      #Predicate { ($0.isAvailable ? $0.pages : 0) == 60 },
    ])
    let unwrapped: Predicate<Book> = #Predicate { $0.year! > 1950 }
    let safe: Predicate<Book> = #Predicate { ($0.year ?? 0) > 1950 }
    let library = try PredicateFixture.Library()
    #expect(throws: (any Error).self) { try library.expected(of: unwrapped) }
    #expect(try library.found(by: unwrapped) == library.expected(of: safe))
  }

  @Test func `arithmetic`() throws {
    let step = 7
    try agree([
      #Predicate { $0.pages + 10 > 100 },
      #Predicate { $0.pages - step * 2 == 46 },
      #Predicate { $0.pages * 2 == 120 },
      #Predicate { $0.pages / 7 == 8 },
      #Predicate { $0.pages % 7 == -2 },
      #Predicate { -$0.pages > 0 },
      #Predicate { $0.weight / 0.5 > 1.5 },
      #Predicate { -$0.weight < -0.5 },
    ])
  }

  @Test func `what is captured is never text of the statement`() throws {
    let evil = "'; DROP TABLE book; --"
    let (condition, _) = try translate(#Predicate<Book> { $0.title == evil }, resolving: PredicateFixture.Resolver())
      .conditionSQL()
    #expect(condition.text == "(t0.\"title\" = ?)")
    #expect(condition.bindings == [.text(evil)])
  }

  @Test func `a sort key's path is resolved step by step or whole`() throws {
    let resolver = PredicateFixture.Resolver()
    #expect(columnPath(of: \Book.title, from: Book.self, resolving: resolver) == "title")
    #expect(
      columnPath(of: \Book.author?.name, from: Book.self, resolving: resolver)
        == ColumnPath([PredicateFixture.author], "name"))
    #expect(columnPath(of: \Book.author, from: Book.self, resolving: resolver) == "author_id")
    #expect(columnPath(of: \Book.coauthors, from: Book.self, resolving: resolver) == nil)
    #expect(columnPath(of: \Book.shout, from: Book.self, resolving: resolver) == nil)
  }

  @Test func `an evaluated expression is translated with its input in place`() throws {
    // Not as a predicate: off Apple's platforms an Expression is not Codable and no predicate captures it.
    let sum = #Expression<Int, Bool> { $0 + 1 > 121 }
    let pages = PredicateExpressions.build_KeyPath(root: PredicateExpressions.Variable<Book>(), keyPath: \.pages)
    var translation = Translation(resolver: PredicateFixture.Resolver())
    translation.bind(pages.root.key, to: .row(Row(steps: [], type: Book.self)), called: "$0")
    let evaluated = PredicateExpressions.build_evaluate(PredicateExpressions.build_Arg(sum), pages)
    #expect(
      try translation.expression(of: evaluated)
        == .compare(.greater, .arithmetic(.add, .column("pages"), .literal(1)), .literal(121)))
  }

  @Test func `questions about a to-many relationship`() throws {
    let key = Key(number: 3)
    let keys = [Key(number: 2), Key(number: 5)]
    let least = 1
    try agree([
      #Predicate { $0.coauthors.contains { $0.isAlive } },
      #Predicate { !$0.coauthors.contains { $0.isAlive } },
      #Predicate { $0.coauthors.contains(where: { $0.name.contains("e") && $0.age != nil }) },
      #Predicate { $0.coauthors.contains { $0.key == key } },
      #Predicate { $0.coauthors.contains { keys.contains($0.key) } },
      #Predicate { $0.coauthors.contains { $0.country?.name == "Ghana" } },
      #Predicate { $0.coauthors.contains { $0.country == nil } },
      #Predicate { $0.coauthors.allSatisfy { $0.isAlive } },
      #Predicate { $0.coauthors.allSatisfy { ($0.age ?? 0) > 31 } },
      #Predicate { $0.coauthors.allSatisfy { $0.age == nil || $0.isAlive } },
      #Predicate { !$0.coauthors.allSatisfy { $0.country?.isFar ?? true } },
      #Predicate { $0.coauthors.isEmpty },
      #Predicate { !$0.coauthors.isEmpty },
      #Predicate { $0.coauthors.isEmpty == false && $0.isAvailable },
      #Predicate { $0.coauthors.count > least },
      #Predicate { $0.coauthors.count == 0 },
      #Predicate { $0.coauthors.count * 30 == $0.pages },
      #Predicate { $0.coauthors.filter { $0.isAlive }.count == 1 },
      #Predicate { $0.coauthors.filter { $0.isAlive }.isEmpty },
      #Predicate { $0.coauthors.filter { $0.isAlive }.contains { $0.age == nil } },
      #Predicate { $0.coauthors.filter { $0.isAlive }.allSatisfy { $0.age != nil } },
    ])
  }

  @Test func `questions about the to-many of a to-one, and questions inside questions`() throws {
    let keys = [Key(number: 2), Key(number: 5)]
    try agree([
      #Predicate { $0.editor.books.count > 20 },
      #Predicate { $0.editor.books.contains { $0.title == "Left" } },
      #Predicate { $0.author?.books.isEmpty ?? true },
      #Predicate { $0.author?.books.contains { $0.year == 1999 } ?? false },
      #Predicate { $0.author?.books.contains { $0.year == 1999 } == nil },
      #Predicate { ($0.author?.books.count ?? 7) == 7 },
      #Predicate { $0.coauthors.contains { $0.books.contains { $0.year == 1999 } } },
      #Predicate { $0.coauthors.contains { $0.books.count < 20 } },
      #Predicate { $0.coauthors.allSatisfy { $0.books.allSatisfy { $0.author?.isAlive == true } } },
      #Predicate { book in keys.contains { key in book.coauthors.contains { $0.key == key } } },
    ])
  }

  // MARK: Refusals

  @Test func `what has no translation is refused by name, with what to write`() throws {
    let price = Decimal(2)
    let mood = Mood.calm
    let tag = "old"
    let nan = Double.nan
    let refused: [(Predicate<Book>, part: String, advice: String)] = [
      (#Predicate { $0.shout == "LEFT" }, "$0.", "stored properties"),
      (#Predicate { $0.tags.contains(tag) }, "$0.tags.contains(a String)", "model of their own"),
      (#Predicate { $0.tags.isEmpty }, "$0.tags.isEmpty", "property of its own"),
      (#Predicate { $0.coauthors.first?.isAlive == true }, "$0.coauthors.first", "contains(where:)"),
      (#Predicate { $0.coauthors.contains($0.editor) }, "$0.coauthors.contains($0.", "contains(where:)"),
      (#Predicate { book in book.coauthors.contains { $0.name == book.title } }, "$0", "outside it"),
      (#Predicate { $0.coauthors.contains { $0.books.contains { $0.shout == "A" } } }, "$0.", "stored properties"),
      (#Predicate { $0.price + price == price }, "+ a Decimal", "before the predicate"),
      (#Predicate { $0.temper < mood }, "< a Mood", "raw values"),
      (#Predicate { $0.rating == nan }, "a Optional<Double>", "can be stored"),
      (#Predicate { $0.title.first == nil }, "$0.title.", "property of its own"),
    ]
    for (predicate, part, advice) in refused {
      let error = try #require(refusal(predicate), "\(predicate)")
      #expect(error.part.contains(part), "\(error)")
      #expect(error.advice.contains(advice), "\(error)")
    }
  }

  @Test func `canonically equal spellings differ, as their bytes do`() throws {
    let composed = "Zo\u{EB}"
    let decomposed = "Zoe\u{308}"
    let library = try PredicateFixture.Library()
    let exact: Predicate<Book> = #Predicate { $0.author?.name == composed }
    let other: Predicate<Book> = #Predicate { $0.author?.name == decomposed }
    #expect(try library.found(by: exact) == library.expected(of: other))
    #expect(try library.found(by: other) == [])
  }
}
