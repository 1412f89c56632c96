import Quire
import TestSupport
import Testing

/// Edits → one commit, or nothing.
@Suite(.fewAtOnce) struct SavingTests {
  @Test func `a graph is inserted from any of its objects`() throws {
    let store = try store()
    let context = ModelContext(store)
    let lem = Writer(name: "Lem")
    lem.volumes = [Volume("Eden"), Volume("Solaris")]
    lem.contributed = [Volume("Anthology", writer: Writer(name: "Editor"))]
    context.insert(lem)
    #expect(context.insertedModelsArray.count == 5)
    try context.save()
    #expect(try store.value("SELECT group_concat(title) FROM volume WHERE writer_id = 1") == "Eden,Solaris")
    #expect(
      try store.value(
        "SELECT w.name FROM volume_contributors c JOIN volume v ON v.id = c.volume_id JOIN writer w ON w.id = v.writer_id"
      )
        == "Editor")
    #expect(lem.volumes.allSatisfy { $0.writer === lem })
  }

  @Test func `objects that refer to each other in a circle are inserted in one save`() throws {
    let store = try ModelContainer(for: Ring.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let (a, b) = (Ring("a"), Ring("b"))
    a.next = b
    b.next = a
    context.insert(a)
    try context.save()
    #expect(try store.query("SELECT name, next_id FROM ring ORDER BY id").map(\.values) == [["a", 2], ["b", 1]])
  }

  @Test func `a save writes what was edited and no other column`() throws {
    let store = try store(["Lem": ["Eden"]])
    let (a, b) = (ModelContext(store), ModelContext(store))
    let (mine, yours) = (try a.volume("Eden"), try b.volume("Eden"))
    mine.title = "Mine"
    yours.year = 1959
    try a.save()
    try b.save()
    #expect(try store.query("SELECT title, year FROM volume").map(\.values) == [["Mine", 1959]])
    #expect(yours.title == "Mine")
    try a.refresh()
    #expect(mine.year == 1959)
  }

  @Test func `what has changes says so, and what has none does not`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let eden = try context.volume("Eden")
    _ = eden.writer?.volumes
    #expect(!context.hasChanges)
    eden.title = "Eden"
    eden.writer = eden.writer
    #expect(!context.hasChanges && !eden.hasChanges)
    eden.title = "Eden II"
    #expect(context.hasChanges && eden.hasChanges)
    #expect(context.changedModelsArray.count == 1 && context.changedModelsArray.first === eden)
    try context.save()
    #expect(!context.hasChanges && !eden.hasChanges)
    let new = Volume("new")
    context.insert(new)
    #expect(context.insertedModelsArray.first === new && new.hasChanges)
    context.delete(new)
    #expect(!context.hasChanges && context.insertedModelsArray.isEmpty)
    context.delete(eden)
    #expect(context.deletedModelsArray.first === eden && context.hasChanges)
    try context.save()
    #expect(!context.hasChanges && context.deletedModelsArray.isEmpty)
  }

  @Test func `a save that fails changes neither file nor edits, and can be repeated`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    let lem = try #require(eden.writer)
    let new = Volume("new", writer: lem)
    context.insert(new)
    let id = new.persistentModelID
    eden.year = 1959
    eden.price = .nan
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notStorable("Volume", "price", _)? = error else { throw error! }
    #expect(try store.query("SELECT title, year FROM volume").map(\.values) == [["Eden", nil]])
    #expect(context.hasChanges && eden.hasChanges && new.persistentModelID == id)
    #expect(lem.volumes.map(\.title) == ["Eden", "new"])
    eden.price = 2
    try context.save()
    #expect(try store.query("SELECT title, year FROM volume").map(\.values) == [["Eden", 1959], ["new", nil]])
    #expect(lem.volumes.map(\.title) == ["Eden", "new"])
  }

  @Test func `a list read while a member was unsaved names it by its row afterwards`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let lem = try context.writer("Lem")
    let new = Volume("Solaris", writer: lem)
    context.insert(new)
    #expect(lem.volumes.map(\.title) == ["Eden", "Solaris"])  // loaded now, with the unsaved one
    try context.save()
    #expect(lem.volumes.map(\.title) == ["Eden", "Solaris"])
    context.insert(Volume("another, in the same place"))
    #expect(lem.volumes.last === new)
  }

  @Test func `a transaction saves, or rolls back what it throws over`() throws {
    struct Oops: Error {}
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    try context.transaction { eden.year = 1959 }
    #expect(try store.value("SELECT year FROM volume") == 1959)
    #expect(throws: Oops.self) {
      try context.transaction {
        eden.year = 1
        context.insert(Volume("new"))
        throw Oops()
      }
    }
    #expect(eden.year == 1959 && !context.hasChanges)
    #expect(throws: ModelError.self) { try context.transaction { eden.price = .nan } }
    #expect(eden.price == 0)
  }

  @Test func `a row is deleted with its cascade, and its objects say so and keep their values`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    let lem = try #require(eden.writer)
    context.delete(lem)
    #expect(lem.isDeleted && !eden.isDeleted)
    try context.save()
    #expect(lem.isDeleted && eden.isDeleted)
    #expect(eden.title == "Eden" && lem.name == "Lem")
    #expect(try store.value("SELECT count(*) FROM volume") == 0)
    #expect(context.model(for: eden.persistentModelID) == nil)
  }

  @Test func `assignments to a deleted object are ignored, named by the next save, and forgotten by the one after`()
    throws
  {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = ModelContext(store)
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    context.delete(eden)
    try context.save()
    eden.title = "lost"
    eden.writer = nil
    eden.contributors = [try context.writer("Lem")]
    solaris.year = 1961
    #expect(eden.title == "Eden" && eden.contributors.isEmpty)
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .ignoredAssignments(let names)? = error else { throw error! }
    #expect(names.count == 3)
    #expect(names.first?.contains("Volume.title of Volume 1") == true)
    #expect(try store.value("SELECT year FROM volume") == nil)
    try context.save()
    #expect(try store.value("SELECT year FROM volume") == 1961)
  }

  @Test func `a cascade from an object that was never saved takes what had moved to it`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = ModelContext(store)
    let (writer, eden) = (Writer(name: "new"), try context.volume("Eden"))
    context.insert(writer)
    eden.writer = writer
    let new = Volume("new", writer: writer)
    context.insert(new)
    context.delete(writer)
    #expect(eden.isDeleted && new.isDeleted)
    try context.save()
    #expect(try store.query("SELECT title FROM volume").map(\.values) == [["Solaris"]])
    #expect(try store.value("SELECT count(*) FROM writer") == 1)
  }

  @Test func `an object deleted and inserted again stays, with its edits`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    let lem = try #require(eden.writer)
    #expect(lem.volumes.count == 1)
    eden.title = "Eden II"
    context.delete(eden)
    #expect(lem.volumes.isEmpty)
    context.insert(eden)
    #expect(!eden.isDeleted && lem.volumes.first === eden)
    try context.save()
    #expect(try store.value("SELECT title FROM volume") == "Eden II")
  }

  @Test func `an object whose deletion was saved is inserted again as a new row, with its values`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"], "Dick": []])
    let context = ModelContext(store)
    let (eden, lem) = (try context.volume("Eden"), try context.writer("Lem"))
    let deleted = eden.persistentModelID
    eden.contributors = [try context.writer("Dick")]
    #expect(lem.volumes.count == 2)
    try context.save()
    context.delete(eden)
    try context.save()
    #expect(eden.modelContext == nil && lem.volumes.count == 1)

    context.insert(eden)
    #expect(!eden.isDeleted && eden.modelContext === context && eden.contributors.isEmpty)
    #expect(eden.writer === lem && lem.volumes.contains { $0 === eden })
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 2)
    eden.year = 1959
    try context.save()
    #expect(eden.persistentModelID != deleted)
    #expect(
      try store.query("SELECT title, year, writer_id FROM volume ORDER BY title").map(\.values)
        == [["Eden", 1959, 1], ["Solaris", nil, 1]])
    eden.year = 1960
    try context.save()
    #expect(try store.value("SELECT year FROM volume WHERE title = 'Eden'") == 1960)
  }

  @Test func `an unsaved reference goes to the new row of what it refers to`() throws {
    let store = try store(["Lem": ["Eden"], "Dick": [], "Borges": []])
    let context = ModelContext(store)
    let (eden, dick) = (try context.volume("Eden"), try context.writer("Dick"))
    context.delete(dick)
    try context.save()
    let ubik = Volume("Ubik")
    ubik.writer = dick
    let borges = try context.writer("Borges")
    eden.writer = borges
    try store.execute("DELETE FROM writer WHERE name = 'Borges'")
    try context.refresh()
    for model in [ubik, dick, borges] as [any PersistentModel] { context.insert(model) }
    try context.save()
    #expect(
      try store.query(
        "SELECT title, name FROM volume LEFT JOIN writer ON writer.id = writer_id ORDER BY title"
      ).map(\.values) == [["Eden", "Borges"], ["Ubik", "Dick"]])
  }

  @Test func `objects deleted with their owner are inserted again after it, and refer to it`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = ModelContext(store)
    let lem = try context.writer("Lem")
    let volumes = lem.volumes
    context.delete(lem)
    try context.save()
    context.insert(volumes[0])
    #expect(volumes[0].writer == nil)
    context.insert(lem)
    context.insert(volumes[1])
    volumes[1].writer = lem
    try context.save()
    #expect(lem.volumes.map(\.title) == [volumes[1].title])
    #expect(try store.value("SELECT count(*) FROM volume WHERE writer_id IS NULL") == 1)
    context.delete(lem)
    try context.save()
    #expect(try store.value("SELECT group_concat(title) FROM volume") == .text(volumes[0].title))
  }

  @Test func `an object that another context deleted is inserted again, also if it was deleted here too`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let (a, b) = (ModelContext(store), ModelContext(store))
    let mine = try a.all(Volume.self)
    a.delete(mine[1])
    for volume in try b.all(Volume.self) { b.delete(volume) }
    try b.save()
    try a.refresh()
    #expect(mine.allSatisfy { $0.isDeleted })
    for volume in mine { a.insert(volume) }
    #expect(mine.allSatisfy { !$0.isDeleted })
    try a.save()
    #expect(try store.value("SELECT group_concat(title) FROM volume") == "Eden,Solaris")
    #expect(try store.value("SELECT count(*) FROM volume WHERE writer_id = 1") == 2)
  }

  @Test func `a rollback takes back that a deleted object was inserted again`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    context.delete(eden)
    try context.save()
    context.insert(eden)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 0)
    context.insert(eden)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM volume") == 1)
  }
}
