import Quire

@Model final class Author {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  init(name: String) { self.name = name }
}

@Model final class Book {
  var title: String
  var copies: Int
  /// Copies that are not lent.
  var stock: Int
  var author: Author?
  @Relationship(deleteRule: .cascade, inverse: \Loan.book) var loans: [Loan] = []
  init(title: String, copies: Int, author: Author? = nil) {
    self.title = title
    self.copies = copies
    self.stock = copies
    self.author = author
  }
}

@Model final class Member {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Loan.member) var loans: [Loan] = []
  init(name: String) { self.name = name }
}

@Model final class Loan {
  var lentAt: Date
  var dueAt: Date
  var returnedAt: Date?
  var isOverdue = false
  var book: Book?
  var member: Member?
  init(of book: Book, to member: Member, at date: Date) {
    lentAt = date
    dueAt = date.addingTimeInterval(28 * 86_400)
    self.book = book
    self.member = member
  }
}
