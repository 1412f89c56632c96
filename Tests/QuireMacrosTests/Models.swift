import Quire

enum Genre: String, Codable { case novel, poem, play }
/// An enum that is a stored value itself.
enum Shelfmark: Int, StoredValue { case low, high }
struct Cover: Codable, Equatable { var color = "red" }

@Model final class Author {
  var name: String
  var books: [Book] = []
  @Relationship(inverse: \Book.coauthors) var coauthored: [Book] = []
  init(name: String) { self.name = name }
}

/// One of everything a model's property can be.
@Model final class Book {
  #Index<Book>([\.title], [\.title, \.year])
  #Unique<Book>([\.isbn])

  /// Documented.
  var title: String
  var year: Int?
  var genre: Genre = .novel
  var isAvailable = true
  @Attribute(.unique, originalName: "code") var isbn: String?
  @Relationship(deleteRule: .cascade) var author: Author?
  var coauthors: [Author] = []
  var second = Genre.poem
  var tags: [String] = []
  var cover: Cover?
  var mark: Shelfmark = .low
  var maybeMark: Shelfmark?
  var `default`: Int = 3
  var rating: Swift.Double = -1
  var price: Optional<Decimal> = nil
  var added = Date(timeIntervalSinceReferenceDate: 5)
  var seen: Foundation.Date?
  private(set) var loans: Int = 0

  @Transient var note = "none"
  @Transient var onLend: (() -> Void)?
  @ObservationIgnored var cache: [String] = ["a"]
  @ObservationIgnored lazy var words: [Substring] = title.split(separator: " ")
  @Transient lazy var letters: Set<Character> = Set(title)
  @Transient private(set) lazy var spine: String? = {
    seen == nil ? nil : title
  }()

  nonisolated(unsafe) static var made = 0
  var headline: String { "\(title), \(year.map(String.init) ?? "undated")" }
  @Transient var shout: String { title.uppercased() }

  init(title: String) { self.title = title }

  convenience init(_ title: String, by author: Author, _ others: Author...) {
    self.init(title: title)
    self.author = author
    coauthors = others
  }

  init?(checked title: String) {
    if title.isEmpty { return nil }
    self.title = title
    genre = .play
  }

  init(parsing text: String) throws {
    guard let year = Int(text) else { throw CocoaError(.formatting) }
    self.year = year
    title = text
    self.title += "!"
  }

  func lend() { loans += 1 }
}

/// Nothing to give: the init that generated ones would take away is there.
@Model class Task {
  var name = ""
  var done: Bool = false
  var due: Date?
  var genre: Genre?
  var owner: Author?
}

/// A subclass that is no model of its own.
class Chore: Task {}

enum Schema {
  @Model public final class Actor {
    public private(set) var name: String = "a"
    package var second: Int = 1
    var child: Schema.Actor?
    public init() {}
  }
}

extension Schema {
  @Model final class Stage: Codable {
    var size: Int
    init(size: Int) { self.size = size }
    enum CodingKeys: CodingKey { case size }
    init(from decoder: any Decoder) throws {
      size = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .size)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(size, forKey: .size)
    }
  }
}

/// Properties whose source watches them.
@Model final class Watched {
  @ObservationIgnored var log: [String] = []
  var title: String {
    didSet { title = title.trimmingCharacters(in: .whitespaces); log.append("\(oldValue)→\(title)") }
  }
  var count = 1 {
    willSet { log.append("\(count) will be \(newValue)") }
    didSet {
      if count == 9 { return }
      log.append("count")
      count += 1
    }
  }
  var genre: Genre = .novel {
    willSet(next) { log.append("will \(next)") }
    didSet(last) { log.append("did \(last)") }
  }
  var author: Author? { didSet { log.append(author?.name ?? "nobody") } }
  @Transient var note = "" { didSet { log.append("note") } }
  init(title: String) {
    self.title = title
  }
}

/// Only plain properties without defaults, to see what a vacant object holds.
@Model final class Bare {
  var text: String
  var number: Int64
  var ratio: Float
  var flag: Bool
  var date: Date
  var data: Data
  var uuid: UUID
  var url: URL
  var decimal: Decimal
  var span: TimeInterval
  var maybe: Int?
  var genres: [Genre]
  init(_ text: String) {
    self.text = text
    number = 1
    ratio = 1
    flag = true
    date = .distantPast
    data = Data([1])
    uuid = UUID()
    url = URL(fileURLWithPath: "/tmp")
    decimal = 1
    span = 1
    genres = [.novel]
  }
}

/// Nothing stored at all.
@Model final class Empty {
  var computed: Int { 1 }
}
