import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Autosave while others write.
@Suite(.fewOnMainActor) @MainActor struct AutosaveTests {
  @Test func `an autosave behind another writer blocks no actor, and close waits for it`() async throws {
    let file = try TemporaryFile()
    let store = try ServingTests.store(file.url)
    let context = store.mainContext
    let gate = try await ServingTests.Gate(store)
    context.insert(Volume("Eden"))
    while context.owner.saver.underWay == nil { await Task.yield() }
    context.insert(Volume("Solaris"))
    try await gate.open()
    while context.hasChanges { await Task.yield() }
    #expect(context.autosaveError == nil)
    #expect(try SaveWhenReadyTests.titles(store) == ["Eden", "Solaris"])
    let second = try await ServingTests.Gate(store)
    context.insert(Volume("Fiasko"))
    while context.owner.saver.underWay == nil { await Task.yield() }
    Thread.detachNewThread {
      usleep(10_000)
      Task { try await second.open() }
    }
    try store.close()
    let reader = try Connection(path: file.url.path, access: .readOnly)
    #expect(try reader.query("SELECT count(*) FROM volume").first == .integer(3))
  }

  @Test(arguments: [true, false])
  func `what a saveWhenReady that ended in vain has left pending is saved by the next turn`(isEdited: Bool) async throws
  {
    let store = try QuireModelTests.store(["Lem": ["Eden"]])
    let context = store.mainContext
    let gate = try await ServingTests.Gate(store)
    context.insert(Volume("Solaris"))
    let task = Task { try await context.saveWhenReady() }
    while context.owner.saver.underWay == nil { await Task.yield() }
    if isEdited { try context.volume("Eden").title = "Eden 1" }
    for _ in 0..<20 { await Task.yield() }  // the turn ends
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(context.hasChanges)
    try await gate.open()
    let end = ContinuousClock.now + .seconds(600)
    while context.hasChanges, .now < end { await Task.yield() }
    #expect(try SaveWhenReadyTests.titles(store) == [isEdited ? "Eden 1" : "Eden", "Solaris"])
    #expect(context.autosaveError == nil)
  }

  @Test func `an autosave that fails is not tried again by itself, whoever listens to saves`() async throws {
    let store = try QuireModelTests.store(["Lem": ["Eden"]])
    let context = store.mainContext
    let listener = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: nil, queue: nil) { _ in
    }
    defer { NotificationCenter.default.removeObserver(listener) }
    let volume = try context.volume("Eden")
    for year in 1...2 {
      (volume.price, volume.year) = (.nan, year)
      while context.autosaveError == nil { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }
      context.autosaveError = nil
      for _ in 0..<20 { await Task.yield() }
      #expect(context.autosaveError == nil, "attempt \(year)")
    }
    volume.price = 1
    while context.hasChanges { await Task.yield() }
    #expect(try context.autosaveError == nil && store.value("SELECT year FROM volume") == 2)
  }

  @ModelActor actor Short {
    /// - Returns: Says whether the context has been closed.
    func insert(_ title: String) -> Mailbox {
      modelContext.autosaveEnabled = true
      modelContext.insert(Volume(title))
      return modelContext.owner.mailbox
    }
  }

  /// Whether these contexts are closed, which their isolation does when it has ended the turn.
  private static func areClosed(_ contexts: [Mailbox]) async throws -> Bool {
    for _ in 0..<360_000 {  // an hour, where it fails
      if !contexts.contains(where: { $0.scheduleTurnEnd() }) { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  @Test func `an autosave behind another writer keeps no thread when its actor has gone, and is made`() async throws {
    let file = try TemporaryFile()
    let store = try ServingTests.store(file.url)
    let gate = try await ServingTests.Gate(store)
    var contexts: [Mailbox] = []
    for title in ["Eden", "Solaris"] { contexts.append(await Short(modelContainer: store).insert(title)) }
    await ServingTests.waiting(2, in: store)
    let areClosed = try await Self.areClosed(contexts)
    try await gate.open()
    #expect(areClosed)
    while try SaveWhenReadyTests.titles(store) != ["Eden", "Solaris"] { await Task.yield() }
  }

  @Test func `an autosave that fails when its actor has gone is warned of`() async throws {
    let file = try TemporaryFile()
    let store = try ServingTests.store(file.url)
    try store.execute("CREATE UNIQUE INDEX one ON volume (title)")
    try store.execute("INSERT INTO volume (title, year, price, is_in) VALUES ('Eden', 0, 0, 1)")
    var warnings = store.warnings.makeAsyncIterator()
    let gate = try await ServingTests.Gate(store)
    let context = await Short(modelContainer: store).insert("Eden")
    await ServingTests.waiting(1, in: store)
    let isClosed = try await Self.areClosed([context])
    try await gate.open()
    try #require(isClosed)
    #expect(await warnings.next()?.kind == .autosave)
    #expect(try SaveWhenReadyTests.titles(store) == ["Eden"])
  }

  @Test func `an autosave leaves out an object that is deleted before it is linked, and saves the rest`() async throws {
    let store = try ServingTests.store()
    let context = store.mainContext
    let (eden, lem, other) = (Volume("Eden"), Writer(name: "Lem"), Writer(name: "Le Guin"))
    for model in [eden, lem, other] as [any PersistentModel] { context.insert(model) }
    try context.save()
    let gate = try await ServingTests.Gate(store)
    let others = Task { try await store.write { _ = try $0.execute("DELETE FROM writer WHERE name = 'Le Guin'") } }
    await ServingTests.waiting(1, in: store)
    eden.contributors = [lem, other]
    eden.title = "Eden 1"
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    while context.hasChanges, context.autosaveError == nil { await Task.yield() }
    #expect(eden.contributors.map(\.name) == ["Lem"] && context.autosaveError == nil)
    #expect(try SaveWhenReadyTests.titles(store) == ["Eden 1"])
  }

  @Test func `an autosave of a row that is deleted before it is written is told, and saves the rest`() async throws {
    let file = try TemporaryFile()
    let store = try ServingTests.store(file.url)
    let context = store.mainContext
    for title in ["Eden", "Solaris"] { context.insert(Volume(title)) }
    try context.save()
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    let (gate, others) = try await ServingTests.deleting("Eden", in: store)
    eden.title = "Eden 1"
    solaris.title = "Solaris 1"
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    while context.hasChanges { await Task.yield() }
    #expect(try SaveWhenReadyTests.titles(store) == ["Solaris 1"])
    guard case ModelError.ignoredAssignments? = context.autosaveError else { throw CancellationError() }
  }

  @Test func `an assignment that is refused is told, also if nothing else has changed`() async throws {
    let store = try ServingTests.store()
    let context = store.mainContext
    let eden = Volume("Eden")
    context.insert(eden)
    try context.save()
    context.delete(eden)
    try context.save()
    eden.title = "Eden 1"
    while context.autosaveError == nil { await Task.yield() }
    guard case .ignoredAssignments? = context.autosaveError as? ModelError else { throw context.autosaveError! }
  }
}
