import Quire

/// Models with every kind of property a predicate may ask for.
enum Bookshop {
  enum Genre: String, Codable, CaseIterable, Sendable { case novel, poem, essay }
  enum Rank: Int, Codable, CaseIterable, Comparable, Sendable {
    case low = 1
    case high = 9
    static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
  }
  enum Binding: Codable, Hashable, Sendable {
    case paper
    case boards(color: String)
  }
  struct Size: Codable, Hashable, Sendable {
    var width: Int
    var unit: String?
  }

  @Model final class Country {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Author {
    var name: String
    var age: Int?
    var isAlive: Bool
    var country: Country?
    var books: [Book] = []
    init(_ name: String, age: Int?, isAlive: Bool, country: Country?) {
      self.name = name
      self.age = age
      self.isAlive = isAlive
      self.country = country
    }
  }

  @Model final class Tag {
    var word: String
    init(_ word: String) { self.word = word }
  }

  @Model final class Book {
    var id: UUID
    var title: String
    var subtitle: String?
    var year: Int?
    var pages = 0
    var weight = 0.0
    var rating: Double?
    var isAvailable = false
    var isSigned: Bool?
    var genre = Genre.novel
    var mood: Genre?
    var rank = Rank.low
    var binding = Binding.paper
    var size = Size(width: 0)
    var spare: Size?
    var added: Date
    var returned: Date?
    var link: URL?
    var price = Decimal(0)
    var cover = Data()
    var words: [String] = []
    var marks: [Int]?
    var notes: [String: Int] = [:]
    @Relationship(inverse: \Author.books) var author: Author?
    var tags: [Tag]? = []
    var shout: String { title.uppercased() }

    init(_ number: Int) {
      id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
      title = ["The Left Hand", "Germinal", "germinal II", "Left", "", "100% Sure", "Œuvres", "hand"][number % 8]
      subtitle = number % 3 == 0 ? nil : ["", "A story", "Left out"][number % 7 % 3]
      year = number % 5 == 0 ? nil : 1900 + number
      pages = number % 11 * 30 - 30
      weight = Double(number % 6) / 4
      rating = number % 4 == 0 ? nil : Double(number % 9) / 2
      isAvailable = number % 2 == 0
      isSigned = number % 7 == 0 ? nil : number % 3 == 0
      genre = Genre.allCases[number % 3]
      mood = number % 4 == 1 ? nil : Genre.allCases[number % 2]
      rank = Rank.allCases[number % 2]
      binding = number % 3 == 0 ? .paper : .boards(color: ["red", "blue"][number % 2])
      size = Size(width: number % 5, unit: number % 2 == 0 ? nil : "cm")
      spare = number % 3 == 0 ? nil : Size(width: number % 4, unit: "in")
      added = Date(timeIntervalSince1970: Double(number) * 1_000_000.5)
      returned = number % 3 == 1 ? nil : Date(timeIntervalSince1970: Double(number) * 2_000_000.25)
      link = number % 2 == 0 ? nil : URL(string: "https://example.org/\(number % 10)")
      price = Decimal(number % 10) / 4
      cover = number % 3 == 0 ? Data() : Data([UInt8(number)])
      words = number % 4 == 0 ? [] : Array(["old", "red", "signed"].prefix(number % 4))
      marks = number % 3 == 0 ? nil : Array(repeating: number % 5, count: number % 4)
      notes = number % 2 == 0 ? [:] : ["damage": number % 3]
    }
  }

  /// Sixty books; none is saved yet.
  @discardableResult static func fill(_ context: ModelContext) -> [Book] {
    let countries = ["France", "Ghana", "Haiti"].map { Country($0) }
    let authors = ["Ursula", "Émile", "Kofi", "Marie", "O'Hara", "Zoë", ""].enumerated().map { place, name in
      Author(
        name, age: place % 3 == 0 ? nil : 30 + place, isAlive: place % 2 == 0,
        country: place > 4 ? nil : countries[place % 3])
    }
    let tags = ["rare", "loud", "Zola"].map { Tag($0) }
    return (1...60).map { number in
      let book = Book(number)
      context.insert(book)
      book.author = number % 6 == 0 ? nil : authors[number % 7]
      book.tags = number % 4 == 0 ? nil : Array(tags.prefix(number % 4))
      return book
    }
  }

  static func container() throws -> ModelContainer {
    try ModelContainer(for: Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
}
