import Quire
import Testing

/// One row, one object, for as long as somebody holds it.
@Suite struct IdentityTests {
  @Test func `a row is the same object by fetch, key, identifier and relationship`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]]))
    let eden = try context.volume("Eden")
    let lem = try context.writer("Lem")
    #expect(try context.volume("Eden") === eden)
    #expect(eden.writer === lem)
    #expect(lem.volumes.first === eden)
    #expect(context.model(for: eden.persistentModelID) === eden)
    #expect(context.model(Volume.self, key: eden.persistentModelID.rowKey ?? 0) === eden)
    #expect(context.registeredModel(for: eden.persistentModelID) as Volume? === eden)
    #expect(eden.writer?.volumes[0].writer === lem)
    #expect(try context.all(Volume.self)[0] === eden)
  }

  @Test func `two contexts have two objects of one row`() throws {
    let store = try store(["Lem": ["Eden"]])
    let (a, b) = (ModelContext(store), ModelContext(store))
    let (mine, yours) = (try a.volume("Eden"), try b.volume("Eden"))
    #expect(mine !== yours)
    #expect(mine.persistentModelID == yours.persistentModelID)
  }

  @Test func `an inserted object is found by its temporary identifier until it is saved, and never as another one`()
    throws
  {
    let context = ModelContext(try store())
    let first = Volume("first")
    context.insert(first)
    let temporary = first.persistentModelID
    #expect(temporary.rowKey == nil)
    #expect(context.model(for: temporary) === first)
    try context.save()
    #expect(first.persistentModelID.rowKey == 1)
    #expect(first.persistentModelID != temporary)
    let second = Volume("second")
    context.insert(second)
    #expect(second.persistentModelID != temporary)
    #expect(context.model(for: temporary) == nil)
    context.rollback()
    let third = Writer(name: "third")
    context.insert(third)
    #expect(context.registeredModel(for: second.persistentModelID) as Writer? == nil)
    #expect(context.model(for: temporary) == nil)
  }

  @Test func `the registered model is only what is in memory`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let id = try #require(try context.fetchIdentifiers(FetchDescriptor<Volume>()).first)
    #expect(context.registeredModel(for: id) as Volume? == nil)
    let eden = context.model(for: id) as? Volume
    #expect(eden?.title == "Eden")
    #expect(context.registeredModel(for: id) as Volume? === eden)
  }

  @Test func `a context that had let go of everything still finds rows after commits made elsewhere`() throws {
    let store = try store(["Lem": ["Eden"]])
    let (idle, other) = (ModelContext(store), ModelContext(store))
    try idle.refresh()  // ends its turn with nothing in memory
    let eden = try other.volume("Eden")
    eden.title = "Eden II"
    try other.save()
    let found = idle.model(for: eden.persistentModelID) as? Volume
    #expect(found?.title == "Eden II")
    eden.title = "Eden III"
    try other.save()
    #expect(found?.writer?.name == "Lem")  // read as of the commit it stands at, which is kept for it now
    #expect(found?.writer?.volumes.map(\.title) == ["Eden II"])
    #expect(idle.takeLoadErrors().isEmpty)
  }

  @Test func `identifiers of another store or of nothing give nothing`() throws {
    let (a, b) = (try store(["Lem": ["Eden"]]), try store(["Lem": ["Eden"]]))
    let id = try ModelContext(a).volume("Eden").persistentModelID
    #expect(ModelContext(b).model(for: id) == nil)
    #expect(ModelContext(a).model(Volume.self, key: 99) == nil)
    #expect(ModelContext(a).model(Volume.self, key: .min) == nil)
  }

  @Test func `an identifier travels as JSON and finds its object again`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    let data = try JSONEncoder().encode(eden.persistentModelID)
    let id = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    #expect(context.model(for: id) === eden)
  }
}
