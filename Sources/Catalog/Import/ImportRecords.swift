/// One book as a file lists it, checked and tidied, not yet a model.
public struct BookRecord: Hashable, Sendable {
  /// Trimmed, never empty.
  public var title: String
  /// The year of first publication; negative before year 0. Nil if the file has none.
  public var year: Int?
  /// Mean of its ratings from 0 to 5; 0 if there are none.
  public var rating: Double
  /// Ten characters, or thirteen digits.
  public var isbn: String?
  public var language: String?
  /// In the file's order; trimmed, inner white space collapsed, without duplicates.
  public var authors: [String]

  public init(
    title: String, year: Int? = nil, rating: Double = 0, isbn: String? = nil, language: String? = nil,
    authors: [String] = []
  ) {
    self.title = title
    self.year = year
    self.rating = rating
    self.isbn = isbn
    self.language = language
    self.authors = authors
  }
}

/// One library as a file lists it.
public struct LibraryRecord: Hashable, Sendable {
  public var name: String
  public var city: String
  public var region: String

  public init(name: String, city: String, region: String) {
    self.name = name
    self.city = city
    self.region = region
  }
}

/// One line of a year's most borrowed: a book, its rank, and how often it was lent that year.
public struct LoanRecord: Hashable, Sendable {
  public var book: BookRecord
  /// The library's short name, such as `CABANIS`.
  public var library: String
  public var year: Int
  public var loans: Int

  public init(book: BookRecord, library: String, year: Int, loans: Int) {
    self.book = book
    self.library = library
    self.year = year
    self.loans = loans
  }
}

/// A record that cannot be imported: it is reported, and reading continues after it.
public struct BadRecord: Error, Hashable, Sendable, CustomStringConvertible {
  public let file: String
  /// From 1.
  public let line: Int
  public let reason: String

  public init(file: String, line: Int, reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  public var description: String { "\(file):\(line): \(reason)" }
}
