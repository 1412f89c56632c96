import Quire

@Model final class DeskAuthor {
  var name: String
  var books: [DeskBook] = []
  init(name: String) { self.name = name }
}

@Model final class DeskBook {
  #Index<DeskBook>([\.title])
  var title: String
  var copies: Int
  var stock: Int
  var author: DeskAuthor?
  @Relationship(deleteRule: .cascade, inverse: \DeskLoan.book) var loans: [DeskLoan] = []
  init(title: String) {
    self.title = title
    copies = 5
    stock = 5
  }
}

@Model final class DeskMember {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \DeskLoan.member) var loans: [DeskLoan] = []
  init(name: String) { self.name = name }
}

@Model final class DeskLoan {
  var lentAt: Double
  var isOut = true
  var book: DeskBook?
  var member: DeskMember?
  init(of book: DeskBook, to member: DeskMember, at time: Double) {
    lentAt = time
    self.book = book
    self.member = member
  }
}
