import Quire
import Testing

/// The members a container and a context use.
struct ConformanceTests {
  @Test func `the definition lists what is stored, in the order of the source`() {
    let definition = Book._quireDefinition
    #expect(definition.name == "Book" && definition.type == Book.self)
    let names = [
      "title", "year", "genre", "isAvailable", "isbn", "author", "coauthors", "second", "tags", "cover", "mark",
      "maybeMark", "default", "rating", "price", "added", "seen", "loans",
    ]
    #expect(definition.properties.map(\.name) == names)
    #expect(definition.properties[0].keyPath == \Book.title && definition.properties[12].keyPath == \Book.default)
    #expect(Empty._quireDefinition.properties.isEmpty)
    #expect(Schema.Actor._quireDefinition.name == "Actor")
  }

  @Test func `the kind of each property is what its type means`() {
    let kinds = Dictionary(uniqueKeysWithValues: Book._quireDefinition.properties.map { ($0.name, "\($0.kind)") })
    #expect(kinds["title"]!.hasPrefix("value(") && kinds["title"]!.contains("isOptional: false"))
    #expect(kinds["year"]!.hasPrefix("value(") && kinds["year"]!.contains("isOptional: true"))
    #expect(kinds["genre"]!.hasPrefix("value(") && kinds["genre"]!.contains("text"))
    #expect(kinds["maybeMark"]!.contains("integer") && kinds["maybeMark"]!.contains("isOptional: true"))
    #expect(kinds["author"]!.hasPrefix("toOne(") && kinds["coauthors"]!.hasPrefix("toMany("))
  }

  @Test func `arguments of the attributes arrive as written`() {
    let properties = Dictionary(uniqueKeysWithValues: Book._quireDefinition.properties.map { ($0.name, $0) })
    #expect(properties["isbn"]!.attribute.options == [.unique])
    #expect(properties["isbn"]!.attribute.originalName == "code")
    #expect(properties["author"]!.relationship.deleteRule == .cascade)
    #expect(properties["title"]!.attribute.options.isEmpty && properties["title"]!.relationship.inverse == nil)
    let coauthored = Author._quireDefinition.properties.last!
    #expect(coauthored.relationship.inverse == \Book.coauthors)
  }

  @Test func `index and unique declarations arrive in order`() {
    let definition = Book._quireDefinition
    #expect(definition.indexes == [[\Book.title], [\Book.title, \Book.year]] as [[AnyKeyPath]])
    #expect(definition.uniques == [[\Book.isbn]] as [[AnyKeyPath]])
    #expect(Author._quireDefinition.indexes.isEmpty && Author._quireDefinition.uniques.isEmpty)
  }

  @Test func `objects differ in the bits of the properties that differ`() {
    let a = Book(title: "Emma")
    let b = Book(title: "Emma")
    #expect(a._quireDifference(from: b) == 0)
    b.title = "Persuasion"
    b.genre = .poem
    b.default = 9
    #expect(a._quireDifference(from: b) == 1 << 0 | 1 << 2 | 1 << 12)
    #expect(a._quireDifference(from: Author(name: "")) == 0)
    #expect(Empty()._quireDifference(from: Empty()) == 0)
  }

  @Test func `adopting takes the named properties and tells nobody`() {
    let a = Watched(title: "a")
    let b = Watched(title: "b")
    b.genre = .play
    b.count = 9
    b._quireAdopt(0, from: a)
    #expect(b.title == "b")
    a._quireAdopt(1 << 0 | 1 << 2, from: b)
    #expect(a.title == "b" && a.genre == .play && a.count == 1 && a.log.isEmpty)
    a._quireAdopt(1, from: Author(name: "other"))
    #expect(a.title == "b")
  }

  @Test func `a vacant object has declared defaults, else zeros`() {
    let book = Book.vacant(ModelState())
    #expect(book.title == "" && book.year == nil && book.genre == .novel && book.default == 3 && book.isAvailable)
    let bare = Bare.vacant(ModelState())
    #expect(bare.text == "" && bare.number == 0 && bare.ratio == 0 && !bare.flag && bare.data.isEmpty)
    #expect(bare.date == Date(timeIntervalSinceReferenceDate: 0) && bare.decimal == 0 && bare.span == 0)
    #expect(bare.uuid.uuidString == "00000000-0000-0000-0000-000000000000" && bare.maybe == nil)
    #expect(bare.url.path == "/")
  }

  @Test func `links are those of slots only`() {
    let book = Book(title: "Emma")
    book._quireSetLink(5, Link(key: 7))
    #expect(book._quireLink(5).key == 7 && book._quireLink(5).hasKey)
    book._quireSetLink(0, Link(key: 7))
    #expect(!book._quireLink(0).hasKey && !book._quireLink(99).hasKey)
  }

  @Test func `telling by number reaches who reads the property`() {
    let book = Book(title: "Emma")
    nonisolated(unsafe) var told = 0
    withObservationTracking {
      _ = book.year
    } onChange: {
      told += 1
    }
    book._quireTell(0, .willSet)
    #expect(told == 0)
    book._quireTell(1, .willSet)
    #expect(told == 1)
  }
}
