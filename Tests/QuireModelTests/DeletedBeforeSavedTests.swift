import Quire
import TestSupport
import Testing

@testable import QuireModel

/// `saveWhenReady` where others delete rows, while it waits, that it writes or links.
@Suite(.fewOnMainActor) @MainActor struct DeletedBeforeSavedTests {
  @Test func `an edit of a row that is deleted before it is written is told, and the rest can be saved`() async throws {
    let (context, store) = try SaveWhenReadyTests.context()
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    let (gate, others) = try await ServingTests.deleting("Eden", in: store)
    eden.title = "Eden 1"
    solaris.title = "Solaris 1"
    let save = Task { try await context.saveWhenReady() }
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    let error = await #expect(throws: ModelError.self) { try await save.value }
    guard case .ignoredAssignments(let places)? = error else { throw error! }
    #expect(places.count == 1 && places[0].hasPrefix("Volume.title of "))
    #expect(try SaveWhenReadyTests.titles(store) == ["Solaris"] && eden.isDeleted)
    try await context.saveWhenReady()
    #expect(try SaveWhenReadyTests.titles(store) == ["Solaris 1"] && !context.hasChanges)
  }

  @Test func `an edit of a row that is deleted before it is written is told also where others exchange unique values`()
    async throws
  {
    let store = try ModelContainer(for: Tome.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let tomes = ["a", "b", "c"].map { Tome($0, $0, shelf: nil) }
    for tome in tomes { context.insert(tome) }
    try context.save()
    let gate = try await ServingTests.Gate(store)
    let others = Task { try await store.write { _ = try $0.execute("DELETE FROM tome WHERE code = 'c'") } }
    await ServingTests.waiting(1, in: store)
    (tomes[0].code, tomes[1].code) = (tomes[1].code, tomes[0].code)
    tomes[2].pages = 7
    let save = Task { try await context.saveWhenReady() }
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    let error = await #expect(throws: ModelError.self) { try await save.value }
    guard case .ignoredAssignments(let places)? = error else { throw CancellationError() }
    #expect(places.count == 1 && places[0].hasPrefix("Tome.pages of "))
    try await context.saveWhenReady()
    #expect(
      try SaveWhenReadyTests.texts("SELECT code FROM tome ORDER BY id", store) == ["b", "a"] && !context.hasChanges)
  }

  @Test func `an object that is deleted before it is linked is left out, as in any save, and the rest is saved`()
    async throws
  {
    let (context, store) = try SaveWhenReadyTests.context(["Lem": ["Eden"], "Le Guin": []])
    let eden = try context.volume("Eden")
    let writers = try context.fetch(FetchDescriptor<Writer>(sortBy: [SortDescriptor(\.name)]))
    let gate = try await ServingTests.Gate(store)
    let others = Task { try await store.write { _ = try $0.execute("DELETE FROM writer WHERE name = 'Le Guin'") } }
    await ServingTests.waiting(1, in: store)
    eden.contributors = writers
    let save = Task { try await context.saveWhenReady() }
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    try await save.value
    #expect(eden.contributors.map(\.name) == ["Lem"] && !context.hasChanges)
    #expect(try store.value("SELECT count(*) FROM volume_contributors") == .integer(1))
  }

  @Test func `a reference to what is deleted here and, before that is written, by others is nil`() async throws {
    let store = try ModelContainer(for: Tome.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let (shelf, tome) = (Shelf("s"), Tome("a", "a", shelf: nil))
    context.insert(shelf)
    context.insert(tome)
    try context.save()
    let gate = try await ServingTests.Gate(store)
    let others = Task { try await store.write { _ = try $0.execute("DELETE FROM shelf") } }
    await ServingTests.waiting(1, in: store)
    tome.shelf = shelf
    context.delete(shelf)
    let save = Task { try await context.saveWhenReady() }
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    try await save.value
    #expect(tome.shelf == nil && !context.hasChanges)
    #expect(try store.query("SELECT shelf_id FROM tome").map(\.values) == [[.null]])
  }
}
