import Quire
import TestSupport
import Testing

/// Fetches by questions about to-many relationships, with edits that are not saved.
@Suite(.fewAtOnce) struct ToManyFetchTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try QuireModelTests.store([
      "Lem": ["Solaris", "Eden", "Fiasko"], "Le Guin": ["The Dispossessed"], "Nobody": [],
    ])
    context = ModelContext(store)
  }

  private func names(_ predicate: Predicate<Writer>) throws -> [String] {
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
    let found = try context.fetch(descriptor).map(\.name)
    #expect(try context.fetchCount(descriptor) == found.count)
    return found
  }

  private func titles(_ predicate: Predicate<Volume>) throws -> [String] {
    try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])).map(\.title)
  }

  @Test func `what a writer has decides`() throws {
    #expect(try names(#Predicate { $0.volumes.contains { $0.title == "Eden" } }) == ["Lem"])
    #expect(try names(#Predicate { $0.volumes.isEmpty }) == ["Nobody"])
    #expect(try names(#Predicate { $0.volumes.count > 2 }) == ["Lem"])
    #expect(try names(#Predicate { $0.volumes.allSatisfy { $0.title > "F" } }) == ["Le Guin", "Nobody"])
    #expect(try names(#Predicate { $0.volumes.filter { $0.isIn }.count == 1 }) == ["Le Guin"])
    let eden = try context.volume("Eden").persistentModelID
    #expect(try names(#Predicate { $0.volumes.contains { $0.persistentModelID == eden } }) == ["Lem"])
    #expect(try titles(#Predicate { $0.writer?.volumes.count == 1 }) == ["The Dispossessed"])
  }

  @Test func `an edited child counts as it is`() throws {
    try context.volume("Eden").title = "Ende"
    #expect(try names(#Predicate { $0.volumes.contains { $0.title == "Eden" } }) == [])
    #expect(try names(#Predicate { $0.volumes.contains { $0.title == "Ende" } }) == ["Lem"])
    #expect(try titles(#Predicate { $0.writer?.volumes.contains { $0.title == "Ende" } ?? false }).count == 3)
  }

  @Test func `a moved child counts for its new parent and no more for the old one`() throws {
    let eden = try context.volume("Eden")
    eden.writer = try context.writer("Nobody")
    #expect(try names(#Predicate { $0.volumes.contains { $0.title == "Eden" } }) == ["Nobody"])
    #expect(try names(#Predicate { $0.volumes.count == 3 }) == [])
    #expect(try names(#Predicate { $0.volumes.isEmpty }) == [])
    eden.writer = nil
    #expect(try names(#Predicate { $0.volumes.isEmpty }) == ["Nobody"])
    context.rollback()
    #expect(try names(#Predicate { $0.volumes.count == 3 }) == ["Lem"])
  }

  @Test func `inserted and deleted children count, those of inserted parents too`() throws {
    context.insert(Volume("Orphan"))
    #expect(try names(#Predicate { $0.volumes.contains { $0.title == "Orphan" } }) == [])
    let volume = Volume("New", writer: try context.writer("Nobody"))
    context.insert(volume)
    #expect(try names(#Predicate { $0.volumes.contains { $0.title == "New" } }) == ["Nobody"])
    context.delete(volume)
    #expect(try names(#Predicate { $0.volumes.isEmpty }) == ["Nobody"])
    context.delete(try context.volume("The Dispossessed"))
    #expect(try names(#Predicate { $0.volumes.isEmpty }) == ["Le Guin", "Nobody"])
    let writer = Writer(name: "Zoë")
    context.insert(writer)
    #expect(try names(#Predicate { $0.volumes.isEmpty }) == ["Le Guin", "Nobody", "Zoë"])
    context.insert(Volume("Hers", writer: writer))
    #expect(try names(#Predicate { $0.volumes.contains { $0.title == "Hers" } }) == ["Zoë"])
    #expect(try names(#Predicate { $0.volumes.isEmpty }) == ["Le Guin", "Nobody"])
  }

  @Test func `unsaved links and what they lead to count`() throws {
    let lem = try context.writer("Lem")
    let dispossessed = try context.volume("The Dispossessed")
    #expect(try titles(#Predicate { $0.contributors.contains { $0.name == "Lem" } }) == [])
    dispossessed.contributors.append(lem)
    #expect(try titles(#Predicate { $0.contributors.contains { $0.name == "Lem" } }) == ["The Dispossessed"])
    #expect(try names(#Predicate { !$0.contributed.isEmpty }) == ["Lem"])
    try context.save()
    lem.name = "S. Lem"
    #expect(try titles(#Predicate { $0.contributors.contains { $0.name == "Lem" } }) == [])
    #expect(try titles(#Predicate { $0.contributors.contains { $0.name == "S. Lem" } }) == ["The Dispossessed"])
    lem.contributed = []
    #expect(try titles(#Predicate { !$0.contributors.isEmpty }) == [])
    #expect(try names(#Predicate { $0.contributed.isEmpty }).count == 3)
  }

  @Test func `an edit two relationships away counts`() throws {
    let eden = try context.volume("Eden")
    eden.contributors = [try context.writer("Nobody")]
    try context.save()
    let other = ModelContext(store)
    let nobody = try other.writer("Nobody")
    nobody.name = "Somebody"
    let found = try other.fetch(
      FetchDescriptor<Writer>(
        predicate: #Predicate { $0.volumes.contains { $0.contributors.contains { $0.name == "Somebody" } } }))
    #expect(found.map(\.name) == ["Lem"])
  }

  @Test func `rows are deleted by what belongs to them`() throws {
    try context.delete(model: Writer.self, where: #Predicate { $0.volumes.count > 2 })
    #expect(try names(#Predicate { _ in true }) == ["Le Guin", "Nobody"])
    #expect(try store.value("SELECT count(*) FROM volume") == 1)
  }
}

extension RandomEdits {
  /// The same questions asked of the plain values.
  func checkToMany(_ place: String, _ word: String) throws {
    func volumes(of writer: Int) -> [PlainVolume] { now.volumes.values.filter { $0.writer == writer } }
    func contributed(by writer: Int) -> [PlainVolume] { now.volumes.values.filter { $0.contributors.contains(writer) } }
    func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
    func compare(_ what: String, _ predicate: Predicate<Writer>, _ holds: (Int) -> Bool) throws {
      let found = Set(try context.fetch(FetchDescriptor(predicate: predicate)).map { ObjectIdentifier($0) })
      let expected = writerKeys.filter(holds)
      if found != Set(expected.map { ObjectIdentifier(writers[$0]!) }) {
        let numbers = writerKeys.filter { found.contains(ObjectIdentifier(writers[$0]!)) }
        Issue.record("\(place): \(what): found \(numbers), expected \(expected)")
      }
    }
    try compare("volume titled \(word)", #Predicate { $0.volumes.contains { $0.title == word } }) {
      volumes(of: $0).contains { isSame($0.title, word) }
    }
    try compare("all volumes in", #Predicate { $0.volumes.allSatisfy { $0.isIn } }) {
      volumes(of: $0).allSatisfy(\.isIn)
    }
    try compare("more than one volume", #Predicate { $0.volumes.count > 1 }) { volumes(of: $0).count > 1 }
    try compare("no contribution", #Predicate { $0.contributed.isEmpty }) { contributed(by: $0).isEmpty }
    try compare("contributed to one with a year", #Predicate { $0.contributed.filter { $0.year != nil }.count == 1 }) {
      contributed(by: $0).count { $0.year != nil } == 1
    }
    try compare(
      "contributed to one of \(word)", #Predicate { $0.contributed.contains { $0.writer?.name == word } }
    ) { contributed(by: $0).contains { $0.writer.flatMap { now.writers[$0] }.map { isSame($0.name, word) } ?? false } }
    try compare(
      "a volume with contributor \(word)",
      #Predicate { $0.volumes.contains { $0.contributors.contains { $0.name == word } } }
    ) { volumes(of: $0).contains { $0.contributors.contains { isSame(now.writers[$0]?.name ?? "", word) } } }
  }
}
