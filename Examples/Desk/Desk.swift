import Quire

/// What the service does, on a store that any number of requests use at once.
struct Desk: Sendable {
  let store: ModelContainer
  /// How long a request may take, waiting included.
  let patience: Duration
  static let mostLoans = 5

  private var deadline: ContinuousClock.Instant { .now + patience }

  // MARK: reading

  struct Query: Sendable {
    var text = ""
    var isOnShelf = false
    var sort = "title"
    var page = 1
    var size = 20
  }

  /// A page of books and how many there are: both at one commit.
  func books(_ query: Query) async throws -> BookPage {
    guard let order = Self.orders[query.sort] else { throw Refusal.badRequest("there is no order '\(query.sort)'") }
    guard query.page > 0, 1...100 ~= query.size else { throw Refusal.badRequest("page from 1, size from 1 to 100") }
    let (text, least) = (query.text, query.isOnShelf ? 1 : 0)
    return try await store.read(deadline: deadline) { context in
      let wanted = #Predicate<Book> { (text.isEmpty || $0.title.contains(text)) && $0.stock >= least }
      var page = FetchDescriptor<Book>(predicate: wanted, sortBy: order())
      page.fetchLimit = query.size
      page.fetchOffset = (query.page - 1) * query.size
      page.relationshipKeyPathsForPrefetching = [\.author]
      let total = try context.fetchCount(FetchDescriptor<Book>(predicate: wanted))
      return BookPage(total: total, books: try context.fetch(page).map(BookRow.init))
    }
  }

  private static let orders: [String: @Sendable () -> [SortDescriptor<Book>]] = [
    "title": { [SortDescriptor(\.title)] },
    "stock": { [SortDescriptor(\.stock, order: .reverse), SortDescriptor(\.title)] },
  ]

  func book(_ key: Int64) async throws -> BookDetail {
    try await store.read(deadline: deadline) { context in
      let book = try context.get(Book.self, key: key).orNotFound("book", key)
      let loans = book.loans.filter { $0.returnedAt == nil }.sorted { $0.dueAt < $1.dueAt }
      return BookDetail(book: BookRow(book), loans: loans.map(LoanRow.init))
    }
  }

  func statistics() async throws -> Statistics {
    try await store.read(deadline: deadline) { context in
      let row = try context.fetchOne(
        Int.self, Int.self, Int.self, Int.self, Int.self,
        sql: """
          SELECT (SELECT count(*) FROM book), (SELECT coalesce(sum(copies), 0) FROM book),
            (SELECT coalesce(sum(stock), 0) FROM book), (SELECT count(*) FROM loan WHERE returned_at IS NULL),
            (SELECT count(*) FROM loan WHERE is_overdue)
          """)
      guard let row else { return Statistics(books: 0, copies: 0, stock: 0, lent: 0, overdue: 0) }
      return Statistics(books: row.0, copies: row.1, stock: row.2, lent: row.3, overdue: row.4)
    }
  }

  // MARK: writing

  /// Lends a book by the rules. Under the write lock: what is checked is still so when it is written.
  func lend(_ book: Int64, to member: Int64, at date: Date = .now) async throws -> LoanRow {
    try await store.write(author: "checkout", deadline: deadline) { context in
      let book = try context.get(Book.self, key: book).orNotFound("book", book)
      let member = try context.get(Member.self, key: member).orNotFound("member", member)
      let out = member.loans.filter { $0.returnedAt == nil }
      if out.count >= Self.mostLoans { throw Refusal.conflict("\(member.name) has \(out.count) books already") }
      if out.contains(where: { $0.book === book }) { throw Refusal.conflict("\(member.name) has this book already") }
      if book.stock == 0 { throw Refusal.conflict("no copy of \(book.title) is on the shelf") }
      book.stock -= 1
      let loan = Loan(of: book, to: member, at: date)
      context.insert(loan)
      try context.save()  // gives the loan its key
      return LoanRow(loan)
    }
  }

  func takeBack(_ loan: Int64, at date: Date = .now) async throws -> LoanRow {
    try await store.write(author: "return", deadline: deadline) { context in
      let loan = try context.get(Loan.self, key: loan).orNotFound("loan", loan)
      if loan.returnedAt != nil { throw Refusal.conflict("this loan has ended already") }
      loan.returnedAt = date
      loan.isOverdue = false
      loan.book?.stock += 1
      return LoanRow(loan)
    }
  }

  /// The background job: marks loans that are overdue, a hundred in a commit, so that no request waits long.
  ///
  /// - Returns: How many it has marked.
  func markOverdue(at date: Date = .now) async throws -> Int {
    var marked = 0
    while true {
      let count = try await store.write(author: "overdue") { context in
        var late = FetchDescriptor<Loan>(
          predicate: #Predicate { $0.returnedAt == nil && !$0.isOverdue && $0.dueAt < date })
        late.fetchLimit = 100
        let loans = try context.fetch(late)
        for loan in loans { loan.isOverdue = true }
        return loans.count
      }
      marked += count
      if count < 100 { return marked }
    }
  }
}

extension Optional {
  fileprivate func orNotFound(_ what: String, _ key: Int64) throws -> Wrapped {
    guard let self else { throw Refusal.notFound("there is no \(what) \(key)") }
    return self
  }
}

extension BookRow {
  init(_ book: Book) {
    self.init(
      id: book.persistentModelID.rowKey ?? 0, title: book.title, author: book.author?.name, copies: book.copies,
      stock: book.stock)
  }
}

extension LoanRow {
  init(_ loan: Loan) {
    self.init(
      id: loan.persistentModelID.rowKey ?? 0, book: loan.book?.persistentModelID.rowKey ?? 0,
      member: loan.member?.name ?? "", dueAt: loan.dueAt, returnedAt: loan.returnedAt, isOverdue: loan.isOverdue)
  }
}
