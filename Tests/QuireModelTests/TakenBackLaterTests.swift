import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Saves that wait for others, whose edits the file takes back: their commit does not have these rows, or there is none.
@Suite(.fewOnMainActor) @MainActor struct TakenBackLaterTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Solaris"], "Dick": ["Ubik"]])
    context = ModelContext(store)
  }

  /// - Parameter hasOthers: Whether the save writes anything that stays.
  private func save(hasOthers: Bool, _ save: () async throws -> Void) async throws {
    for column in ["title", "writer_id"] {
      try store.execute(
        SQL(
          verbatim: """
            CREATE TRIGGER take_back_\(column) AFTER UPDATE OF \(column) ON volume
            BEGIN UPDATE volume SET \(column) = old.\(column) WHERE id = new.id; END
            """))
    }
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let (solaris, ubik) = (try context.volume("Solaris"), try context.volume("Ubik"))
    #expect(lem.volumes.count == 1 && dick.volumes.count == 1)
    let list = try context.live(Volume.self, sortBy: [SortDescriptor(\.title)])
    solaris.title = "Solyaris"
    solaris.writer = dick
    if hasOthers { (ubik.title, ubik.price) = ("Ubique", 9) }
    try await save()
    #expect(solaris.title == "Solaris" && ubik.title == "Ubik" && ubik.price == (hasOthers ? 9 : 0))
    #expect(solaris.writer === lem && lem.volumes.map(\.title) == ["Solaris"] && dick.volumes.map(\.title) == ["Ubik"])
    #expect(list.map(\.title) == ["Solaris", "Ubik"] && !context.hasChanges)
  }

  @Test(arguments: [true, false])
  func `the objects follow their rows, whether or not the commit has others`(hasOthers: Bool) async throws {
    try await save(hasOthers: hasOthers) {
      try await SaveWhenReadyTests.Waiting(context, store).end()
    }
  }

  @Test(arguments: [true, false])
  func `so they do after an autosave while others write`(hasOthers: Bool) async throws {
    try await save(hasOthers: hasOthers) {
      let gate = try await ServingTests.Gate(store)
      context.autosaveEnabled = true
      context.owner.following.changed()
      await ServingTests.waiting(1, in: store)
      try await gate.open()
      while context.hasChanges { await Task.yield() }
    }
  }

  @Test func `what another write of the same commit sets back is the old one in the object`() async throws {
    let solaris = try context.volume("Solaris")
    solaris.title = "Solyaris"
    let save = try await SaveWhenReadyTests.Waiting(context, store)
    let store = store
    let other = Task {
      try await store.write { _ = try $0.execute("UPDATE volume SET title = 'Solaris' WHERE id = 1") }
    }
    await ServingTests.waiting(2, in: store)
    try await save.end()
    try await other.value
    try context.refresh()
    #expect(solaris.title == "Solaris" && !context.hasChanges)
  }
}
