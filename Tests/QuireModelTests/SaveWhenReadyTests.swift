import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// `saveWhenReady`: a save that waits without a thread, while its context goes on.
@Suite(.fewOnMainActor) @MainActor struct SaveWhenReadyTests {
  /// A save that waits behind a gate, of a context of the main actor.
  @MainActor struct Waiting {
    let store: ModelContainer
    let context: ModelContext
    let task: Task<Void, any Error>
    private let gate: ServingTests.Gate
    private let save: SaveUnderWay?

    init(_ context: ModelContext, _ store: ModelContainer) async throws {
      self.store = store
      self.context = context
      gate = try await ServingTests.Gate(store)
      task = Task { try await context.saveWhenReady() }
      await ServingTests.waiting(1, in: store)
      save = context.owner.saver.underWay
      #expect(save != nil)
    }

    nonisolated func open() async throws { try await gate.open() }

    func end() async throws {
      try await open()
      try await task.value
      #expect(context.owner.saver.underWay !== save)
    }
  }

  static func context(_ shelf: KeyValuePairs<String, [String]> = ["Lem": ["Eden", "Solaris"]]) throws -> (
    ModelContext, ModelContainer
  ) {
    let store = try store(shelf)
    return (ModelContext(store), store)
  }

  static func titles(_ store: ModelContainer) throws -> [String] {
    try texts("SELECT title FROM volume ORDER BY title", store)
  }

  static func texts(_ sql: SQL, _ store: ModelContainer) throws -> [String] {
    try store.query(sql).compactMap { if case .text(let text) = $0[0] { text } else { nil } }
  }

  @Test func `it writes what is pending at the call, and what is edited meanwhile stays pending`() async throws {
    let (context, store) = try Self.context()
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    eden.title = "Eden 1"
    eden.year = 1959
    let fiasko = Volume("Fiasko", writer: eden.writer)
    context.insert(fiasko)
    let save = try await Waiting(context, store)
    eden.title = "Eden 2"
    eden.price = 5
    solaris.title = "Solaris 1"
    fiasko.title = "Fiasko 1"
    #expect(fiasko.persistentModelID.rowKey == nil)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 3)
    try await save.end()
    #expect(try Self.titles(store) == ["Eden 1", "Fiasko", "Solaris"])
    #expect([eden.title, solaris.title, fiasko.title] == ["Eden 2", "Solaris 1", "Fiasko 1"])
    #expect(fiasko.persistentModelID.rowKey == 3 && eden.writer?.volumes.count == 3)
    #expect(context.model(Volume.self, key: 3) === fiasko)
    #expect(
      Set(context.changedModelsArray.map(ObjectIdentifier.init))
        == Set([eden, solaris, fiasko].map(ObjectIdentifier.init)))
    #expect(context.insertedModelsArray.isEmpty)
    try context.save()
    #expect(try Self.titles(store) == ["Eden 2", "Fiasko 1", "Solaris 1"])
    #expect(try store.value("SELECT year || ' ' || price FROM volume WHERE id = 1") == .text("1959 5.0"))
    #expect(!context.hasChanges)
  }

  @Test func `when it fails, all is pending, with the newer edits on top`() async throws {
    let (context, store) = try Self.context()
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    eden.title = "Eden 1"
    context.delete(solaris)
    let fiasko = Volume("Fiasko")
    context.insert(fiasko)
    let observing = store.beforeCommit { _ in throw ServingTests.Stopped() }
    let save = try await Waiting(context, store)
    eden.year = 1959
    fiasko.price = 3
    context.insert(Volume("Katar"))
    try? await save.open()
    await #expect(throws: ServingTests.Stopped.self) { try await save.task.value }
    observing.cancel()
    #expect(try Self.titles(store) == ["Eden", "Solaris"])
    #expect(context.insertedModelsArray.count == 2 && solaris.isDeleted && eden.title == "Eden 1")
    try await context.saveWhenReady()
    #expect(try Self.titles(store) == ["Eden 1", "Fiasko", "Katar"])
    #expect(try store.value("SELECT sum(coalesce(year, 0) + price) FROM volume") == .real(1962))
    #expect(!context.hasChanges)
  }

  @Test func `a cancelled one is not made, nor one that is late`() async throws {
    let (context, store) = try Self.context()
    try context.volume("Eden").title = "Eden 1"
    let save = try await Waiting(context, store)
    save.task.cancel()
    await #expect(throws: CancellationError.self) { try await save.task.value }
    await #expect(throws: ModelError.self) { try await context.saveWhenReady(deadline: .now + .milliseconds(1)) }
    try await save.open()
    #expect(try Self.titles(store) == ["Eden", "Solaris"])
    #expect(context.hasChanges && context.owner.saver.underWay == nil)
    try context.save()
    #expect(try Self.titles(store) == ["Eden 1", "Solaris"])
  }

  @Test func `one that waits for another waits no longer than its deadline and its task`() async throws {
    let (context, store) = try Self.context()
    let eden = try context.volume("Eden")
    eden.title = "Eden 1"
    let save = try await Waiting(context, store)
    eden.title = "Eden 2"
    let late = await #expect(throws: ModelError.self) {
      try await context.saveWhenReady(deadline: .now + .milliseconds(1))
    }
    guard case .deadlineExceeded? = late else { throw ServingTests.Stopped() }
    let second = Task { try await context.saveWhenReady() }
    await Task.yield()
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    try await save.end()
    #expect(try Self.titles(store) == ["Eden 1", "Solaris"])
    try await context.saveWhenReady(deadline: .now + .seconds(600))
    #expect(try Self.titles(store) == ["Eden 2", "Solaris"])
  }

  @Test func `what is deleted meanwhile is deleted by the next save`() async throws {
    let (context, store) = try Self.context()
    let (eden, fiasko) = (try context.volume("Eden"), Volume("Fiasko"))
    eden.title = "Eden 1"
    context.insert(fiasko)
    let save = try await Waiting(context, store)
    context.delete(eden)
    context.delete(fiasko)
    try await save.end()
    #expect(try Self.titles(store) == ["Eden 1", "Fiasko", "Solaris"])
    #expect(eden.isDeleted && fiasko.isDeleted && context.deletedModelsArray.count == 2)
    try context.save()
    #expect(try Self.titles(store) == ["Solaris"])
    #expect(context.registeredModel(for: fiasko.persistentModelID) as Volume? == nil)
  }

  @Test func `a rollback meanwhile does not stop it, and its values come with its commit`() async throws {
    let (context, store) = try Self.context()
    let (eden, solaris, fiasko) = (try context.volume("Eden"), try context.volume("Solaris"), Volume("Fiasko"))
    eden.title = "Eden 1"
    context.delete(solaris)
    context.insert(fiasko)
    let save = try await Waiting(context, store)
    eden.year = 1959
    context.rollback()
    #expect(!context.hasChanges && eden.title == "Eden" && !solaris.isDeleted && fiasko.modelContext == nil)
    try await save.end()
    #expect(eden.title == "Eden 1" && eden.year == nil && solaris.isDeleted && !context.hasChanges)
    #expect(try context.fetch(FetchDescriptor<Volume>()).count == 2)
    #expect(context.model(Volume.self, key: 3) !== fiasko && context.model(Volume.self, key: 3)?.title == "Fiasko")
  }

  @Test func `pairs that are linked and unlinked meanwhile are as they were left`() async throws {
    let (context, store) = try Self.context(["Lem": ["Eden"], "Dick": ["Ubik"]])
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let (eden, ubik) = (try context.volume("Eden"), try context.volume("Ubik"))
    eden.contributors = [dick]
    let both = Volume("Both")
    context.insert(both)
    both.contributors = [lem]
    let save = try await Waiting(context, store)
    eden.contributors = []
    both.contributors.append(dick)
    ubik.contributors = [lem]
    try await save.end()
    let pairs: SQL = "SELECT volume_id || '-' || writer_id FROM volume_contributors ORDER BY 1"
    #expect(try Self.texts(pairs, store) == ["1-2", "3-1"])
    try context.save()
    #expect(try Self.texts(pairs, store) == ["2-1", "3-1", "3-2"])
    #expect(eden.contributors.isEmpty && both.contributors.count == 2 && lem.contributed.count == 2)
  }

  @Test func `a save, a transaction and SQL meanwhile come after it`() async throws {
    let (context, store) = try Self.context()
    let eden = try context.volume("Eden")
    for way in 0..<3 {
      eden.price += 1
      context.insert(Volume("new \(way)"))
      let save = try await Waiting(context, store)
      eden.year = way
      Thread.detachNewThread {
        usleep(5_000)
        Task { try await save.open() }
      }
      switch way {
      case 0: try context.save()
      case 1: try context.transaction { eden.price += 0.5 }
      default: try context.execute("UPDATE volume SET price = price + 10")
      }
      #expect(context.owner.saver.underWay == nil)
      try await save.task.value
    }
    #expect(eden.price == 13.5 && eden.year == 2 && context.changedModelsArray.count == 1)
    #expect(try Self.titles(store) == ["Eden", "Solaris", "new 0", "new 1", "new 2"])
    try context.save()
    #expect(try store.value("SELECT year FROM volume WHERE id = 1") == .integer(2))
  }

  @Test func `a second one waits for the first`() async throws {
    let (context, store) = try Self.context()
    let eden = try context.volume("Eden")
    eden.title = "Eden 1"
    let save = try await Waiting(context, store)
    let begun = store.store.database.commitNumber
    eden.title = "Eden 2"
    context.insert(Volume("Fiasko", writer: eden.writer))
    let second = Task { try await context.saveWhenReady() }
    await Task.yield()
    try await save.end()
    try await second.value
    #expect(try Self.titles(store) == ["Eden 2", "Fiasko", "Solaris"])
    #expect(store.store.database.commitNumber == begun + 2 && !context.hasChanges)
  }

  @Test func `new objects that refer to each other and to what is inserted meanwhile`() async throws {
    let (context, store) = try Self.context([:])
    let lem = Writer(name: "Lem")
    context.insert(Volume("Eden", writer: lem))
    let save = try await Waiting(context, store)
    let solaris = Volume("Solaris", writer: lem)
    context.insert(solaris)
    #expect(lem.volumes.count == 2)
    try await save.end()
    #expect(lem.persistentModelID.rowKey == 1 && lem.volumes.count == 2)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM volume WHERE writer_id = 1") == .integer(2))
    #expect(lem.volumes.map(\.title).sorted() == ["Eden", "Solaris"])
  }

  @Test func `a live list and other contexts see it as any commit, and undo takes it back`() async throws {
    let (context, store) = try Self.context()
    let other = ModelContext(store)
    let live = try context.live(Volume.self, sortBy: [SortDescriptor(\.title)])
    let undo = UndoManager()
    context.undoManager = undo
    try context.volume("Eden").title = "A"
    context.insert(Volume("B"))
    let save = try await Waiting(context, store)
    try store.store.database.read { _ in }
    try await save.end()
    #expect(live.map(\.title) == ["A", "B", "Solaris"])
    #expect(try other.all(Volume.self).count == 3)
    try context.undo()
    #expect(live.map(\.title) == ["Eden", "Solaris"])
  }

  @Test func `a conflict with what was committed before it is refused`() async throws {
    let (context, store) = try Self.context()
    context.onConflict = .refuse
    let eden = try context.volume("Eden")
    eden.price += 1
    let gate = try await ServingTests.Gate(store)
    let others = Task { try await store.write { _ = try $0.execute("UPDATE volume SET price = 7") } }
    await ServingTests.waiting(1, in: store)
    let save = Task { try await context.saveWhenReady() }
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    let error = await #expect(throws: ModelError.self) { try await save.value }
    guard case .conflict? = error else { throw error! }
    context.rollback()
    try context.refresh()
    eden.price += 1
    let again = try await Waiting(context, store)
    eden.price += 1
    try await again.end()
    try context.save()
    #expect(try store.value("SELECT price FROM volume WHERE id = 1") == .real(9))
  }

  @Test func `saves of several contexts and writes are committed together`() async throws {
    let (_, store) = try Self.context()
    let gate = try await ServingTests.Gate(store)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<20 {
      let context = ModelContext(store)
      context.insert(Volume("new \(number)"))
      tasks.append(
        Task {
          if number % 2 == 0 {
            try await context.saveWhenReady()
          } else {
            try await store.write { $0.insert(Volume("new \(number)")) }
          }
        })
      await ServingTests.waiting(number + 1, in: store)
    }
    let begun = store.store.database.commitNumber
    try await gate.open()
    for task in tasks { try await task.value }
    #expect(store.store.database.commitNumber == begun + 20)
    #expect(try store.value("SELECT count(*) FROM volume") == .integer(22))
  }
}
