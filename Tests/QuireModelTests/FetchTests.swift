import Quire
import TestSupport
import Testing

/// Predicate, order, limit and offset, with what is unsaved counted as if it had been saved.
@Suite(.fewAtOnce) struct FetchTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Eden", "Solaris", "Fiasko"], "Le Guin": ["The Dispossessed"]])
    context = ModelContext(store)
  }

  func titles(
    _ predicate: Predicate<Volume>? = nil, _ sortBy: SortDescriptor<Volume>..., limit: Int? = nil, offset: Int? = nil
  ) throws -> [String] {
    let descriptor = FetchDescriptor<Volume>(
      predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset)
    let found = try context.fetch(descriptor)
    #expect(try context.fetchCount(descriptor) == found.count)
    #expect(try context.fetchIdentifiers(descriptor) == found.map(\.persistentModelID))
    return found.map(\.title)
  }

  @Test func `unsaved objects are matched, ordered and limited`() throws {
    let lem = try context.writer("Lem")
    context.insert(Volume("Golem XIV", writer: lem))
    context.insert(Volume("Aniara"))
    #expect(try titles(nil, SortDescriptor(\.title), limit: 3) == ["Aniara", "Eden", "Fiasko"])
    #expect(try titles(nil, SortDescriptor(\.title), limit: 2, offset: 2) == ["Fiasko", "Golem XIV"])
    #expect(try titles(nil, SortDescriptor(\.title, order: .reverse), limit: 2) == ["The Dispossessed", "Solaris"])
    #expect(try titles(#Predicate { $0.writer?.name == "Lem" }) == ["Eden", "Solaris", "Fiasko", "Golem XIV"])
    let onlySaved: FetchDescriptor<Volume> = {
      var descriptor = FetchDescriptor<Volume>()
      descriptor.includePendingChanges = false
      return descriptor
    }()
    #expect(try context.fetchCount(onlySaved) == 4)
  }

  @Test func `edited and deleted objects are judged by what they are now`() throws {
    try context.volume("Eden").title = "Zebra"
    context.delete(try context.volume("Solaris"))
    #expect(try titles(nil, SortDescriptor(\.title)) == ["Fiasko", "The Dispossessed", "Zebra"])
    #expect(try titles(#Predicate { $0.title == "Eden" }).isEmpty)
    #expect(try titles(#Predicate { $0.title > "T" }, limit: 1, offset: 1) == ["The Dispossessed"])
  }

  @Test func `without unsaved edits a fetch is of the saved rows, also if objects evaluate a part of it`() throws {
    let eden = try context.volume("Eden")
    eden.title = "Zebra"
    let solaris = try context.volume("Solaris")
    context.delete(solaris)
    context.insert(Volume("Edensor"))
    var descriptor = FetchDescriptor<Volume>(predicate: #Predicate { $0.title.lowercased().hasPrefix("eden") })
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).map(\.title) == ["Zebra"])
    #expect(try context.fetch(descriptor).first === eden)
    descriptor.predicate = #Predicate { $0.title.lowercased() == "zebra" }
    #expect(try context.fetchCount(descriptor) == 0)
    descriptor.predicate = #Predicate { $0.title.lowercased() != "fiasko" && $0.writer?.name == "Lem" }
    #expect(try context.fetchIdentifiers(descriptor) == [eden.persistentModelID, solaris.persistentModelID])
    try context.transaction {
      try context.save()
      eden.title = "Fiasko"
      #expect(try context.fetchCount(descriptor) == 1)
    }
  }

  @Test func `an edit at the other end of a path moves and matches rows`() throws {
    let lem = try context.writer("Lem")
    lem.name = "Aaa"
    #expect(try titles(#Predicate { $0.writer?.name == "Aaa" }) == ["Eden", "Solaris", "Fiasko"])
    #expect(try titles(#Predicate { $0.writer?.name == "Lem" }).isEmpty)
    #expect(try titles(nil, SortDescriptor(\.writer?.name), SortDescriptor(\.title)).first == "Eden")
    lem.name = "Zzz"
    #expect(try titles(nil, SortDescriptor(\.writer?.name), limit: 1) == ["The Dispossessed"])
    try context.volume("Eden").writer = nil
    #expect(try titles(nil, SortDescriptor(\.writer?.name), limit: 2) == ["Eden", "The Dispossessed"])
    #expect(try titles(#Predicate { $0.writer == nil }) == ["Eden"])
  }

  @Test func `limits and offsets that make no sense are harmless`() throws {
    context.insert(Volume("pending"))
    #expect(try titles(limit: 0).isEmpty)
    #expect(try titles(limit: -1).isEmpty)
    #expect(try titles(limit: .max, offset: 4) == ["pending"])
    #expect(try titles(offset: .max).isEmpty)
    #expect(try titles(offset: -3).count == 5)
  }

  @Test func `identifiers in predicates find saved and unsaved objects`() throws {
    let lem = try context.writer("Lem").persistentModelID
    #expect(try titles(#Predicate { $0.writer?.persistentModelID == lem }).count == 3)
    let new = Volume("new")
    context.insert(new)
    let id = new.persistentModelID
    #expect(try titles(#Predicate { $0.persistentModelID == id }) == ["new"])
    let ids = [id, try context.volume("Eden").persistentModelID]
    #expect(try titles(#Predicate { ids.contains($0.persistentModelID) }) == ["Eden", "new"])
  }

  @Test func `enumerating holds no more than a batch`() throws {
    let many = try LoadingTests.large()
    let context = ModelContext(many)
    var (seen, most) = (0, 0)
    try context.enumerate(FetchDescriptor<Volume>(), batchSize: 50) { _ in
      seen += 1
      most = max(most, context.registeredCount)
    }
    #expect(seen == 1000 && most <= 101)
  }

  @Test func `enumerating visits each unsaved object, also if the block saves, and none that goes`() throws {
    for title in ["n1", "n2", "n3", "n4"] { context.insert(Volume(title)) }
    var seen: [String] = []
    try context.enumerate(FetchDescriptor<Volume>(predicate: #Predicate { $0.title.hasPrefix("n") }), batchSize: 1) {
      seen.append($0.title)
      if seen.count == 1 { context.delete(try context.volume("n3")) }
      try context.save()
    }
    #expect(seen == ["n1", "n2", "n4"])
    context.insert(Volume("n5"))
    context.insert(Volume("n6"))
    seen = []
    try context.enumerate(FetchDescriptor<Volume>(predicate: #Predicate { $0.title >= "n5" }), batchSize: 1) {
      seen.append($0.title)
      context.rollback()
    }
    #expect(seen == ["n5"])
  }

  @Test func `enumerating without unsaved edits visits what a fetch gives`() throws {
    context.delete(try context.volume("Eden"))
    var descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)])
    descriptor.includePendingChanges = false
    var seen: [String] = []
    try context.enumerate(descriptor) { seen.append($0.title) }
    #expect(try seen == context.fetch(descriptor).map(\.title) && seen.count == 4)
  }

  @Test func `a collection of batches has the objects that were unsaved when it was made`() throws {
    for title in ["n1", "n2", "n3"] { context.insert(Volume(title)) }
    let found = try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.title > "n" }), batchSize: 1)
    try context.save()
    #expect(found.map(\.title) == ["n1", "n2", "n3"] && !found.contains { $0.isDeleted })
  }

  @Test func `rows deleted by predicate are gone for objects, lists and observers`() throws {
    let lem = try context.writer("Lem")
    let eden = lem.volumes[0]
    let list = tracking { _ = lem.volumes }
    try context.delete(model: Volume.self, where: #Predicate { $0.title != "Solaris" })
    #expect(eden.isDeleted && lem.volumes.map(\.title) == ["Solaris"] && list.count == 1)
    try context.delete(model: Volume.self)
    #expect(lem.volumes.isEmpty)
    #expect(try store.value("SELECT count(*) FROM volume") == 0)
  }

  @Test(arguments: [ConflictPolicy.merge, .refuse])
  func `unsaved edits of rows deleted by predicate are dropped, and those of rows deleted elsewhere are named`(
    policy: ConflictPolicy
  ) throws {
    context.onConflict = policy
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    eden.title = "Eden, a novel"
    solaris.year = 1961
    try context.delete(model: Volume.self, where: #Predicate { $0.title == "Eden" })
    #expect(eden.isDeleted && !eden.hasChanges && context.hasChanges)
    try context.save()
    #expect(try store.value("SELECT year FROM volume WHERE title = 'Solaris'") == 1961)

    solaris.year = 1970
    let other = ModelContext(store)
    try other.delete(model: Volume.self)
    try context.delete(model: Writer.self)
    #expect(throws: ModelError.self) { try context.save() }
  }

  @Test func `deleting by a predicate without SQL asks the objects of the rows`() throws {
    let eden = try context.volume("Eden")
    eden.contributors = [try context.writer("Lem")]
    try context.save()
    let count = try context.fetchCount(FetchDescriptor<Volume>())
    try context.delete(model: Volume.self, where: #Predicate { $0.contributors.first?.name == "Lem" })
    #expect(eden.isDeleted && count > 1)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == count - 1)
  }

  @Test func `a model that is not of the container is refused by name`() throws {
    let error = #expect(throws: ModelError.self) { try context.all(Ring.self) }
    guard case .unknownModel("Ring")? = error else { throw error! }
    context.insert(Ring("x"))
    #expect(throws: ModelError.self) { try context.save() }
  }

  @Test func `what refuses a model that is not of the container says what it takes`() throws {
    let advice = "Ring is not one of this container's models: use a container that is made with it"
    let error = #expect(throws: ModelError.self) { try context.fetchCount(FetchDescriptor<Ring>()) }
    #expect(error?.localizedDescription == advice)
    context.insert(Ring("x"))
    let refused = #expect(throws: ModelError.self) { try context.save() }
    #expect(refused?.localizedDescription.contains(advice) == true)
  }
}
