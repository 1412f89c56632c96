import Quire
import TestSupport
import Testing

/// After a rollback everything is as the file has it.
@Suite(.fewAtOnce) struct RollbackTests {
  @Test func `values, references and lists go back, inserted objects go`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]]))
    let (lem, guin) = (try context.writer("Lem"), try context.writer("Le Guin"))
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    #expect(lem.volumes.count == 2 && guin.volumes.count == 1)
    eden.title = "edited"
    eden.writer = guin
    solaris.contributors = [guin]
    #expect(guin.contributed.first === solaris)
    let new = Volume("new", writer: lem)
    context.insert(new)
    context.delete(solaris)
    #expect(lem.volumes.map(\.title) == ["new"])
    context.rollback()
    #expect(!context.hasChanges)
    #expect(eden.title == "Eden" && eden.writer === lem)
    #expect(lem.volumes.map(\.title) == ["Eden", "Solaris"])
    #expect(guin.volumes.map(\.title) == ["The Dispossessed"])
    #expect(guin.contributed.isEmpty && solaris.contributors.isEmpty)
    #expect(!solaris.isDeleted && new.modelContext == nil)
    eden.year = 1
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 3)
  }

  @Test(arguments: [false, true], [false, true])
  @MainActor func `after the store was closed values go back too, with whatever context`(isFile: Bool, isMain: Bool)
    throws
  {
    let file = try TemporaryFile()
    let store =
      isFile
      ? try ModelContainer(for: Writer.self, Volume.self, url: file.url)
      : try QuireModelTests.store(["Lem": ["Eden", "Solaris"]])
    let context = isMain ? store.mainContext : ModelContext(store, isolation: nil)
    if isFile {
      let lem = Writer(name: "Lem")
      for title in ["Eden", "Solaris"] { context.insert(Volume(title, writer: lem)) }
      try context.save()
    }
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    let lem = try context.writer("Lem")
    #expect(lem.volumes.count == 2 && eden.writer === lem)
    if isFile, !isMain {
      eden.year = 1  // edited before it was closed, when the file told what it was
      eden.writer = nil
    }
    try store.close()
    eden.title = "edited"
    eden.price = 7
    #expect(eden.title == "edited")
    if !isMain { context.delete(solaris) }
    #expect(throws: (any Error).self) { try context.save() }
    let told = tracking { _ = eden.title }
    context.rollback()
    #expect(eden.title == "Eden" && eden.price == 0 && eden.year == nil && !eden.hasChanges && !solaris.isDeleted)
    #expect(told.count == 1 && !context.hasChanges && eden.writer === lem)
    if isFile, !isMain { #expect(lem.volumes.map(\.title) == ["Eden", "Solaris"]) }
    try context.save()
    withExtendedLifetime(file) {}
  }

  @Test func `an object edited and then deleted has its old values again`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let eden = try context.volume("Eden")
    eden.title = "edited"
    eden.writer = nil
    context.delete(eden)
    context.rollback()
    #expect(eden.title == "Eden" && eden.writer?.name == "Lem" && !eden.isDeleted && !eden.hasChanges)
  }

  @Test func `a list first read while there were edits goes back too`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"]]))
    let lem = try context.writer("Lem")
    try context.volume("Eden").writer = nil
    context.insert(Volume("new", writer: lem))
    #expect(lem.volumes.map(\.title) == ["Solaris", "new"])
    context.rollback()
    #expect(lem.volumes.map(\.title) == ["Eden", "Solaris"])
  }

  @Test func `who tracks what goes back is told, others are not`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let eden = try context.volume("Eden")
    eden.title = "edited"
    let title = tracking { _ = eden.title }
    let year = tracking { _ = eden.year }
    context.rollback()
    #expect(title.count == 1 && year.count == 0)
  }

  @Test func `refused assignments are forgotten`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let eden = try context.volume("Eden")
    context.delete(eden)
    try context.save()
    eden.title = "lost"
    context.rollback()
    try context.save()
    #expect(eden.isDeleted)
  }

  @Test func `an inserted object can be inserted again after a rollback`() throws {
    let store = try store(["Lem": []])
    let context = ModelContext(store)
    let eden = Volume("Eden", writer: try context.writer("Lem"))
    context.insert(eden)
    context.rollback()
    #expect(!context.hasChanges)
    context.insert(eden)
    try context.save()
    #expect(try store.query("SELECT title, writer_id FROM volume").map(\.values) == [["Eden", 1]])
  }

  @Test func `a rollback shows the commit the context stands at, with what was taken in meanwhile`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    eden.title = "mine"
    try store.execute("UPDATE volume SET title = 'theirs', year = 1959")
    try context.refresh()
    #expect(eden.title == "mine" && eden.year == 1959)
    context.rollback()
    #expect(eden.title == "theirs")
  }
}
