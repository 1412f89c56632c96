/// `desk`: the load of a lending desk, in one process or in two. Clients ask one thing after another: pages of books, a book with its loans, loans
/// and returns under rules, and now and then statistics.
struct DeskPlan: Sendable {
  static let books = 20_000
  static let authors = 2_000
  static let members = 5_000
  static let loans = 20_000
  static let clients = 200
  /// The clients of each of two processes.
  static let halves = [0..<clients / 2, clients / 2..<clients]
  static let pageSize = 20
  static let mostLoans = 5
  /// As many cores as the load was first tried on.
  static let readers = 2

  enum Request: Sendable {
    /// Books on the shelf whose title is not before that text, with the names of their authors.
    case list(from: String)
    case detail(book: Int64)
    case checkout(book: Int64, member: Int64)
    case giveBack(loan: Int64)
    case statistics
  }

  /// In thousandths of all requests.
  let writes: Int
  let requests: Int

  /// What a client asks in a round.
  func requests(of client: Int, round: Int) -> [Request] {
    var random = SplitMix(seed: UInt64(client * 1_000 + round + 1))
    return (0..<requests / Self.clients).map { _ in
      let kind = Int(random.next() % 1_000)
      if kind < writes {
        if kind % 2 == 0 {
          return .checkout(
            book: Int64(random.next() % UInt64(Self.books)) + 1, member: Int64(random.next() % UInt64(Self.members)) + 1
          )
        }
        return .giveBack(loan: Int64(random.next() % UInt64(Self.loans)) + 1)
      }
      if kind >= 998 { return .statistics }
      if random.next() % 10 < 7 { return .list(from: Workload.title(&random)) }
      return .detail(book: Int64(random.next() % UInt64(Self.books)) + 1)
    }
  }

  static let schema = """
    CREATE TABLE desk_author (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE desk_book (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, copies INTEGER NOT NULL, stock INTEGER NOT NULL,
      author_id INTEGER REFERENCES desk_author ON DELETE SET NULL
    ) STRICT;
    CREATE TABLE desk_member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE desk_loan (
      id INTEGER PRIMARY KEY, lent_at REAL NOT NULL, is_out INTEGER NOT NULL,
      book_id INTEGER REFERENCES desk_book ON DELETE CASCADE, member_id INTEGER REFERENCES desk_member ON DELETE CASCADE
    ) STRICT;
    CREATE INDEX desk_book_author_id ON desk_book (author_id);
    CREATE INDEX desk_loan_book_id ON desk_loan (book_id);
    CREATE INDEX desk_loan_member_id ON desk_loan (member_id);
    CREATE INDEX desk_book_title ON desk_book (title);
    """

  /// Fills a file that has the tables.
  @MainActor static func fill(_ file: String) throws {
    let database = try RawDatabase(file, .quire)
    defer { database.close() }
    var random = SplitMix(seed: 3)
    func insert(_ sql: String, _ count: Int, _ bind: (RawStatement, Int64) throws -> Void) throws {
      let statement = try database.prepare(sql)
      defer { statement.finalize() }
      for id in 1...Int64(count) {
        statement.bind(1, id)
        try bind(statement, id)
      }
    }
    try database.run("BEGIN")
    try insert("INSERT INTO desk_author VALUES (?1, ?2)", authors) { statement, id in
      try statement.binding(2, "Author Number \(id)") { try statement.run() }
    }
    try insert("INSERT INTO desk_member VALUES (?1, ?2)", members) { statement, id in
      try statement.binding(2, "Member Number \(id)") { try statement.run() }
    }
    try insert("INSERT INTO desk_book (id, title, copies, stock, author_id) VALUES (?1, ?2, 5, 5, ?3)", books) {
      statement, id in
      statement.bind(3, Int64(random.next() % UInt64(authors)) + 1)
      let title = Workload.title(&random)
      try statement.binding(2, title) { try statement.run() }
    }
    // One loan of each book, every second one out; no member has more than the rules allow.
    try insert("INSERT INTO desk_loan (id, lent_at, is_out, book_id, member_id) VALUES (?1, 0, ?2, ?1, ?3)", loans) {
      statement, id in
      statement.bind(2, id % 2)
      statement.bind(3, id % Int64(members) + 1)
      try statement.run()
    }
    try database.run("UPDATE desk_book SET stock = stock - 1 WHERE id % 2 = 1; COMMIT; ANALYZE")
  }

  /// - Throws: ``DeskError`` if a rule does not hold in the file.
  @MainActor static func check(_ file: String) throws {
    let database = try RawDatabase(file, .sqlite)
    defer { database.close() }
    let broken = try database.prepare(
      """
      SELECT (SELECT count(*) FROM (SELECT 1 FROM desk_loan WHERE is_out GROUP BY book_id, member_id HAVING count(*) > 1)),
        (SELECT count(*) FROM desk_book AS b WHERE stock <> copies
          - (SELECT count(*) FROM desk_loan WHERE book_id = b.id AND is_out) OR stock < 0)
      """)
    defer { broken.finalize() }
    _ = try broken.step()
    if broken.integer(0) > 0 || broken.integer(1) > 0 {
      throw DeskError(description: "desk: \(broken.integer(0)) double loans, \(broken.integer(1)) wrong stocks")
    }
  }
}

/// A rule of the desk that did not hold: the run is worth nothing.
struct DeskError: Error, CustomStringConvertible { let description: String }

/// What an answer holds, as a service would write it out.
struct DeskAnswer: Sendable {
  var rows: [(id: Int64, title: String, name: String?)] = []
}
