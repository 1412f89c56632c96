import Foundation
import Quire

@Model
final class ReadingBook: Identifiable {
  var title: String
  var author: String
  var dateAdded: Date
  var dateStarted: Date
  var dateCompleted: Date
  var summary: String
  var rating: Int?
  var status: Status.RawValue
  @Relationship(deleteRule: .cascade) var quotes: [ReadingQuote]?
  @Relationship(inverse: \ReadingGenre.books) var genres: [ReadingGenre]?

  init(
    title: String, author: String, dateAdded: Date = Date.now, dateStarted: Date = Date.distantPast,
    dateCompleted: Date = Date.distantPast, summary: String = "", rating: Int? = nil, status: Status = .onShelf
  ) {
    self.title = title
    self.author = author
    self.dateAdded = dateAdded
    self.dateStarted = dateStarted
    self.dateCompleted = dateCompleted
    self.summary = summary
    self.rating = rating
    self.status = status.rawValue
  }
}

enum Status: Int, Codable, Identifiable, CaseIterable {
  case onShelf, inProgress, completed
  var id: Self { self }
}

@Model
class ReadingGenre {
  var name: String
  var color: String
  var books: [ReadingBook]?
  init(name: String, color: String) {
    self.name = name
    self.color = color
  }
}

@Model
class ReadingQuote {
  var creationDate: Date = Date.now
  var text: String
  var page: String?
  var book: ReadingBook?
  init(text: String, page: String? = nil) {
    self.text = text
    self.page = page
  }
}
