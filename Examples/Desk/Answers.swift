import Foundation

// What clients get: values of their own, so that the models may change without the service's face.

struct BookRow: Codable, Equatable {
  var id: Int64
  var title: String
  var author: String?
  var copies: Int
  var stock: Int
}

struct BookPage: Codable {
  /// How many books the filters let through.
  var total: Int
  var books: [BookRow]
}

struct LoanRow: Codable {
  var id: Int64
  var book: Int64
  var member: String
  var dueAt: Date
  var returnedAt: Date?
  var isOverdue: Bool
}

struct BookDetail: Codable {
  var book: BookRow
  /// Those that are out.
  var loans: [LoanRow]
}

struct Statistics: Codable, Equatable {
  var books: Int
  var copies: Int
  var stock: Int
  var lent: Int
  var overdue: Int
}

/// A commit, as the live feed tells it.
struct FeedEvent: Codable {
  var commit: Int64
  var author: String?
  var lent: [Int64]
  var returned: [Int64]
}

/// What a request may ask for and not get: the client's fault, in words for the client.
enum Refusal: Error, Equatable {
  case notFound(String)
  case badRequest(String)
  case conflict(String)
}
