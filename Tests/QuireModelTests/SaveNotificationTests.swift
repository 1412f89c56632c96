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
}
