import Quire
import TestSupport
import Testing

@testable import QuireModel

/// A save whose edits the file takes back, by a trigger or a foreign key: the row ends as it began, and the objects follow
/// it, whatever others have captured of the rows.
@Suite(.fewAtOnce) struct TakenBackEditTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Solaris"], "Dick": ["Ubik"]])
    context = ModelContext(store)
  }

  private func takeBack(_ column: String) throws {
    try store.execute(
      SQL(
        verbatim: """
          CREATE TRIGGER take_back_\(column) AFTER UPDATE OF \(column) ON volume
          BEGIN UPDATE volume SET \(column) = old.\(column) WHERE id = new.id; END
          """))
  }

  @Test(arguments: [true, false], [true, false])
  func `a value that a trigger sets back is the old one in the object`(isListening: Bool, inTransaction: Bool) throws {
    let commits = isListening ? store.commits : nil
    try takeBack("title")
    let solaris = try context.volume("Solaris")
    if inTransaction {
      try context.transaction {
        (solaris.title, solaris.price) = ("Solyaris", 9)
        try context.save()
        #expect(solaris.title == "Solaris" && solaris.price == 9)
      }
    } else {
      (solaris.title, solaris.price) = ("Solyaris", 9)
      try context.save()
    }
    #expect(solaris.title == "Solaris" && solaris.price == 9 && !context.hasChanges)
    solaris.title = "Solyaris"
    try context.save()
    #expect(solaris.title == "Solaris")
    _ = commits
  }

  @Test(arguments: [true, false])
  func `a reference that a trigger sets back is the old one, and so are both lists`(isListening: Bool) throws {
    let commits = isListening ? store.commits : nil
    try takeBack("writer_id")
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let solaris = try context.volume("Solaris")
    #expect(lem.volumes.count == 1 && dick.volumes.count == 1)
    solaris.writer = dick
    #expect(lem.volumes.isEmpty && dick.volumes.count == 2)
    try context.save()
    #expect(solaris.writer === lem && lem.volumes.map(\.title) == ["Solaris"] && dick.volumes.map(\.title) == ["Ubik"])
    _ = commits
  }

  /// - Parameter isWhole: Whether nothing else is written, so that the file is as before.
  @MainActor @Test(arguments: [true, false], [true, false])
  func `a save that others' writes keep waiting shows what a trigger sets back`(isWhole: Bool, isAutosave: Bool)
    async throws
  {
    try takeBack("title")
    try takeBack("writer_id")
    let context = isAutosave ? store.mainContext : ModelContext(store)
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let (solaris, ubik) = (try context.volume("Solaris"), try context.volume("Ubik"))
    let shown = try context.live(Volume.self, where: #Predicate { $0.title == "Solaris" })
    #expect(lem.volumes.count == 1 && dick.volumes.count == 1)
    let gate = try await ServingTests.Gate(store)
    (solaris.title, ubik.writer) = ("Solyaris", lem)
    if !isWhole { solaris.price = 9 }
    let task = isAutosave ? nil : Task { try await context.saveWhenReady() }
    while context.owner.saver.underWay == nil { await Task.yield() }
    solaris.year = 1961
    try await gate.open()
    try await task?.value
    while isAutosave, context.hasChanges { await Task.yield() }
    #expect(solaris.title == "Solaris" && solaris.price == (isWhole ? 0 : 9) && solaris.year == 1961)
    #expect(ubik.writer === dick && lem.volumes.map(\.title) == ["Solaris"] && dick.volumes.map(\.title) == ["Ubik"])
    #expect(shown.count == 1 && context.hasChanges == !isAutosave)
    try context.save()
    #expect(
      try store.value("SELECT title || year FROM volume WHERE id = \(solaris.persistentModelID.key)") == "Solaris1961")
  }

  @Test(arguments: [true, false])
  func `a reference to what a cascade deletes in the same save is nil`(isListening: Bool) throws {
    let store = try ModelContainer(
      for: Attic.self, Chest.self, Sticker.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let commits = isListening ? store.commits : nil
    let (attic, chest, sticker) = (Attic(), Chest(), Sticker())
    chest.attic = attic
    context.insert(chest)
    context.insert(sticker)
    try context.save()
    sticker.chest = chest
    context.delete(attic)
    try context.save()
    #expect(sticker.chest == nil && chest.isDeleted && !sticker.isDeleted)
    _ = commits
  }
}

@Model private final class Attic {
  @Relationship(deleteRule: .cascade, inverse: \Chest.attic) var chests: [Chest] = []
  init() {}
}

@Model private final class Chest {
  var attic: Attic?
  @Relationship(inverse: \Sticker.chest) var stickers: [Sticker] = []
  init() {}
}

@Model private final class Sticker {
  var chest: Chest?
  init() {}
}
