import Foundation
import QuireModel
import QuireRow
import QuireSQLite

/// Plain objects beside a hand-made table of the same, so that Foundation and SQLite can be asked the same question.
enum PredicateFixture {
  enum Genre: String, Codable, CaseIterable, Sendable { case novel, poem, essay }
  enum Rank: Int, Codable, CaseIterable, Comparable, Sendable {
    case low = 1
    case middle = 5
    case high = 9
    static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
  }
  /// Cases whose order is not that of their raw values.
  enum Mood: String, Codable, CaseIterable, Comparable, Sendable {
    case zest, calm
    static func < (a: Mood, b: Mood) -> Bool { a == .zest && b == .calm }
  }
  struct Key: Hashable, Codable, Sendable { let number: Int64 }

  final class Country: Equatable {
    static func == (a: Country, b: Country) -> Bool { a === b }
    var key = Key(number: 0)
    var name = ""
    var isFar = false
  }

  final class Author: Equatable {
    static func == (a: Author, b: Author) -> Bool { a === b }
    var key = Key(number: 0)
    var name = ""
    var age: Int?
    var isAlive = false
    var country: Country?
    var books: [Book] = []
  }

  final class Book: Equatable {
    static func == (a: Book, b: Book) -> Bool { a === b }
    var key = Key(number: 0)
    var title = ""
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
    var temper = Mood.calm
    var added = Date(timeIntervalSince1970: 0)
    var returned: Date?
    var number = UUID()
    var link: URL?
    var price = Decimal(0)
    var cover = Data()
    var tags: [String] = []
    var author: Author?
    var editor = Author()
    var coauthors: [Author] = []
    var shout: String { title.uppercased() }
  }

  static let author = ColumnPath.Step("author_id", to: "author")
  static let editor = ColumnPath.Step("editor_id", to: "author")
  static let country = ColumnPath.Step("country_id", to: "country")
  static let books = RowRelation(to: "book", via: .foreignKey("author_id"))
  static let coauthors = RowRelation(
    to: "author", via: .pairs(table: "book_coauthors", own: "book_id", other: "author_id"))

  struct Resolver: PathResolver {
    nonisolated(unsafe) static let table: [AnyKeyPath: PathResolution] = [
      \Book.key: .key("id"), \Book.title: .column("title"), \Book.subtitle: .column("subtitle"),
      \Book.year: .column("year"), \Book.pages: .column("pages"), \Book.weight: .column("weight"),
      \Book.rating: .column("rating"), \Book.isAvailable: .column("is_available"), \Book.isSigned: .column("is_signed"),
      \Book.genre: .column("genre"), \Book.mood: .column("mood"), \Book.rank: .column("rank"),
      \Book.temper: .column("temper"), \Book.added: .column("added"), \Book.returned: .column("returned"),
      \Book.number: .column("number"), \Book.link: .column("link"), \Book.price: .column("price"),
      \Book.cover: .column("cover"), \Book.tags: .column("tags"), \Book.author: .toOne(author, Author.self),
      \Book.editor: .toOne(editor, Author.self), \Book.coauthors: .toMany(coauthors, Author.self),
      \Author.key: .key("id"), \Author.name: .column("name"), \Author.age: .column("age"),
      \Author.isAlive: .column("is_alive"), \Author.country: .toOne(country, Country.self),
      \Author.books: .toMany(books, Book.self), \Country.key: .key("id"), \Country.name: .column("name"),
      \Country.isFar: .column("is_far"),
    ]
    func resolve(_ keyPath: AnyKeyPath, from type: Any.Type) -> PathResolution? { Self.table[keyPath] }
    func resolvePath(_ keyPath: AnyKeyPath, from type: Any.Type) -> [PathResolution]? {
      keyPath == \Book.author?.name ? [.toOne(author, Author.self), .column("name")] : nil
    }
    func value(of captured: Any) throws -> Value? { (captured as? Key).map { .integer($0.number) } }
    func name(of keyPath: AnyKeyPath, from type: Any.Type) -> String? {
      [\Book.tags: "tags", \Book.coauthors: "coauthors", \Author.books: "books", \Book.title: "title"][keyPath]
    }
  }

  static let schema = """
    CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_far INTEGER NOT NULL) STRICT;
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, is_alive INTEGER NOT NULL,
      country_id INTEGER) STRICT;
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, subtitle TEXT, year INTEGER, pages INTEGER NOT NULL,
      weight REAL NOT NULL, rating REAL, is_available INTEGER NOT NULL, is_signed INTEGER, genre TEXT NOT NULL, mood TEXT,
      rank INTEGER NOT NULL, temper TEXT NOT NULL, added TEXT NOT NULL, returned TEXT, number TEXT NOT NULL, link TEXT,
      price TEXT NOT NULL, cover BLOB NOT NULL, tags TEXT NOT NULL, author_id INTEGER, editor_id INTEGER NOT NULL) STRICT;
    CREATE TABLE book_coauthors (book_id INTEGER NOT NULL, author_id INTEGER NOT NULL, PRIMARY KEY (book_id, author_id))
      STRICT, WITHOUT ROWID;
    """

  /// Two hundred books with every combination of what may be missing, and the same in tables.
  final class Library {
    let books: [Book]
    private let connection: Connection
    private let folder: URL

    deinit { try? FileManager.default.removeItem(at: folder) }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "quire-predicates-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      connection = try Connection(path: folder.appending(path: "books.db").path, access: .create)
      try connection.execute(schema)
      let countries = (1...3).map { number in
        let country = Country()
        country.key = Key(number: Int64(number))
        country.name = ["France", "Ghana", "Haiti"][number - 1]
        country.isFar = number != 1
        return country
      }
      for country in countries {
        try connection.execute(
          "INSERT INTO country VALUES (?, ?, ?)",
          [.integer(country.key.number), .text(country.name), try Value(storing: country.isFar)])
      }
      let authors = (1...8).map { number in
        let author = Author()
        author.key = Key(number: Int64(number))
        author.name = ["Ursula", "Émile", "Kofi", "Marie", "O'Hara", "Zoë", "", "umberto"][number - 1]
        author.age = number % 3 == 0 ? nil : 30 + number
        author.isAlive = number % 2 == 0
        author.country = number > 5 ? nil : countries[number % 3]
        return author
      }
      for author in authors {
        try connection.execute(
          "INSERT INTO author VALUES (?, ?, ?, ?, ?)",
          [
            .integer(author.key.number), .text(author.name), try Value(storing: author.age),
            try Value(storing: author.isAlive), author.country.map { .integer($0.key.number) } ?? .null,
          ])
      }
      books = (1...200).map { number in
        let book = Book()
        book.key = Key(number: Int64(number))
        book.title =
          ["The Left Hand", "Germinal", "germinal II", "Left", "", "100% Sure", "Œuvres", "hand"][number % 8]
        book.subtitle = number % 3 == 0 ? nil : ["", "A story", "Left out"][number % 7 % 3]
        book.year = number % 5 == 0 ? nil : 1900 + number
        book.pages = number % 11 * 30 - 30
        book.weight = Double(number % 6) / 4
        book.rating = number % 4 == 0 ? nil : Double(number % 9) / 2
        book.isAvailable = number % 2 == 0
        book.isSigned = number % 7 == 0 ? nil : number % 3 == 0
        book.genre = Genre.allCases[number % 3]
        book.mood = number % 4 == 1 ? nil : Genre.allCases[number % 2]
        book.rank = Rank.allCases[number % 3]
        book.temper = Mood.allCases[number % 2]
        book.added = Date(timeIntervalSince1970: Double(number) * 1_000_000.5)
        book.returned = number % 3 == 1 ? nil : Date(timeIntervalSince1970: Double(number) * 2_000_000.25)
        book.number = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
        book.link = number % 2 == 0 ? nil : URL(string: "https://example.org/\(number % 10)")
        book.price = Decimal(number % 10) / 4
        book.cover = number % 3 == 0 ? Data() : Data([UInt8(number)])
        book.author = number % 6 == 0 ? nil : authors[number % 8]
        book.editor = authors[number % 5]
        book.coauthors = (0..<number % 4).map { authors[(number + $0 * 3) % 8] }
        book.author?.books.append(book)
        return book
      }
      try connection.execute("BEGIN")
      for book in books {
        try connection.execute(
          "INSERT INTO book VALUES (\(Array(repeating: "?", count: 22).joined(separator: ",")))",
          [
            .integer(book.key.number), .text(book.title), try Value(storing: book.subtitle),
            try Value(storing: book.year), try Value(storing: book.pages), try Value(storing: book.weight),
            try Value(storing: book.rating), try Value(storing: book.isAvailable), try Value(storing: book.isSigned),
            .text(book.genre.rawValue), book.mood.map { .text($0.rawValue) } ?? .null,
            .integer(Int64(book.rank.rawValue)), .text(book.temper.rawValue), try Value(storing: book.added),
            try Value(storing: book.returned), try Value(storing: book.number), try Value(storing: book.link),
            try Value(storing: book.price), try Value(storing: book.cover), "[]",
            book.author.map { .integer($0.key.number) } ?? .null, .integer(book.editor.key.number),
          ])
      }
      for book in books {
        for author in book.coauthors {
          try connection.execute(
            "INSERT INTO book_coauthors VALUES (?, ?)", [.integer(book.key.number), .integer(author.key.number)])
        }
      }
      try connection.execute("COMMIT")
    }

    /// The keys of the books SQLite accepts.
    func found(by predicate: Predicate<Book>) throws -> [Int64] {
      let expression = try translate(predicate, resolving: Resolver())
      let statement = try SelectQuery(from: "book", columns: ["id"], where: expression).statement()
      return try connection.query(statement.text, statement.bindings).rows.compactMap {
        if case .integer(let key) = $0[0] { key } else { nil }
      }
    }

    /// The keys of the books Foundation accepts.
    func expected(of predicate: Predicate<Book>) throws -> [Int64] {
      try books.filter { try predicate.evaluate($0) }.map(\.key.number)
    }
  }
}
