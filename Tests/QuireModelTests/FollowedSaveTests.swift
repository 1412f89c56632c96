import Quire
import TestSupport
import Testing

@testable import QuireModel

/// A save that others' writes keep waiting, and whose context takes it in together with commits after it: what these
/// change back is as before in all, and in no change that the context is given.
@Suite(.fewOnMainActor) @MainActor struct FollowedSaveTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Dick": ["Ubik"], "Lem": ["Eden", "Solaris"]])
    context = ModelContext(store)
  }

  /// Saves what is pending, and commits the statements behind it before the context can move.
  private func save(_ sql: [SQL]) async throws {
    let gate = try await ServingTests.Gate(store)
    let (context, store) = (context, store)
    let task = Task { try await context.saveWhenReady() }
    await ServingTests.waiting(1, in: store)
    let others = Task.detached { try await store.write { for statement in sql { try $0.execute(statement) } } }
    await ServingTests.waiting(2, in: store)
    try await gate.open()
    try await others.value
    try await task.value
    #expect(!context.hasChanges)
  }

  @Test func `values and references that others set back`() async throws {
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    #expect(lem.volumes.count == 2 && dick.volumes.count == 1)
    (eden.title, solaris.writer) = ("Eden 1", dick)
    #expect(dick.volumes.count == 2)
    try await save([
      "UPDATE volume SET title = 'Eden' WHERE title = 'Eden 1'",
      "UPDATE volume SET writer_id = \(lem.persistentModelID.key) WHERE title = 'Solaris'",
    ])
    #expect(eden.title == "Eden" && solaris.writer === lem)
    #expect(lem.volumes.count == 2 && dick.volumes.map(\.title) == ["Ubik"])
  }

  @Test func `pairs that others unlink, and link again`() async throws {
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let (eden, ubik) = (try context.volume("Eden"), try context.volume("Ubik"))
    ubik.contributors = [lem]
    try context.save()
    eden.contributors = [dick]
    ubik.contributors = []
    #expect(dick.contributed.count == 1 && lem.contributed.isEmpty)
    try await save([
      "DELETE FROM volume_contributors WHERE volume_id = \(eden.persistentModelID.key)",
      "INSERT INTO volume_contributors (volume_id, writer_id) VALUES (\(ubik.persistentModelID.key), \(lem.persistentModelID.key))",
    ])
    #expect(eden.contributors.isEmpty && dick.contributed.isEmpty)
    #expect(ubik.contributors.map(\.name) == ["Lem"] && lem.contributed.map(\.title) == ["Ubik"])
  }

  @Test func `new rows that others delete`() async throws {
    let (lem, eden) = (try context.writer("Lem"), try context.volume("Eden"))
    let (fiasko, pirx) = (Volume("Fiasko", writer: lem), Writer(name: "Pirx"))
    for model in [fiasko, pirx] as [any PersistentModel] { context.insert(model) }
    eden.contributors = [pirx]
    fiasko.contributors = [lem]
    #expect(lem.volumes.count == 3 && lem.contributed.count == 1)
    try await save(["DELETE FROM volume WHERE title = 'Fiasko'", "DELETE FROM writer WHERE name = 'Pirx'"])
    #expect(fiasko.isDeleted && pirx.isDeleted && !eden.isDeleted)
    #expect(lem.volumes.count == 2 && lem.contributed.isEmpty && eden.contributors.isEmpty)
  }
}
