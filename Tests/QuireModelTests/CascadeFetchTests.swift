import Quire
import TestSupport
import Testing

/// Deletes that are not saved, as fetches show them.
@Suite(.fewAtOnce) struct CascadeFetchTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Le Guin": ["Eden"], "Lem": ["Solaris", "Fiasco"]])
    context = ModelContext(store)
  }

  private func titles() throws -> [String] { try context.all(Volume.self).map(\.title).sorted() }

  @Test func `an unsaved delete shows its cascade in fetches, counts and values`() throws {
    context.delete(try context.writer("Lem"))
    #expect(try titles() == ["Eden"])
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 1)
    #expect(try context.fetchIdentifiers(FetchDescriptor<Volume>()).count == 1)
    #expect(try context.fetchDistinct(\Volume.title) == ["Eden"])
    try context.save()
    #expect(try store.value("SELECT count(*) FROM volume") == 1)
  }

  @Test func `a reference to an object whose deletion is unsaved is nil in fetches`() throws {
    typealias Book = Bookshop.Book
    let context = ModelContext(try Bookshop.container())
    let books = Bookshop.fill(context)
    try context.save()
    let (author, country) = (books[0].author!, books[0].author!.country!)
    func count(_ predicate: Predicate<Book>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    func counts() throws -> [Int] {
      var found = [try count(#Predicate { $0.author == nil }), try count(#Predicate { $0.author != nil })]
      found.append(try count(#Predicate { $0.author == author }))
      found.append(try count(#Predicate { $0.author?.name == "Émile" }))
      found.append(try count(#Predicate { $0.author?.country == nil }))
      found.append(try count(#Predicate { $0.author?.country == country }))
      return found
    }
    let before = try counts()
    context.delete(author)
    context.delete(country)
    let unsaved = try counts()
    #expect(unsaved != before)
    context.rollback()
    #expect(try counts() == before)
    context.delete(author)
    context.delete(country)
    try context.save()
    #expect(try counts() == unsaved)
  }

  @Test func `one that was moved away stays, and one that was moved to it goes`() throws {
    let lem = try context.writer("Lem")
    try context.volume("Fiasco").writer = try context.writer("Le Guin")
    try context.volume("Eden").writer = lem
    context.delete(lem)
    #expect(try titles() == ["Fiasco"])
    try context.save()
    #expect(try store.query("SELECT title FROM volume").map(\.values) == [["Fiasco"]])
  }

  @Test func `what is committed after the delete goes too`() throws {
    context.delete(try context.writer("Lem"))
    #expect(try titles() == ["Eden"])
    try store.execute(
      "INSERT INTO volume (title, price, is_in, writer_id) SELECT 'Memoirs', 0, 1, id FROM writer WHERE name = 'Lem'")
    #expect(try titles() == ["Eden"])
  }

  @Test func `taking the delete back brings them back`() throws {
    let lem = try context.writer("Lem")
    let solaris = try context.volume("Solaris")
    context.delete(lem)
    #expect(try titles() == ["Eden"] && solaris.isDeleted)
    context.insert(lem)
    #expect(try titles() == ["Eden", "Fiasco", "Solaris"] && !solaris.isDeleted)
    context.delete(lem)
    #expect(try titles() == ["Eden"])
    context.rollback()
    #expect(try titles() == ["Eden", "Fiasco", "Solaris"] && lem.volumes.count == 2)
    context.delete(lem)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM volume") == 1)
  }

  @Test func `a delete that is saved at once loads none of what goes with it`() throws {
    let lem = try context.writer("Lem")
    context.delete(lem)
    let count = context.registeredCount
    try context.save()
    #expect(count <= 2)
    #expect(try titles() == ["Eden"])
  }
}
