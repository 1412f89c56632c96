import Foundation
import Quire
import TestSupport
import Testing

/// An identifier that was encoded and decoded means its row, in whichever store is used with it.
@Suite(.fewAtOnce) struct DecodedIdentifierTests {
  private func again(_ id: PersistentIdentifier) throws -> PersistentIdentifier {
    try JSONDecoder().decode(PersistentIdentifier.self, from: try JSONEncoder().encode(id))
  }

  @Test func `an identifier travels as JSON and finds its object again`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    let data = try JSONEncoder().encode(eden.persistentModelID)
    let id = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    #expect(context.model(for: id) === eden)
  }

  @Test func `a decoded identifier equals that of its row while several containers have the file open`() throws {
    let (file, other) = (try TemporaryFile(), try TemporaryFile())
    let first = try ModelContainer(for: Wardrobe.self, Volume.self, Writer.self, url: file.url)
    let second = try ModelContainer(for: Volume.self, Writer.self, Wardrobe.self, url: file.url)
    let (context, beside) = (ModelContext(first), ModelContext(second))
    context.insert(Wardrobe("a"))
    try context.save()
    let here = try #require(try context.fetch(FetchDescriptor<Wardrobe>()).first)
    let there = try #require(try beside.fetch(FetchDescriptor<Wardrobe>()).first)
    let id = try again(here.persistentModelID)
    #expect(id == here.persistentModelID && id == there.persistentModelID)
    #expect(Set([id, try again(there.persistentModelID), here.persistentModelID]).count == 1)
    #expect(context.model(for: id) === here && beside.model(for: id) === there)
    #expect(beside.registeredModel(for: id) as Wardrobe? === there)
    // Of two files, it may mean either.
    let elsewhere = try ModelContainer(for: Wardrobe.self, url: other.url)
    #expect(try again(here.persistentModelID) != here.persistentModelID)
    #expect(try ModelContext(elsewhere).fetchCount(FetchDescriptor<Wardrobe>()) == 0)
  }

  @MainActor @Test func `a decoded identifier means the store in use, also before others have closed their files`()
    throws
  {
    func used(_ context: ModelContext) throws -> PersistentIdentifier {
      let drawer = Drawer("a")
      context.insert(drawer)
      try context.save()
      return drawer.persistentModelID
    }
    func open() throws -> ModelContainer {
      try ModelContainer(for: Drawer.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    // Neither has the main actor become free.
    _ = try used(try open().mainContext)
    _ = try used(ModelContext(try open()))
    let closed = try open()
    let gone = try used(closed.mainContext)
    try closed.close()
    var store: ModelContainer? = try open()
    let context = try #require(store).mainContext
    let id = try used(context)
    #expect(try again(id) == id)
    store = nil
    #expect(try again(id) == id)  // its main context is used alone
    let other = try open()
    #expect(try again(id) != id)
    _ = (other, gone)
  }
}

// Models of one test each: others run beside it, with stores of their own.

@Model final class Drawer {
  var name: String
  init(_ name: String) { self.name = name }
}

@Model final class Wardrobe {
  var name: String
  init(_ name: String) { self.name = name }
}
