import Quire
import TestSupport
import Testing

/// Objects whose context is gone, inserted into another one, or deleted there.
@Suite(.fewAtOnce) struct OrphanTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Le Guin": ["Eden"], "Lem": ["Solaris", "Fiasco"]])
    context = ModelContext(store)
  }

  /// An object of a context that has gone when this returns.
  private func orphan(_ edit: (ModelContext) throws -> Volume) throws -> Volume {
    let volume = try edit(ModelContext(store, isolation: nil))
    #expect(volume.modelContext == nil)
    return volume
  }

  @Test func `one that was never saved becomes a new row, with what it refers to`() throws {
    let volume = try orphan { context in
      let volume = Volume("Memoirs", writer: Writer(name: "new"))
      context.insert(volume)
      return volume
    }
    context.insert(volume)
    try context.save()
    #expect(volume.modelContext === context && volume.writer?.modelContext === context)
    #expect(
      try store.query("SELECT v.title, w.name FROM volume AS v JOIN writer AS w ON w.id = writer_id WHERE v.id > 3")
        .map(\.values) == [["Memoirs", "new"]])
  }

  @Test func `one with a row becomes its object, with its values as edits`() throws {
    let volume = try orphan { context in
      let volume = try context.volume("Eden")
      _ = volume.writer?.name
      volume.year = 1959
      return volume
    }
    try store.execute("UPDATE volume SET price = 3 WHERE title = 'Eden'")
    context.insert(volume)
    #expect(volume.hasChanges && context.model(for: volume.persistentModelID) === volume)
    #expect(try context.volume("Eden") === volume)
    let writer = try context.writer("Le Guin")
    #expect(volume.writer === writer)
    try context.save()
    #expect(try store.query("SELECT year, price FROM volume WHERE id = 1").map(\.values) == [[1959, 0.0]])
    volume.title = "Eden 2"
    try context.save()
    #expect(try store.value("SELECT title FROM volume WHERE id = 1") == "Eden 2")
  }

  @Test func `if the row's object is there already, that one takes the values`() throws {
    let present = try context.volume("Eden")
    let volume = try orphan { context in
      let volume = try context.volume("Eden")
      volume.year = 1959
      volume.writer = try context.writer("Lem")
      return volume
    }
    context.insert(volume)
    let lem = try context.writer("Lem")
    #expect(present.year == 1959 && present.writer === lem && present.hasChanges)
    try context.save()
    #expect(try store.value("SELECT year FROM volume WHERE id = 1") == 1959)
    #expect(volume.modelContext == nil)
  }

  @Test func `one whose row is gone, or is of another store, becomes a new row`() throws {
    let gone = try orphan { try $0.volume("Eden") }
    let foreign = try QuireModelTests.store(["Other": ["Other volume"]])
    let other = try { try ModelContext(foreign, isolation: nil).volume("Other volume") }()
    try store.execute("DELETE FROM volume WHERE id = 1")
    context.insert(gone)
    context.insert(other)
    try context.save()
    #expect(!gone.isDeleted && gone.persistentModelID != other.persistentModelID)
    #expect(
      try store.query("SELECT title FROM volume WHERE id > 3 ORDER BY id").map(\.values)
        == [["Eden"], ["Other volume"]])
  }

  @Test func `an object of a context that is there is still refused`() throws {
    let other = ModelContext(store)
    context.insert(try other.volume("Eden"))
    #expect(throws: ModelError.self) { try context.save() }
  }

  @Test func `one that is deleted has its row deleted, and the row's object if it is there`() throws {
    let (eden, solaris) = (try orphan { try $0.volume("Eden") }, try orphan { try $0.volume("Solaris") })
    let unsaved = try orphan { context in
      let volume = Volume("Memoirs")
      context.insert(volume)
      return volume
    }
    let present = try context.volume("Eden")
    for volume in [eden, solaris, unsaved, eden] { context.delete(volume) }
    #expect(present.isDeleted && context.deletedModelsArray.count == 2)
    try context.save()
    #expect(try store.query("SELECT title FROM volume").map(\.values) == [["Fiasco"]])
    context.delete(solaris)
    #expect(!context.hasChanges)
  }

  @Test func `the deletion of an object of a context that is there is refused, and the save says so`() throws {
    let other = ModelContext(store)
    let volume = try other.volume("Eden")
    let foreign = try QuireModelTests.store(["Other": ["Other volume"]])
    let stranger = try { try ModelContext(foreign, isolation: nil).volume("Other volume") }()
    for refused in [volume, stranger] {
      context.delete(refused)
      let error = #expect(throws: ModelError.self) { try context.save() }
      #expect(error.map { "\($0)" }?.contains("a Volume of another context was deleted") == true)
    }
    #expect(!volume.isDeleted && !other.hasChanges)
    #expect(try store.value("SELECT count(*) FROM volume") == 3)
  }
}
