public import Quire

/// Imports the records of catalog files into a store: adds new ones, and leaves existing ones unchanged.
///
/// A book exists if there is one with the same title, year and authors, a library if there is one with the same name,
/// city and region. So importing a file again adds nothing, and an interrupted import is completed by repeating it.
/// Works in commits of a few thousand records: when it throws, the store contains exactly what was committed.
public struct CatalogImport {
  /// What became of the records.
  public struct Summary: Hashable, Sendable {
    public var books = 0
    public var authors = 0
    public var coauthors = 0
    public var libraries = 0
    public var holdings = 0
    /// Records whose book or library already existed.
    public var known = 0
    public var bad: [BadRecord] = []
    public init() {}
  }

  /// The progress: the current file, how much of it is done, and the total, if known.
  public typealias Report = (_ what: String, _ done: Int, _ total: Int?) -> Void

  private let container: ModelContainer
  private let context: ModelContext
  private let report: Report
  public private(set) var summary = Summary()
  private static let batch = 2000

  public init(into container: ModelContainer, report: @escaping Report = { _, _, _ in }) {
    self.container = container
    context = ModelContext(container, isolation: nil)
    self.report = report
  }

  // MARK: Books

  private struct BookKey: Hashable {
    let title: String
    let year: Int?
    let authors: [String]
  }

  /// Adds the books of a file, and their authors.
  /// - Throws: ``CSVError`` for a file that cannot be read on; what the store throws.
  public mutating func books(from file: String) throws {
    var reader = try RecordReader.books(in: file)
    var known = try knownBooks()
    var authors: [String: Author] = [:]
    for author in try context.fetch(FetchDescriptor<Author>()) { authors[author.name] = author }
    func author(_ name: String, _ summary: inout Summary) -> Author {
      if let author = authors[name] { return author }
      let author = Author(name: name)
      context.insert(author)
      authors[name] = author
      summary.authors += 1
      return author
    }
    var unsaved = 0
    while let next = try reader.next() {
      switch next {
      case .failure(let bad): summary.bad.append(bad)
      case .success(let record):
        // The others than the first are kept without an order.
        let others = record.authors.dropFirst().sorted()
        let key = BookKey(title: record.title, year: record.year, authors: record.authors.prefix(1) + others)
        guard known.insert(key).inserted else {
          summary.known += 1
          continue
        }
        let book = Book(
          title: record.title, author: record.authors.first.map { author($0, &summary) }, year: record.year,
          rating: record.rating, isbn: record.isbn, language: record.language)
        context.insert(book)
        if !others.isEmpty { book.coauthors = record.authors.dropFirst().map { author($0, &summary) } }
        summary.books += 1
        summary.coauthors += others.count
        unsaved += 1
      }
      if unsaved == CatalogImport.batch {
        try context.save()
        unsaved = 0
        report("books", reader.bytesRead, reader.byteCount)
      }
    }
    summary.known += reader.repeats
    try context.save()
  }

  private func knownBooks() throws -> Set<BookKey> {
    var others: [Int64: [String]] = [:]
    for row in try container.query(
      "SELECT c.book_id, a.name FROM book_coauthors AS c JOIN author AS a ON a.id = c.author_id")
    {
      if case .integer(let book) = row[0], case .text(let name) = row[1] { others[book, default: []].append(name) }
    }
    var result: Set<BookKey> = []
    for row in try container.query(
      "SELECT b.id, b.title, b.year, a.name FROM book AS b LEFT JOIN author AS a ON a.id = b.author_id")
    {
      guard case .integer(let id) = row[0], case .text(let title) = row[1] else { continue }
      let year: Int? = if case .integer(let year) = row[2] { Int(year) } else { nil }
      let first: [String] = if case .text(let name) = row[3] { [name] } else { [] }
      result.insert(BookKey(title: title, year: year, authors: first + (others[id] ?? []).sorted()))
    }
    return result
  }

  // MARK: Libraries

  /// Adds the libraries of a file.
  public mutating func libraries(from file: String) throws {
    var reader = try RecordReader.libraries(in: file)
    var known: Set<LibraryRecord> = []
    for row in try container.query("SELECT name, city, region FROM library") {
      if case .text(let name) = row[0], case .text(let city) = row[1], case .text(let region) = row[2] {
        known.insert(LibraryRecord(name: name, city: city, region: region))
      }
    }
    var unsaved = 0
    while let next = try reader.next() {
      switch next {
      case .failure(let bad): summary.bad.append(bad)
      case .success(let record):
        guard known.insert(record).inserted else {
          summary.known += 1
          continue
        }
        context.insert(Library(name: record.name, city: record.city, region: record.region))
        summary.libraries += 1
        unsaved += 1
      }
      if unsaved == CatalogImport.batch {
        try context.save()
        unsaved = 0
        report("libraries", reader.bytesRead, reader.byteCount)
      }
    }
    summary.known += reader.repeats
    try context.save()
  }

  // MARK: Holdings

  /// Assigns books to libraries by the rule of ``Holdings``, counting both in the order of their keys.
  ///
  /// - Throws: ``StockError`` if there are not enough pairs.
  public mutating func stock(_ count: Int) throws {
    let books = try keys("SELECT id FROM book ORDER BY id")
    let libraries = try keys("SELECT id FROM library ORDER BY id")
    let pairs = try Holdings.pairs(books: books.count, libraries: libraries.count, count: count)
    for start in stride(from: 0, to: pairs.count, by: 10_000) {
      let batch = pairs[start..<min(start + 10_000, pairs.count)]
      summary.holdings += try container.writeSQL { transaction in
        var added = 0
        for pair in batch {
          added += try transaction.execute(
            """
            INSERT INTO library_books (library_id, book_id) VALUES (\(libraries[pair.library]), \(books[pair.book]))
            ON CONFLICT DO NOTHING
            """)
        }
        return added
      }
      report("holdings", start + batch.count, pairs.count)
    }
  }

  private func keys(_ sql: SQL) throws -> [Int64] {
    try container.query(sql).compactMap { row in if case .integer(let key) = row[0] { key } else { nil } }
  }
}
