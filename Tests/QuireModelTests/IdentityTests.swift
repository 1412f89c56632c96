import Foundation
import Quire
import TestSupport
import Testing

/// One row, one object, for as long as somebody holds it.
@Suite(.fewAtOnce) struct IdentityTests {
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

  @Test func `a row has one identifier by whatever path its file was opened`() throws {
    let file = try TemporaryFile()
    let folder = file.url.deletingLastPathComponent()
    let first = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let link = folder.appending(path: "link.db")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file.url)
    let context = ModelContext(first)
    context.insert(Volume("Eden"))
    try context.save()
    let id = try context.volume("Eden").persistentModelID
    for url in [link, URL(filePath: "\(folder.path)/../\(folder.lastPathComponent)/./test.db")] {
      let other = ModelContext(try ModelContainer(for: Writer.self, Volume.self, url: url))
      let theirs = try other.volume("Eden")
      #expect(theirs.persistentModelID == id && other.model(for: id) === theirs, "\(url)")
      #expect(
        try other.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id })) == [theirs])
    }
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
    #expect(idle.drainDeferredErrors().isEmpty)
  }

  @Test func `a row that was inserted after the commit a context shows is found by its identifier`() throws {
    let store = try store(["Lem": ["Eden"]])
    let (context, other) = (ModelContext(store), ModelContext(store))
    let eden = try context.volume("Eden")
    let author = eden.writer
    for title in ["Solaris", "Fiasco", "Katar"] {
      let volume = Volume(title)
      other.insert(volume)
      try other.save()
      let id = volume.persistentModelID
      let found: Volume? =
        switch title {
        case "Solaris": context.model(for: id) as? Volume
        case "Fiasco": context.model(Volume.self, key: id.rowKey ?? 0)
        default: try context.get(Volume.self, key: id.rowKey ?? 0)
        }
      #expect(found?.title == title && found?.persistentModelID == id)
    }
    #expect(context.model(Volume.self, key: 99) == nil && author?.name == "Lem")
    try other.delete(model: Volume.self)
    #expect(context.model(for: eden.persistentModelID) === eden && !eden.isDeleted)  // what is shown does not move it
  }

  @Test func `identifiers of another store or of nothing give nothing`() throws {
    let (a, b) = (try store(["Lem": ["Eden"]]), try store(["Lem": ["Eden"]]))
    let id = try ModelContext(a).volume("Eden").persistentModelID
    #expect(ModelContext(b).model(for: id) == nil)
    #expect(ModelContext(a).model(Volume.self, key: 99) == nil)
    #expect(ModelContext(a).model(Volume.self, key: .min) == nil)
  }

  @Test func `an identifier of another container of the file finds its row`() throws {
    let file = try TemporaryFile()
    let a = ModelContext(try ModelContainer(for: Writer.self, Volume.self, url: file.url))
    let b = ModelContext(try ModelContainer(for: Volume.self, Writer.self, url: file.url))
    let volume = Volume("Eden")
    a.insert(volume)
    let unsaved = volume.persistentModelID
    let another = Volume("Solaris")
    b.insert(another)
    #expect(b.model(for: unsaved) == nil && unsaved != another.persistentModelID)
    b.rollback()
    try a.save()
    let id = volume.persistentModelID
    let found = try #require(b.model(for: id) as? Volume)
    let same = found.persistentModelID
    #expect(same == id && !(same < id) && !(id < same) && [id: "kept"][same] == "kept" && Set([id, same]).count == 1)
    let writer = Writer(name: "Lem")
    b.insert(writer)
    try b.save()
    #expect(writer.persistentModelID.rowKey == id.rowKey && writer.persistentModelID != id)
    #expect(found.title == "Eden" && found !== volume)
    #expect(b.registeredModel(for: id) as Volume? === found)
    #expect(try b.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id })) == [found])
    #expect(
      try b.fetchCount(FetchDescriptor<Volume>(predicate: #Predicate { [id].contains($0.persistentModelID) })) == 1)
  }

  @Test func `an identifier is coded as model and key, and finds its row when the file has moved`() throws {
    let file = try TemporaryFile()
    func open(_ url: URL) throws -> ModelContainer { try ModelContainer(for: Writer.self, Volume.self, url: url) }
    var text = ""
    do {
      let store = try open(file.url)
      let context = ModelContext(store)
      context.insert(Volume("Eden"))
      try context.save()
      text = String(decoding: try JSONEncoder().encode(context.volume("Eden").persistentModelID), as: UTF8.self)
      try store.store.database.close()
    }
    #expect(Set(text.split { "{,}".contains($0) }) == [#""entity":"Volume""#, #""key":1"#])
    let moved = file.url.deletingLastPathComponent().appending(path: "moved.db")
    try FileManager.default.moveItem(at: file.url, to: moved)
    let context = ModelContext(try open(moved))
    let id = try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8))
    let eden = try #require(context.model(for: id) as? Volume)
    #expect(eden.title == "Eden" && context.registeredModel(for: id) as Volume? === eden)
    #expect(id.entityName == "Volume" && id.rowKey == 1)
    #expect(try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id })) == [eden])
    #expect(String(decoding: try JSONEncoder().encode([id]), as: UTF8.self).contains("Volume"))
  }

  @Test func `what earlier versions coded, with the file's path, is that store's identifier`() throws {
    let file = try TemporaryFile()
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let context = ModelContext(store)
    context.insert(Volume("Eden"))
    try context.save()
    let id = try context.volume("Eden").persistentModelID
    let old = ["store": try #require(id.storeIdentifier), "entity": "Volume"]
    var text = String(decoding: try JSONEncoder().encode(old), as: UTF8.self)
    text.insert(contentsOf: #""key":1,"#, at: text.index(after: text.startIndex))
    #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8)) == id)
  }

  @Test(arguments: [
    #"{"entity":"Volume","key":-9223372036854775808}"#, #"{"entity":"","key":1}"#, #"{"key":1}"#,
    #"{"entity":"Volume","key":"1"}"#,
  ])
  func `what names no row is not decoded`(text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8)) }
  }

  @Test func `an identifier outlives its object's context`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    func read() throws -> [Volume] {
      try ModelContext(store).fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    }
    let (id, same) = (try read()[0].persistentModelID, try read()[0].persistentModelID)
    #expect(id == same && id.entityName == "Volume" && id.rowKey == 1 && id.storeIdentifier != nil)
    let context = ModelContext(store)
    #expect((context.model(for: id) as? Volume)?.title == "Eden")
    try context.delete(model: Volume.self, where: #Predicate { $0.persistentModelID == id })
    #expect(try store.query("SELECT title FROM volume").map(\.values) == [["Solaris"]])
  }

  @Test func `an identifier outlives its container, and finds its row when the file is opened again`() throws {
    let file = try TemporaryFile()
    func open() throws -> ModelContainer { try ModelContainer(for: Writer.self, Volume.self, url: file.url) }
    func note() throws -> (row: PersistentIdentifier, object: Volume) {
      let context = ModelContext(try open())
      for title in ["Solaris", "Eden"] {
        context.insert(Volume(title))
        try context.save()
      }
      return (try context.volume("Solaris").persistentModelID, try context.volume("Eden"))
    }
    let (id, eden) = try note()
    #expect(id.entityName == "Volume" && id.rowKey == 1 && id.storeIdentifier != nil)
    #expect(eden.persistentModelID.entityName == "Volume" && "\(eden.persistentModelID)" == "Volume 2")
    let context = ModelContext(try open())
    let found = try #require(context.model(for: id) as? Volume)
    #expect(found.title == "Solaris" && found.persistentModelID == id)
    #expect(try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id })) == [found])
    let text = String(decoding: try JSONEncoder().encode(eden.persistentModelID), as: UTF8.self)
    #expect(text.contains("Volume"))
    #expect(try ModelContext(store(["Lem": ["Eden"]])).model(for: id) == nil)
  }

  @Test func `a predicate with an identifier of nothing is an error, and no empty answer`() throws {
    let (store, other) = (try store(["Lem": ["Eden"]]), try store(["Lem": ["Eden"]]))
    let (context, elsewhere) = (ModelContext(store), ModelContext(store))
    let unsaved = Volume("unsaved there")
    elsewhere.insert(unsaved)
    let loose = Volume("in no context")
    for id in [
      loose.persistentModelID, unsaved.persistentModelID, try ModelContext(other).volume("Eden").persistentModelID,
    ] {
      let isIt = #Predicate<Volume> { $0.persistentModelID == id }
      let isAfter = #Predicate<Volume> { $0.year ?? 0 > 0 || $0.persistentModelID > id }
      let (none, ids): (PersistentIdentifier?, [PersistentIdentifier]) = (id, [id])
      let isByIt = #Predicate<Volume> { $0.writer?.persistentModelID == none }
      let isAmong = #Predicate<Volume> { ids.contains($0.persistentModelID) }
      for predicate in [isIt, isAfter, isByIt, isAmong] {
        let descriptor = FetchDescriptor(predicate: predicate)
        #expect(throws: UntranslatablePredicate.self) { try context.fetch(descriptor) }
        #expect(throws: UntranslatablePredicate.self) { try context.fetchCount(descriptor) }
        #expect(throws: UntranslatablePredicate.self) { try context.fetchIdentifiers(descriptor) }
        #expect(throws: UntranslatablePredicate.self) { try context.delete(model: Volume.self, where: predicate) }
      }
      #expect(throws: ModelError.self) { try store.query("SELECT 1 FROM volume WHERE id = \(id)") }
    }
    #expect(try store.query("SELECT count(*) FROM volume").map(\.values) == [[1]])
  }

  @Test func `nothing matches the identifier of an object that was deleted before it was saved`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let volumes = ["Solaris", "Fiasco"].map { Volume($0) }
    for volume in volumes { context.insert(volume) }
    let id = volumes[0].persistentModelID
    context.delete(volumes[0])
    #expect(try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id })).isEmpty)
    #expect(try context.fetchCount(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID != id })) == 2)
    let ids = volumes.map(\.persistentModelID)
    let listed = #Predicate<Volume> { ids.contains($0.persistentModelID) }
    #expect(try context.fetch(FetchDescriptor(predicate: listed)).map(\.title) == ["Fiasco"])
    #expect(throws: UntranslatablePredicate.self) {
      try ModelContext(context.container).fetch(
        FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id }))
    }
  }

  @Test func `each object has an identifier of its own before it is in a context`() throws {
    let volumes = (1...100).map { Volume("\($0)") }
    let writer = Writer(name: "Lem")
    writer.volumes = volumes
    #expect(Set(volumes.map(\.persistentModelID)).count == 100)
    #expect(Set(volumes.map(\.persistentModelID.description)).count == 100)
    #expect(volumes.allSatisfy { $0.persistentModelID.rowKey == nil && $0.persistentModelID == $0.persistentModelID })
    var drafts = volumes
    drafts.removeAll { $0.persistentModelID == volumes[7].persistentModelID }
    #expect(drafts.count == 99)
    let context = ModelContext(try store())
    context.insert(writer)
    #expect(Set(volumes.map(\.persistentModelID)).count == 100)
    context.rollback()
    #expect(Set(volumes.map(\.persistentModelID)).count == 100)
  }

  @Test func `an unsaved object's identifier is what it was after it was encoded, in this run of the program alone`()
    throws
  {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let (volume, loose) = (Volume("Fiasco"), Volume("in no context"))
    context.insert(volume)
    for id in [volume.persistentModelID, loose.persistentModelID] {
      let data = try JSONEncoder().encode(id)
      #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: data) == id)
      let text = String(decoding: data, as: UTF8.self)
      let run = try #require(text.firstMatch(of: /[0-9A-F]{8}-[0-9A-F-]{27}/)).output
      let foreign = text.replacing(run, with: UUID().uuidString)
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(PersistentIdentifier.self, from: Data(foreign.utf8))
      }
    }
    let again = try JSONDecoder().decode(
      PersistentIdentifier.self, from: try JSONEncoder().encode(volume.persistentModelID))
    let found = try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == again }))
    #expect(found.map(\.title) == ["Fiasco"])
    try context.save()
    #expect(volume.persistentModelID != again && context.model(for: again) as? Volume == nil)
  }

  @Test func `a predicate may name an unsaved object of the context that is asked`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let writer = Writer(name: "Tawada")
    context.insert(writer)
    let volume = Volume("Memoirs", writer: writer)
    context.insert(volume)
    let id = writer.persistentModelID
    var descriptor = FetchDescriptor<Volume>(predicate: #Predicate { $0.writer?.persistentModelID == id })
    #expect(try context.fetch(descriptor) == [volume])
    #expect(try context.fetchCount(descriptor) == 1)
    descriptor.includePendingChanges = false
    #expect(throws: UntranslatablePredicate.self) { try context.fetch(descriptor) }
  }

  @Test func `another model's identifier is an error to compare with, and in a list nobody's`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    let (lem, eden) = (try context.writer("Lem"), try context.volume("Eden"))
    let (id, ids) = (lem.persistentModelID, [lem.persistentModelID, eden.persistentModelID])
    #expect(throws: UntranslatablePredicate.self) {
      try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id }))
    }
    let found = try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { ids.contains($0.persistentModelID) }))
    #expect(found == [eden])
    let only = [id]
    let none = try context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { only.contains($0.persistentModelID) }))
    #expect(none.isEmpty)
  }
}
