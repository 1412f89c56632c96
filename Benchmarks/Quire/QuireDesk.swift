import Quire

/// `desk`: a task for each client, `store.read` and `store.write` for what it asks.
@MainActor final class QuireDesk: Variant {
  private let plan: DeskPlan
  private let file: String
  private let container: ModelContainer
  private let second: SecondProcess?

  init(_ stage: Stage, writes: Int, isTwo: Bool = false) throws {
    plan = DeskPlan(writes: writes, requests: 20_000)
    file = try stage.file(.authorsOnly) + ".desk"
    container = try Self.open(file)
    try DeskPlan.fill(file)
    second = isTwo ? try SecondProcess("quire", file, writes: writes) : nil
  }

  private static func open(_ file: String) throws -> ModelContainer {
    var configuration = ModelConfiguration(url: URL(filePath: file))
    configuration.synchronous = .normal
    configuration.readers = DeskPlan.readers
    return try ModelContainer(
      for: DeskBook.self, DeskAuthor.self, DeskMember.self, DeskLoan.self, configurations: configuration)
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let (plan, store, clients) = (plan, container, second == nil ? 0..<DeskPlan.clients : DeskPlan.halves[0])
    try await meter.measureLoad(number, with: second) { try await Self.play(plan, clients, number, store) }
    try DeskPlan.check(file)
    return Checksum()  // which of two clients gets a book's last copy is not the same in all variants
  }

  /// The second process's rounds.
  static func serve(_ file: String, writes: Int) async throws {
    let (plan, store) = (DeskPlan(writes: writes, requests: 20_000), try open(file))
    try await SecondProcess.serve { try await play(plan, DeskPlan.halves[1], $0, store) }
    try store.close()
  }

  private nonisolated static func play(
    _ plan: DeskPlan, _ clients: Range<Int>, _ number: Int, _ store: ModelContainer
  ) async throws -> [Double] {
    try await withThrowingTaskGroup(of: [Double].self) { group in
      for client in clients {
        group.addTask {
          var waits: [Double] = []
          for request in plan.requests(of: client, round: number) {
            let begun = now()
            try await answer(request, store)
            waits.append(Double(now() - begun))
          }
          return waits
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  private struct Refusal: Error {}

  private nonisolated static func answer(_ request: DeskPlan.Request, _ store: ModelContainer) async throws {
    do {
      switch request {
      case .list(let text):
        let answer = try await store.read { context in
          var page = FetchDescriptor<DeskBook>(
            predicate: #Predicate { $0.title >= text && $0.stock > 0 }, sortBy: [SortDescriptor(\.title)])
          page.fetchLimit = DeskPlan.pageSize
          page.relationshipKeyPathsForPrefetching = [\.author]
          return DeskAnswer(
            rows: try context.fetch(page).map { ($0.persistentModelID.rowKey ?? 0, $0.title, $0.author?.name) })
        }
        if answer.rows.isEmpty, text < "A" { throw Refusal() }
      case .detail(let key):
        let answer = try await store.read { context in
          guard let book = try context.get(DeskBook.self, key: key) else { throw Refusal() }
          var rows: [(Int64, String, String?)] = [(key, book.title, book.author?.name)]
          for loan in book.loans { rows.append((loan.persistentModelID.rowKey ?? 0, "", loan.member?.name)) }
          return DeskAnswer(rows: rows)
        }
        if answer.rows.isEmpty { throw DeskError(description: "desk: book \(key) was not found") }
      case .checkout(let key, let member):
        try await store.write { context in
          guard let book = try context.get(DeskBook.self, key: key),
            let member = try context.get(DeskMember.self, key: member)
          else { throw DeskError(description: "desk: book \(key) was not found") }
          let out = member.loans.filter(\.isOut)
          if book.stock == 0 || out.count >= DeskPlan.mostLoans || out.contains(where: { $0.book === book }) {
            throw Refusal()
          }
          book.stock -= 1
          context.insert(DeskLoan(of: book, to: member, at: 1))
        }
      case .giveBack(let key):
        try await store.write { context in
          guard let loan = try context.get(DeskLoan.self, key: key), loan.isOut else { throw Refusal() }
          loan.isOut = false
          loan.book?.stock += 1
        }
      case .statistics:
        _ = try await store.read { context in
          try context.fetchOne(
            Int.self, Int.self,
            sql: "SELECT (SELECT sum(stock) FROM desk_book), (SELECT count(*) FROM desk_loan WHERE is_out)")
        }
      }
    } catch is Refusal {}
  }

  func close() throws {
    try second?.close()
    try container.close()
  }
}
