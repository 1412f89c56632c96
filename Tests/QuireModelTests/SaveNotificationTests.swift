import Foundation
import Quire
import TestSupport
import Testing

/// Which objects the notification of a save names.
@Suite(.fewAtOnce) struct SaveNotificationTests {
  @Test(arguments: [false, true]) func `those whose list gains or loses an object, whether it was read or not`(
    isRead: Bool
  ) throws {
    let store = try store(["Lem": ["Eden", "Solaris"], "Dick": []])
    let context = ModelContext(store)
    let heard = Locked<Set<PersistentIdentifier>?>(nil)
    let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) {
      let lists = $0.userInfo as? [String: [PersistentIdentifier]] ?? [:]
      heard.withLock { $0 = Set(lists["updated"] ?? []) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    func updated() -> Set<PersistentIdentifier>? { heard.withLock { $0 } }
    let (lem, dick, eden) = (try context.writer("Lem"), try context.writer("Dick"), try context.volume("Eden"))
    let solaris = try context.volume("Solaris")
    let ids = (lem: lem.persistentModelID, dick: dick.persistentModelID, eden: eden.persistentModelID)
    if isRead { #expect(lem.volumes.count == 2 && dick.volumes.isEmpty) }
    eden.writer = dick
    try context.save()
    #expect(updated() == [ids.lem, ids.dick, ids.eden])
    eden.writer = nil
    try context.save()
    #expect(updated() == [ids.dick, ids.eden])
    context.insert(Volume("Ubik", writer: dick))
    try context.save()
    #expect(updated() == [ids.dick])
    context.delete(solaris)
    try context.save()
    #expect(updated() == [ids.lem])
    eden.price = 3
    try context.save()
    #expect(updated() == [ids.eden])
    let new = Writer(name: "Le Guin")
    context.insert(new)
    eden.writer = new
    try context.save()
    #expect(updated() == [ids.eden])
    context.delete(eden)
    context.delete(new)
    try context.save()
    #expect(updated() == [])
  }

  enum Way: CaseIterable {
    case save, transaction, saveWhenReady, byPredicate
  }

  @Test(arguments: Way.allCases) func `objects that go with others are named, whether they have been fetched or not`(
    _ way: Way
  ) async throws {
    let store = try store(["Lem": ["Eden", "Solaris"], "Dick": ["Ubik"]])
    let context = ModelContext(store)
    let heard = Locked<[[String]]>([])
    let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) {
      let lists = $0.userInfo as? [String: [PersistentIdentifier]] ?? [:]
      let names = ["inserted", "updated", "deleted"].map { lists[$0] ?? [] }
      heard.withLock { $0 = names.map { $0.map(\.entityName).sorted() } }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let lem = try context.writer("Lem")
    switch way {
    case .save:
      context.delete(lem)
      try context.save()
    case .transaction: try context.transaction { context.delete(lem) }
    case .saveWhenReady:
      context.delete(lem)
      try await context.saveWhenReady()
    case .byPredicate: try context.delete(model: Writer.self, where: #Predicate { $0.name == "Lem" })
    }
    #expect(heard.withLock { $0 } == [[], [], ["Volume", "Volume", "Writer"]])
    #expect(try store.value("SELECT count(*) FROM volume") == 1)
  }

  @Test(arguments: [Way.save, .byPredicate]) func `objects whose reference a delete rule clears are named as updated`(
    _ way: Way
  ) throws {
    let store = try ModelContainer(
      for: NullifyDock.self, NullifyBoat.self, NullifyLamp.self, NullifyFlag.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let filled = ModelContext(store)
    let boats = [NullifyBoat(), NullifyBoat()]
    let dock = NullifyDock()
    dock.boats = boats
    filled.insert(dock)
    try filled.save()
    let context = ModelContext(store)
    let heard = Locked<Set<PersistentIdentifier>>([])
    let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) {
      let lists = $0.userInfo as? [String: [PersistentIdentifier]] ?? [:]
      heard.withLock { $0 = Set(lists["updated"] ?? []) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    if way == .byPredicate {
      try context.delete(model: NullifyDock.self)
    } else {
      context.delete(try #require(try context.fetch(FetchDescriptor<NullifyDock>()).first))
      try context.save()
    }
    #expect(heard.withLock { $0 } == Set(boats.map(\.persistentModelID)))
  }

  @Test func `undo, redo and a deletion by predicate name their objects, too`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = ModelContext(store)
    context.undoManager = UndoManager()
    let heard = Locked<[String]>([])
    let center = NotificationCenter.default
    let tokens = [ModelContext.willSave, ModelContext.didSave].map { name in
      center.addObserver(forName: name, object: context, queue: nil) { notification in
        let lists = notification.userInfo as? [String: [PersistentIdentifier]] ?? [:]
        let texts = lists.filter { !$0.value.isEmpty }.map { list in
          "\(list.key) \(list.value.map { "\($0.entityName) \($0.rowKey ?? 0)" }.sorted())"
        }
        heard.withLock { $0.append(name == ModelContext.willSave ? "will" : texts.sorted().joined(separator: ", ")) }
      }
    }
    defer { for token in tokens { center.removeObserver(token) } }
    func news() -> [String] {
      heard.withLock { all in
        defer { all = [] }; return all
      }
    }
    let eden = try context.volume("Eden")
    let (own, other) = (eden.persistentModelID.rowKey ?? 0, try context.volume("Solaris").persistentModelID.rowKey ?? 0)
    eden.price = 3
    try context.save()
    _ = news()
    try context.undo()
    #expect(news() == ["will", #"updated ["Volume \#(own)"]"#])
    try context.redo()
    #expect(news() == ["will", #"updated ["Volume \#(own)"]"#])
    try context.delete(model: Volume.self, where: #Predicate { $0.price == 3 })
    #expect(news() == ["will", #"deleted ["Volume \#(own)"]"#])
    try context.undo()
    #expect(news() == ["will", #"inserted ["Volume \#(own)"]"#])
    try context.delete(model: Volume.self)
    #expect(news() == ["will", #"deleted ["Volume \#(own)", "Volume \#(other)"]"#])
    try context.undo()
    #expect(news() == ["will", #"inserted ["Volume \#(own)", "Volume \#(other)"]"#])
    try context.transaction { try context.delete(model: Volume.self, where: #Predicate { $0.title == "Eden" }) }
    #expect(news().contains(#"deleted ["Volume \#(own)"]"#))
  }
}
