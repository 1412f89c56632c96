import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Files that may not be written, containers that are closed, saves that nobody called.
@Suite(.fewAtOnce) struct ModeTests {
  static func file() throws -> TemporaryFile {
    let file = try TemporaryFile()
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let context = ModelContext(store)
    context.insert(Volume("Eden", writer: Writer(name: "Lem")))
    try context.save()
    try store.database.close()
    return file
  }

  @Test func `a file that another program keeps to itself is waited for as long as is configured`() throws {
    let file = try Self.file()
    var configuration = ModelConfiguration(url: file.url)
    configuration.busyTimeout = .milliseconds(1)
    func waitsBriefly() throws -> Bool {
      try configuration.reading(file.url.path)?.query("PRAGMA busy_timeout").first == 1
    }
    #expect(try waitsBriefly())
    let other = try Connection(path: file.url.path, access: .readWrite)
    try other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE volume SET price = 2; COMMIT")
    let error = #expect(throws: DatabaseError.self) {
      try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    }
    guard case .busy? = error else { throw error! }
  }

  @Test func `allowsSave false reads, and refuses to save, with everything as it was`() throws {
    let file = try Self.file()
    let store = try ModelContainer(
      for: Writer.self, Volume.self, configurations: ModelConfiguration(url: file.url, allowsSave: false))
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    #expect(eden.writer?.volumes.count == 1)
    eden.title = "edited"
    for attempt in [
      { try context.save() }, { try context.delete(model: Volume.self) },
    ] as [() throws -> Void] {
      let error = #expect(throws: ModelError.self) { try attempt() }
      guard case .readOnly? = error else { throw error! }
    }
    #expect(throws: (any Error).self) { try store.execute("DELETE FROM volume") }
    context.rollback()
    #expect(eden.title == "Eden")
    #expect(throws: (any Error).self) {
      try ModelContainer(
        for: Writer.self, Volume.self,
        configurations: ModelConfiguration(url: file.url.appendingPathExtension("missing"), allowsSave: false))
    }
  }

  @Test func `a store in memory with allowsSave false is empty, and refuses to save`() throws {
    let store = try ModelContainer(
      for: Writer.self, Volume.self,
      configurations: ModelConfiguration("fallback", isStoredInMemoryOnly: true, allowsSave: false))
    let context = ModelContext(store)
    #expect(try context.all(Volume.self).isEmpty && context.all(Writer.self).isEmpty)
    context.insert(Volume("Eden"))
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .readOnly? = error else { throw error! }
    #expect(throws: DatabaseError.readOnly(path: store.database.path)) {
      try store.execute("INSERT INTO volume (title, price) VALUES ('Solaris', 1)")
    }
    context.rollback()
    #expect(try context.all(Volume.self).isEmpty && store.query("SELECT 1 FROM volume").isEmpty)
  }

  @Test @MainActor func `closing over unsaved edits is an error that counts them, and closes nothing`() async throws {
    let file = try Self.file()
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let context = store.mainContext
    context.autosaveEnabled = false
    let eden = try context.volume("Eden")
    eden.title = "edited"
    context.insert(Volume("new"))
    let error = #expect(throws: ModelError.self) { try store.close() }
    guard case .unsavedChanges(2)? = error else { throw error! }
    try context.save()
    try store.close()
    #expect(throws: ModelError.self) { try context.all(Volume.self) }
    try store.close()
    eden.title = "edited again"
    try store.close()  // it is closed, whatever is edited since
  }

  @Test @MainActor func `a close that a write prevents closes nothing, the main context neither`() throws {
    let file = try Self.file()
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let context = store.mainContext
    let eden = try context.volume("Eden")
    #expect(throws: DatabaseError.nestedWrite) { try store.writeSQL { _ in try store.close() } }
    eden.title = "edited"
    try context.save()
    #expect(try context.volume("edited") === eden)
    try store.close()
    #expect(throws: ModelError.self) { try context.all(Volume.self) }
  }

  @Test @MainActor func `after closing, objects keep what they have read, load nothing, and nothing traps`() throws {
    let file = try Self.file()
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let (context, other) = (store.mainContext, ModelContext(store))
    let (eden, theirs) = (try context.volume("Eden"), try other.volume("Eden"))
    try store.close()
    #expect(eden.title == "Eden" && theirs.title == "Eden")
    #expect(eden.writer == nil && theirs.writer == nil && eden.contributors.isEmpty && theirs.contributors.isEmpty)
    eden.title = "still assignable"
    theirs.title = "too"
    eden.writer = Writer(name: "x")
    context.insert(Volume("x"))
    context.delete(eden)
    context.rollback()
    #expect(throws: (any Error).self) { try other.save() }
    #expect(throws: (any Error).self) { try other.all(Volume.self) }
    #expect(throws: ModelError.self) { try context.fetchCount(FetchDescriptor<Volume>()) }
    #expect(context.model(for: theirs.persistentModelID) == nil)
    #expect(throws: (any Error).self) { try store.execute("DELETE FROM volume") }
  }

  @Test @MainActor func `the main context saves by itself at the end of the turn, once`() async throws {
    let store = try store(["Lem": ["Eden"]])
    let context = store.mainContext
    let before = store.store.database.commitNumber
    let eden = try context.volume("Eden")
    eden.title = "Eden II"
    eden.year = 1959
    context.insert(Volume("new"))
    #expect(try store.value("SELECT title FROM volume") == "Eden")
    for _ in 0..<10_000 where context.hasChanges { await turn() }
    #expect(try store.query("SELECT title, year FROM volume").map(\.values) == [["Eden II", 1959], ["new", nil]])
    #expect(store.store.database.commitNumber == before + 1)
    context.autosaveEnabled = false
    eden.title = "kept back"
    await turn()
    #expect(context.hasChanges)
  }

  @Test @MainActor func `a save that fails by itself says why, and is tried again with the next change`() async throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = store.mainContext
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    eden.price = .nan
    for _ in 0..<10_000 where context.autosaveError == nil { await turn() }
    #expect(context.autosaveError is ModelError && context.hasChanges)
    eden.price = 1
    for _ in 0..<10_000 where context.hasChanges { await turn() }
    #expect(try store.value("SELECT price FROM volume") == 1.0)
    context.delete(eden)
    try context.save()
    eden.title = "ignored"
    solaris.title = "kept"
    for _ in 0..<10_000 where context.hasChanges { await turn() }
    guard case .ignoredAssignments? = context.autosaveError as? ModelError else { throw context.autosaveError! }
    #expect(try store.value("SELECT title FROM volume") == "kept")
  }

  @Test func `a write inside a write is an error`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    try context.volume("Eden").title = "edited"
    #expect(throws: (any Error).self) {
      try store.writeSQL { _ in try context.save() }
    }
    #expect(context.hasChanges)
    try context.save()
    #expect(try store.value("SELECT title FROM volume") == "edited")
  }

  @Test func `a context of an actor that was bound in its init moves by itself`() async throws {
    let store = try store(["Lem": ["Eden"]])
    let shelf = BoundShelf(store)
    try await shelf.load()
    try store.execute("UPDATE volume SET title = 'Eden II'")
    for _ in 0..<10_000 where await shelf.title == "Eden" { await turn() }
    #expect(await shelf.title == "Eden II")
  }
}

actor BoundShelf {
  let context: ModelContext
  private var volume: Volume?

  init(_ store: ModelContainer) {
    let context = ModelContext(store)
    self.context = context
    context.bind(to: self)
  }

  func load() throws { volume = try context.volume("Eden") }
  var title: String? { volume?.title }
}
