import Quire
import Synchronization
import TestSupport
import Testing

/// Unsaved deletions and links while others commit what concerns them.
@Suite(.fewAtOnce) struct DeletedBesideOthersTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Solaris"], "Dick": ["Ubik"]])
    context = ModelContext(store)
  }

  private func count(_ predicate: Predicate<Volume>) throws -> Int {
    try context.fetchCount(FetchDescriptor(predicate: predicate))
  }

  private func others(_ sql: SQL) throws { try store.execute(sql) }

  @Test(arguments: [true, false])
  func `a child that a cascade has deleted here and others move away stays`(isFetched: Bool) throws {
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let solaris = try context.volume("Solaris")
    #expect(dick.volumes.count == 1)
    context.delete(lem)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 1 && solaris.isDeleted)
    try others("UPDATE volume SET writer_id = \(dick), year = 1961 WHERE id = \(solaris)")
    if isFetched {
      #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 2)
      #expect(!solaris.isDeleted && solaris.writer === dick && dick.volumes.count == 2)
    }
    try context.save()
    #expect(try store.query("SELECT title FROM volume WHERE year = 1961").count == 1)
    #expect(!solaris.isDeleted && lem.isDeleted && solaris.writer === dick && solaris.year == 1961)
    #expect(dick.volumes.map(\.title) == ["Solaris", "Ubik"] && !context.hasChanges)
  }

  @Test(arguments: [true, false])
  func `a child that a cascade has deleted here and others too stays deleted`(isMoved: Bool) throws {
    let (lem, dick, solaris) = (try context.writer("Lem"), try context.writer("Dick"), try context.volume("Solaris"))
    context.delete(lem)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 1 && solaris.isDeleted)
    if isMoved {
      try others("UPDATE volume SET writer_id = \(dick) WHERE id = \(solaris)")
      try context.refresh()
    }
    try others("DELETE FROM volume WHERE id = \(solaris)")
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 1)
    context.insert(lem)  // cancels the deletion
    #expect(solaris.isDeleted && lem.volumes.isEmpty && dick.volumes.count == 1)
    try context.save()
    #expect(try store.query("SELECT * FROM volume").count == 1)
  }

  @Test func `a child of a child comes back with it`() throws {
    let store = try ModelContainer(
      for: Twig.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let (root, branch, leaf, other) = (Twig("root"), Twig("branch"), Twig("leaf"), Twig("other"))
    (branch.parent, leaf.parent) = (root, branch)
    context.insert(leaf)
    context.insert(other)
    try context.save()
    context.delete(root)
    #expect(try context.fetchCount(FetchDescriptor<Twig>()) == 1)
    try store.execute("UPDATE twig SET parent_id = \(other) WHERE id = \(branch)")
    #expect(try context.fetchCount(FetchDescriptor<Twig>()) == 3)
    #expect(!leaf.isDeleted && leaf.parent === branch && other.children.map(\.name) == ["branch"])
    try context.save()
    #expect(try store.query("SELECT name FROM twig ORDER BY name").count == 3)
  }

  @Test func `a child that others move in the context's own transaction stays`() throws {
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    try context.transaction {
      context.delete(lem)
      #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 1)
      try context.execute("UPDATE volume SET writer_id = \(dick)")
      #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 2)
    }
    #expect(try store.query("SELECT * FROM volume").count == 2)
  }

  @Test func `a reference to a row that others have deleted is nil in fetches, of new and of edited objects`() throws {
    let (lem, ubik) = (try context.writer("Lem"), try context.volume("Ubik"))
    ubik.writer = lem
    context.insert(Volume("Eden", writer: lem))
    try others("DELETE FROM writer WHERE id = \(lem)")
    #expect(lem.isDeleted == false)
    try context.refresh()
    #expect(lem.isDeleted)
    #expect(try count(#Predicate { $0.writer == nil }) == 2)
    #expect(try count(#Predicate { $0.writer != nil }) == 0)
    #expect(try count(#Predicate { $0.writer?.name == nil }) == 2)
    #expect(try count(#Predicate { $0.writer == lem }) == 0)
    let names = try context.fetch(Volume.self, values: \.title, \.writer?.name)
    #expect(names.allSatisfy { $0.1 == nil } && names.count == 2)
  }

  @Test(arguments: [true, false])
  func `a link to a deleted object is in no list that is read later`(isRead: Bool) throws {
    let (lem, ubik) = (try context.writer("Lem"), try context.volume("Ubik"))
    lem.contributed.append(ubik)
    if isRead { #expect(ubik.contributors.count == 1) }
    context.delete(lem)
    #expect(ubik.contributors.isEmpty)
    context.insert(lem)  // cancels the deletion
    #expect(ubik.contributors.map(\.name) == ["Lem"])
    context.delete(lem)
    #expect(ubik.contributors.isEmpty)
    context.rollback()
    #expect(ubik.contributors.isEmpty && lem.contributed.isEmpty)
  }

  @Test func `a row that was deleted here and by others, and comes back, is a new object of lists and fetches`() throws
  {
    let (lem, solaris) = (try context.writer("Lem"), try context.volume("Solaris"))
    let ids = (lem: lem.persistentModelID, solaris: solaris.persistentModelID)
    #expect(lem.volumes == [solaris] && solaris.contributors.isEmpty)
    context.delete(solaris)
    try others("DELETE FROM volume WHERE id = \(ids.solaris)")
    try context.refresh()
    #expect(solaris.isDeleted && solaris.modelContext == nil && !context.hasChanges)
    try others(
      "INSERT INTO volume (id, title, price, is_in, writer_id) VALUES (\(ids.solaris), 'Eden', 0, 1, \(ids.lem))")
    try context.refresh()
    #expect(lem.volumes.map(\.title) == ["Eden"] && lem.volumes.first !== solaris && solaris.title == "Solaris")
    #expect(try context.volume("Eden") === lem.volumes.first && count(#Predicate { $0.writer?.name == "Lem" }) == 1)
    context.rollback()
    #expect(solaris.isDeleted && lem.volumes.map(\.title) == ["Eden"])
    try context.save()
    #expect(try count(#Predicate { $0.title == "Eden" }) == 1)
  }

  @Test func `a row that others delete and bring back in one step stays deleted here`() throws {
    let (lem, solaris) = (try context.writer("Lem"), try context.volume("Solaris"))
    let (writer, volume) = (lem.persistentModelID, solaris.persistentModelID)
    #expect(lem.volumes == [solaris])
    context.delete(solaris)
    try others("DELETE FROM volume WHERE id = \(volume)")
    try others("INSERT INTO volume (id, title, price, is_in, writer_id) VALUES (\(volume), 'Eden', 0, 1, \(writer))")
    try context.refresh()
    #expect(lem.volumes.isEmpty && context.hasChanges)
    #expect(try count(#Predicate { $0.writer?.name == "Lem" }) == 0)
    try context.save()
    #expect(try store.query("SELECT * FROM volume WHERE title <> 'Ubik'").isEmpty)
  }

  @Test(arguments: [true, false])
  func `what a cascade has deleted here and in the file stays deleted when its object comes back`(isOthers: Bool) throws
  {
    let (lem, solaris) = (try context.writer("Lem"), try context.volume("Solaris"))
    let id = lem.persistentModelID
    context.delete(lem)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 1 && solaris.isDeleted)
    try others("DELETE FROM writer WHERE id = \(id)")
    try context.refresh()
    #expect(lem.isDeleted && solaris.isDeleted && !context.hasChanges)
    if isOthers { try others("INSERT INTO writer (id, name) VALUES (\(id), 'Lem')") } else { context.insert(lem) }
    let new = try context.writer("Lem")
    #expect((new === lem) == !isOthers && lem.isDeleted == isOthers && solaris.isDeleted && new.volumes.isEmpty)
    context.insert(Volume("Eden", writer: new))
    try context.save()
    #expect(new.volumes.map(\.title) == ["Eden"])
    let titles = try store.value("SELECT group_concat(title) FROM (SELECT title FROM volume ORDER BY title)")
    #expect(titles == "Eden,Ubik")
  }

  @Test(arguments: [true, false], [true, false])
  func `what goes later leaves the lists of what was deleted before, whose observers are notified`(
    isOthersFirst: Bool, isOthersLater: Bool
  ) throws {
    let (dick, solaris) = (try context.writer("Dick"), try context.volume("Solaris"))
    let told = Mutex(0)
    func track() {
      withObservationTracking {
        #expect(dick.contributed == [solaris])
      } onChange: {
        told.withLock { $0 += 1 }
      }
    }
    dick.contributed = [solaris]
    track()
    if isOthersFirst {
      try others("DELETE FROM writer WHERE name = 'Dick'")
      try context.refresh()
    } else {
      context.delete(dick)
    }
    try context.save()
    #expect(dick.isDeleted && solaris.contributors.isEmpty && told.withLock { $0 } == 0)
    #expect(try store.query("SELECT * FROM volume_contributors").isEmpty)
    track()
    if isOthersLater { try others("DELETE FROM volume WHERE title = 'Solaris'") } else { context.delete(solaris) }
    try context.save()
    try context.refresh()
    #expect(solaris.isDeleted && dick.contributed.isEmpty && told.withLock { $0 } == 2 && !context.hasChanges)
  }

  @Test func `what goes later leaves the lists of what was deleted before it was saved`() throws {
    let (new, solaris) = (Writer(name: "Le Guin"), try context.volume("Solaris"))
    context.insert(new)
    new.contributed = [solaris]
    context.delete(new)
    try context.save()
    let told = Mutex(false)
    withObservationTracking {
      #expect(new.contributed == [solaris])
    } onChange: {
      told.withLock { $0 = true }
    }
    try others("DELETE FROM volume")
    try context.refresh()
    #expect(new.contributed.isEmpty && told.withLock { $0 })
  }

  @Test func `a link to a deleted object stays out of lists that are compared with the file`() throws {
    let file = try TemporaryFile()
    func open() throws -> ModelContainer {
      try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    }
    let (mine, theirs) = (try open(), try open())
    let context = ModelContext(mine)
    context.insert(Volume("Solaris", writer: Writer(name: "Lem")))
    try context.save()
    let (lem, solaris) = (try context.writer("Lem"), try context.volume("Solaris"))
    solaris.contributors.append(lem)
    context.delete(lem)
    #expect(solaris.contributors.isEmpty)
    try theirs.execute("UPDATE volume SET year = 1961")  // a commit whose rows are not known here
    try context.refresh()
    #expect(solaris.contributors.isEmpty)
  }
}

@Model private final class Twig {
  var name: String
  var parent: Twig?
  @Relationship(deleteRule: .cascade, inverse: \Twig.parent) var children: [Twig] = []
  init(_ name: String) { self.name = name }
}
