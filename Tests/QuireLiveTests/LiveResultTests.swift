import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// What every shape of live result has in common, each check for all of them.
@MainActor @Suite(.fewOnMainActor) struct LiveResultTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store)
    try fill(store, context)
  }

  /// A commit that affects every shape.
  private func commit(_ number: Int) throws {
    try store.execute(
      SQL(
        verbatim: """
          INSERT INTO book (id, title, year, price, is_in) VALUES (\(number), 'z\(number)', 1, 9, 1);
          UPDATE kept_value SET value = '\(number)'
          """))
    try context.refresh()
  }

  /// Sends what it is notified of elsewhere, as a server does to its clients.
  @ModelActor actor Feed {
    private var kept: [Any] = []

    func differences() throws -> AsyncStream<Difference<ModelRow<Book>>> {
      let (stream, sink) = AsyncStream<Difference<ModelRow<Book>>>.makeStream()
      let books = try modelContext.live(Book.self, sortBy: [SortDescriptor(\.title)])
      kept = [books, books.onDifference { sink.yield($0) }]
      return stream
    }

    func sections() throws -> AsyncStream<LiveSections<Book, Int?>.Difference> {
      let (stream, sink) = AsyncStream<LiveSections<Book, Int?>.Difference>.makeStream()
      let books = try modelContext.live(Book.self, sectionBy: \.year)
      kept = [books, books.onDifference { sink.yield($0) }]
      return stream
    }
  }

  @Test func `the differences of an actor's list and of its sections go to other tasks`() async throws {
    let store = try makeStore()
    let (lists, sections) = (Feed(modelContainer: store), Feed(modelContainer: store))
    var changes = try await lists.differences().makeAsyncIterator()
    var places = try await sections.sections().makeAsyncIterator()
    try await store.write { $0.insert(Book("Eden", year: 1959)) }
    guard case .insert(0, let book)? = await changes.next()?.changes.first else { throw CancellationError() }
    #expect(book.title == "Eden")
    guard case .insertSection(0, 1959)? = await places.next()?.changes.first else { throw CancellationError() }
  }

  @Test(arguments: Shape.allCases) func `it stands at its context's commit and shows what a new one does`(shape: Shape)
    throws
  {
    let probe = try shape.make(context)
    #expect(probe.live.commitNumber == context.commitNumber)
    try commit(10)
    #expect(try probe.live.commitNumber == context.commitNumber && probe.picture() == shape.make(context).picture())
    #expect(probe.differences == 1 && probe.live.error == nil)
  }

  @Test(arguments: Shape.allCases) func `a commit that does not affect it runs no statement and notifies nobody`(
    shape: Shape
  ) throws {
    let probe = try shape.make(context)
    let queries = probe.live.queriesRun
    var notified = 0
    track {
      _ = (probe.picture(), probe.live.error)
    } before: {
      notified += 1
    }
    try store.execute("CREATE TABLE other (x); INSERT INTO other VALUES (1)")
    try context.refresh()
    if shape != .records { #expect(probe.live.queriesRun == queries) }
    #expect(notified == 0 && probe.differences == 0 && probe.live.commitNumber == context.commitNumber)
  }

  @Test(arguments: Shape.allCases) func `an error is observable, leaves what is shown, and ends with the next commit`(
    shape: Shape
  ) throws {
    let probe = try shape.make(context)
    var fails = true
    let fault = Distorted(probe.node, in: context.owner) { if fails { $0.failure = .stale(commit: 0) } }
    let (before, stood) = (probe.picture(), context.commitNumber)
    var notified = 0
    track {
      _ = probe.live.error
    } before: {
      notified += 1
    }
    try commit(10)
    #expect(probe.live.error != nil && notified == 1)
    #expect(probe.picture() == before && probe.live.commitNumber == stood && probe.differences == 0)
    track {
      _ = probe.live.error
    } before: {
      notified += 1
    }
    fails = false
    fault.attach()
    try commit(11)
    #expect(probe.live.error == nil && notified == 2 && probe.differences == 1)
    #expect(try probe.picture() == shape.make(context).picture() && probe.live.commitNumber == context.commitNumber)
    fault.attach()
    try commit(12)
    #expect(try probe.picture() == shape.make(context).picture(), "it follows step by step again")
  }

  @Test(arguments: Shape.allCases) func `paused it stays as it is at no cost, and resumed it is up to date`(
    shape: Shape
  )
    throws
  {
    let probe = try shape.make(context)
    let (before, stood) = (probe.picture(), context.commitNumber)
    probe.live.pause()
    let queries = probe.live.queriesRun
    #expect(probe.live.isPaused)
    try commit(10)
    #expect(probe.picture() == before && probe.live.commitNumber == stood && probe.live.queriesRun == queries)
    var notified = 0
    track {
      _ = probe.picture()
    } before: {
      notified += 1
    }
    try probe.live.resume()
    #expect(!probe.live.isPaused && notified == 1 && probe.differences == 1)
    #expect(try probe.picture() == shape.make(context).picture() && probe.live.commitNumber == context.commitNumber)
    try commit(11)
    #expect(try probe.picture() == shape.make(context).picture() && probe.differences == 2)
  }

  @Test(arguments: Shape.allCases) func `a pause after an error stands where it did, and resuming ends the error`(
    shape: Shape
  ) throws {
    let probe = try shape.make(context)
    let stood = context.commitNumber
    let fault = Distorted(probe.node, in: context.owner) { $0.failure = .stale(commit: 0) }
    try commit(10)
    probe.live.pause()
    #expect(probe.live.error != nil && probe.live.commitNumber == stood)
    withExtendedLifetime(fault) {}
    try probe.live.resume()
    #expect(probe.live.error == nil && probe.live.commitNumber == context.commitNumber)
    #expect(try probe.picture() == shape.make(context).picture())
  }

  @Test(arguments: Shape.allCases.filter { $0 != .setting }) func `its query can be replaced, also while it is paused`(
    shape: Shape
  ) throws {
    let (probe, other) = (try shape.make(context), try shape.make(context))
    let before = probe.picture()
    probe.live.pause()
    try probe.update()
    #expect(probe.picture() == before && probe.differences == 0)
    try other.update()
    #expect(other.picture() != before && other.differences == 1)
    try probe.live.resume()
    #expect(probe.picture() == other.picture() && probe.differences == 1)
    try commit(10)
    #expect(probe.picture() == other.picture())
    #expect(probe.live.commitNumber == context.commitNumber && probe.live.error == nil)
  }

  @Test(arguments: Shape.allCases) func `it explains itself, also while it is paused`(shape: Shape) throws {
    let probe = try shape.make(context)
    let explanation = try probe.live.explanation
    #expect(!explanation.subject.isEmpty && !explanation.wakes.isEmpty && !explanation.statements.isEmpty)
    probe.live.pause()
    #expect(try probe.live.explanation == explanation)
  }
}

extension LiveResultTests {
  @MainActor final class Probe {
    let live: LiveResult
    let node: any LiveEngine
    let picture: () -> String
    /// To books that are in alone.
    let update: () throws -> Void
    var tokens: [ChangeToken] = []
    var differences = 0

    init(
      _ live: LiveResult, _ node: any LiveEngine, _ picture: @escaping () -> String,
      update: @escaping () throws -> Void = {}
    ) {
      (self.live, self.node, self.picture, self.update) = (live, node, picture, update)
    }

    func listening<Operator: LiveOperator>(_ node: LiveNode<Operator>) -> Probe {
      tokens.append(node.onDifference { [unowned self] _ in differences += 1 })
      return self
    }
  }

  enum Shape: String, CaseIterable, Sendable {
    case objects, rows, groups, groupRows, value, records, sections, selection, tally, setting

    @MainActor func make(_ context: ModelContext) throws -> Probe {
      let isIn: Predicate<Book> = #Predicate { $0.isIn }
      let select = SelectQuery(from: "book", key: "id", columns: [])
      var inSelect = select
      inSelect.filter = .compare(.equal, .column(ColumnPath("is_in")), .literal(1))
      switch self {
      case .objects:
        let live = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
        return Probe(live, live.node, { "\(live.titles)" }, update: { try live.update(where: isIn) }).listening(
          live.node)
      case .rows:
        let live = try context.live(BookLine.self, sortBy: [SortDescriptor(\.title)])
        return Probe(live, live.node, { "\(Array(live))" }, update: { try live.update(where: isIn) })
          .listening(live.node)
      case .groups:
        let live = try context.liveGroups(Book.self, by: \.year, .count)
        return Probe(live, live.node, { "\(Array(live))" }, update: { try live.update(where: isIn) })
          .listening(live.node)
      case .groupRows:
        let live = try context.live(PricedYear.self)
        return Probe(live, live.node, { "\(Array(live))" }, update: { try live.update(where: isIn) })
          .listening(live.node)
      case .value:
        let live = try context.liveCount(Book.self)
        return Probe(live, live.node, { "\(live.value)" }, update: { try live.update(where: isIn) })
          .listening(live.node)
      case .records:
        let live = try context.live(sql: "SELECT title FROM book ORDER BY id")
        let update = { try live.update(sql: "SELECT title FROM book WHERE is_in ORDER BY id") }
        return Probe(live, live.node, { "\(live.map(\.values))" }, update: update).listening(live.node)
      case .sections:
        let live = try context.live(Book.self, sectionBy: \.year, sortBy: [SortDescriptor(\.title)])
        let picture = { live.map { "\(String(describing: $0.key)): \($0.titles)" }.joined() }
        return Probe(live, live.node, picture, update: { try live.update(where: isIn) }).listening(live.node)
      case .selection:
        let live = try LiveSelection(context, select, columns: [("title", .column(ColumnPath("title")))])
        return Probe(live, live.node, { "\(live.records.map(\.values))" }, update: { try live.update(query: inSelect) })
          .listening(live.node)
      case .tally:
        let live = try LiveTally(context, select, named: "books")
        return Probe(live, live.node, { "\(live.records.map(\.values))" }, update: { try live.update(query: inSelect) })
          .listening(live.node)
      case .setting:
        let live = try context.setting("size", default: 0)
        return Probe(live, live.node, { "\(live.value)" }).listening(live.node)
      }
    }
  }
}

@Projection(groupsOf: Book.self) struct PricedYear {
  var year: Int?
  @Count var books: Int
}
