import Quire
import TestSupport
import Testing

/// The observation contract, A10 to A12, F4: properties of other kinds.
@Suite(.fewAtOnce) struct PropertyKindTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(for: Gadget.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
  }

  @Test func `a struct is one value: one change, old and new whole`() throws {
    let gadget = Gadget()
    context.insert(gadget)
    try context.save()
    nonisolated(unsafe) let watched = gadget
    let old = Locked<Edition?>(nil)
    withObservationTracking {
      _ = watched.edition.year
    } onChange: {
      old.withLock { $0 = watched.edition }
    }
    gadget.edition.name = "second"
    #expect(old.withLock { $0 } == Edition(year: 1, name: "first"))
    try context.save()
    #expect(try store.value("SELECT edition FROM gadget") == #"{"name":"second","year":1}"#)
    let same = tracking { _ = gadget.edition }
    gadget.edition.name = "second"
    #expect(same.count == 0 && !context.hasChanges)
  }

  @Test func `a transient property is observed and not stored, an ignored one is neither`() throws {
    let gadget = Gadget()
    context.insert(gadget)
    try context.save()
    let (shown, silent) = (tracking { _ = gadget.isShown }, tracking { _ = gadget.cache })
    gadget.isShown = true
    gadget.cache = 7
    #expect(shown.count == 1 && silent.count == 0)
    #expect(!context.hasChanges)
    let columns = try store.query("SELECT name FROM pragma_table_xinfo('gadget')").map { $0[0] }
    #expect(columns == ["id", "name", "edition", "opaque", "nested_name"])
  }

  @Test func `what is no model is opaque: replacing it counts, changing it does not`() throws {
    let gadget = Gadget()
    context.insert(gadget)
    let opaque = tracking { _ = gadget.opaque }
    gadget.opaque.tags.insert("x")  // a struct: replaced
    #expect(opaque.count == 1)
  }

  @Test func `constants may be called as what the macro writes calls its parameters, a computed one is kept nowhere`()
    throws
  {
    let store = try ModelContainer(
      for: Journey.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    context.insert(Journey("Oregon", row: 3, statement: 0.5, index: Date(timeIntervalSince1970: 7), properties: nil))
    try context.save()
    let read = try #require(try ModelContext(store).fetchOne(FetchDescriptor<Journey>()))
    #expect(read.state == "Oregon" && read.row == 3 && read.statement == 0.5 && read.properties == nil)
    #expect(read.index == Date(timeIntervalSince1970: 7) && read.line == "Oregon 3")
  }

  @Test func `property observers run for assignments, and not when a value is taken in`() throws {
    let gadget = Gadget()
    context.insert(gadget)
    try context.save()
    gadget.name = "a"
    #expect(gadget.log == ["gadget -> a"])
    try context.save()
    try store.execute("UPDATE gadget SET name = 'b'")
    try context.refresh()
    #expect(gadget.name == "b" && gadget.log == ["gadget -> a"])
  }

  @Test func `any first read will do, also one from a property observer`() throws {
    let store = try QuireModelTests.store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    let heard = Locked<String?>(nil)
    nonisolated(unsafe) let volume = eden
    withObservationTracking {
      _ = volume.title
    } onChange: {
      heard.withLock { $0 = volume.writer?.name }
    }
    eden.title = "Eden II"
    #expect(heard.withLock { $0 } == "Lem")
  }
}

struct Edition: Codable, Equatable {
  var year: Int
  var name: String
}

struct Opaque: Codable {
  var tags: Set<String> = []
}

@Model final class Gadget {
  var name = "gadget" {
    didSet { log.append("\(oldValue) -> \(name)") }
  }
  var edition = Edition(year: 1, name: "first")
  var opaque = Opaque()
  var nestedName: String?
  @Transient var isShown = false
  @Transient var log: [String] = []
  @ObservationIgnored var cache = 0
  init() {}
}

@Model final class Journey {
  let state: String
  let row: Int
  let statement: Double
  let index: Date
  let properties: String?
  @Attribute(.ephemeral) var line: String { "\(state) \(row)" }
  init(_ state: String, row: Int, statement: Double, index: Date, properties: String?) {
    (self.state, self.row, self.statement, self.index) = (state, row, statement, index)
    self.properties = properties
  }
}
