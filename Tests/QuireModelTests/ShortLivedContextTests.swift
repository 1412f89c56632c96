import CSQLite
import Quire
import Synchronization
import TestSupport
import Testing

@testable import QuireModel
@testable import QuireSQLite

/// What contexts leave behind in a store that lives on: nothing.
@Suite(.fewAtOnce) struct ShortLivedContextTests {
  /// What SQLite holds after some contexts, and after many more: in a process of its own, because SQLite counts for all
  /// of them together.
  private static func expectNoGrowth(contexts count: Int) throws {
    let store = try store(["Lem": ["Eden", "Solaris", "Fiasko"]])
    func visit(_ number: Int) throws {
      let context = ModelContext(store, isolation: nil)
      let volume = try #require(context.model(Volume.self, key: 1))
      volume.title = "title \(number)"
      if number % 2 == 0 { volume.price += 1 }
      if number % 3 == 0 { volume.isIn.toggle() }
      try context.save()
      if number % 10 != 0 { return }
      let live = try context.live(Volume.self, where: #Predicate { $0.price > 1 }, sortBy: [SortDescriptor(\.title)])
      #expect(live.count <= 3 && volume.writer?.volumes.count == 3)
      let extra = Volume("extra", writer: volume.writer)
      context.insert(extra)
      try context.save()
      context.delete(extra)
      try context.save()
    }
    for number in 0..<200 { try visit(number) }
    let before = sqlite3_memory_used()
    for number in 0..<count { try visit(number) }
    let grown = sqlite3_memory_used() - before
    #expect(grown < 100_000, "SQLite holds \(grown) bytes more than before")
  }

  @Test func `contexts that load lists and go do not change what commits capture each time`() async throws {
    let store = try store(["Lem": ["Eden", "Solaris", "Fiasko"]])
    @Sendable func books(_ context: ModelContext) throws -> Int {
      try context.fetch(FetchDescriptor<Writer>()).reduce(0) { $0 + $1.volumes.count }
    }
    func generation() -> Int { store.store.database.interests.generation.load(ordering: .relaxed) }
    #expect(try books(ModelContext(store, isolation: nil)) == 3)
    let before = generation()
    for number in 0..<3 {
      #expect(try await store.read { try books($0) } == 3 + number)
      try await store.write { context in
        let writer = try context.fetch(FetchDescriptor<Writer>())[0]
        #expect(writer.volumes.count == 3 + number)
        context.insert(Volume("new", writer: writer))
      }
      #expect(try books(ModelContext(store, isolation: nil)) == 4 + number)
    }
    #expect(generation() == before)
  }

  @Test func `the names of some thousand released stores are kept, and not of all`() {
    let registry = StoreRegistry()
    let ids = (0..<5 * StoreRegistry.kept).map { number in
      let store = registry.add(name: "\(number).db", entities: ["Volume"])
      registry.release(store)
      return PersistentIdentifier(store: store, entity: 0, key: 1)
    }
    let known = ids.filter { registry.entityName(of: $0) != nil }
    #expect(known == ids.suffix(known.count))
    #expect(known.count >= StoreRegistry.kept && known.count < 2 * StoreRegistry.kept)
  }

  @Test func `contexts that save and go leave no statements behind`() async {
    await #expect(processExitsWith: .success) { try ShortLivedContextTests.expectNoGrowth(contexts: 1000) }
  }

  @Test(.enabled(if: isSoaking)) func `not after a hundred thousand of them either`() async {
    await #expect(processExitsWith: .success) { try ShortLivedContextTests.expectNoGrowth(contexts: 100_000) }
  }

  /// What the process holds after some requests, and after many more.
  private static func expectNoGrowth(requests count: Int) async throws {
    let file = try TemporaryFile()
    var configuration = ModelConfiguration(url: file.url)
    configuration.synchronous = .off
    let store = try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    try await store.write { context in for number in 0..<100 { context.insert(Volume("volume \(number)")) } }
    @Sendable func request(_ number: Int) async throws {
      let key = Int64(number % 100) + 1
      if number % 5 == 0 {
        try await store.write { try $0.get(Volume.self, key: key)?.year = number }
      } else if number % 5 == 1 {
        let context = ModelContext(store, isolation: nil)
        try context.get(Volume.self, key: key)?.price = Double(number)
        try await context.saveWhenReady()
      } else {
        let year = number - 500
        _ = try await store.read { context in
          try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { ($0.year ?? 0) > year })).count
        }
      }
    }
    func run(_ numbers: Range<Int>) async throws {
      try await withThrowingTaskGroup { group in
        for client in 0..<8 {
          group.addTask { for number in numbers where number % 8 == client { try await request(number) } }
        }
        try await group.waitForAll()
      }
    }
    try await run(0..<2_000)
    let before = residentBytes()
    try await run(2_000..<count)
    let grown = residentBytes() - before
    #expect(grown < 12 << 20, "the process holds \(grown >> 10) kB more than before")
  }

  /// What the process has in memory.
  private static func residentBytes() -> Int {
    let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii).split(separator: " ")[1]
    return pages.flatMap { Int($0) }.map { $0 * 4096 } ?? 0
  }

  @Test func `requests leave nothing behind`() async {
    await #expect(processExitsWith: .success) {
      try await ShortLivedContextTests.expectNoGrowth(requests: 20_000)
    }
  }

  @Test(.enabled(if: isSoaking)) func `not after a million of them either`() async {
    await #expect(processExitsWith: .success) {
      try await ShortLivedContextTests.expectNoGrowth(requests: 1_000_000)
    }
  }
}
