import Quire
import TestSupport
import Testing

@testable import QuireModel
@testable import QuireSQLite

/// What goes wrong where no call can throw it.
@Suite(.fewAtOnce) struct WarningTests {
  /// What a store has warned of since.
  private final class Heard: Sendable {
    private let warnings = Locked<[StoreWarning]>([])
    var all: [StoreWarning] { warnings.withLock { $0 } }
    func add(_ warning: StoreWarning) { warnings.withLock { $0.append(warning) } }
  }

  @Test func `a row that cannot be loaded is warned of where the call cannot throw, and only there`() throws {
    let (store, file) = try BadRowTests.store()
    let heard = Heard()
    let observation = store.observeWarnings { heard.add($0) }
    try store.execute("INSERT INTO volume VALUES (2, NULL, 1, 1, 1, 1)")
    let context = ModelContext(store)
    #expect(throws: ModelError.self) { try context.get(Volume.self, key: 2) }
    #expect(throws: ModelError.self) { try context.all(Volume.self) }
    #expect(heard.all.isEmpty)
    #expect(context.model(Volume.self, key: 2) == nil)
    #expect(heard.all.map(\.kind) == [.loading])
    #expect(heard.all.first?.description.hasPrefix("Volume 2.title: ") == true)
    observation.cancel()
    _ = context.model(Volume.self, key: 2)
    #expect(heard.all.count == 1 && context.drainDeferredErrors().count == 2)
    withExtendedLifetime(file) {}
  }

  @Test func `what objects cannot load because their context is gone is warned of, once`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    func volumes() throws -> [Volume] { try ModelContext(store).all(Volume.self) }
    let heard = Heard()
    let observation = store.observeWarnings { heard.add($0) }
    let (some, others) = (try volumes(), try volumes())
    #expect(heard.all.isEmpty)
    #expect(some.allSatisfy { $0.writer == nil && $0.contributors.isEmpty })
    #expect(others[0].contributors.isEmpty && others[0].writer == nil)
    #expect(heard.all.map(\.kind) == [.loading, .loading])
    #expect(
      heard.all.map { String($0.description.prefix { $0 != "," }) } == [
        "Volume.writer of Volume 1 was read", "Volume.contributors of Volume 1 was read",
      ])
    observation.cancel()
  }

  @Test func `a statement that ends with its block's deadline is not warned of, because the block throws`() async throws
  {
    let store = try store(["Lem": ["Eden"]])
    let heard = Heard()
    let observation = store.observeWarnings { heard.add($0) }
    let ended = SQLiteError(code: 9, message: "interrupted", sql: "SELECT")
    try await store.write { $0.owner.deferError(ended) }
    try await store.read { $0.owner.deferError(ended) }
    #expect(heard.all.isEmpty)
    let context = ModelContext(store)
    context.owner.deferError(ended)
    #expect(heard.all.map(\.kind) == [.loading])
    observation.cancel()
  }

  @Test @MainActor func `an autosave that fails is warned of, in every stream`() async throws {
    let store = try store(["Lem": ["Eden"]])
    var streams = [store.warnings.makeAsyncIterator(), store.warnings.makeAsyncIterator()]
    let eden = try store.mainContext.volume("Eden")
    eden.price = .nan
    for place in streams.indices {
      let warning = await streams[place].next()
      #expect(warning?.kind == .autosave && warning?.description.contains("Volume.price") == true)
    }
    #expect(store.mainContext.autosaveError != nil)
  }
}
