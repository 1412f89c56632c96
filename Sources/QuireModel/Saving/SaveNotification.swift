public import Foundation
import Synchronization

/// Notifications that a context posts about its saves, for code written for SwiftData. To follow rows, use
/// `store.commits`, which reports every commit and its changes.
extension ModelContext {
  /// Posted by a context before it saves; observers may still edit.
  public static var willSave: Notification.Name { SaveNotification.named("QuireModelContextWillSave") }

  /// Posted by a context when it has saved and everything shows it, with ``NotificationKey``s.
  public static var didSave: Notification.Name { SaveNotification.named("QuireModelContextDidSave") }

  /// Keys of a notification's `userInfo`, by their raw values: each has an array of ``PersistentIdentifier``.
  public enum NotificationKey: String, Sendable, CaseIterable {
    /// Of objects that the save inserted.
    case insertedIdentifiers = "inserted"
    /// Of objects that it changed, also of those that only link other objects than before.
    case updatedIdentifiers = "updated"
    /// Of objects that it deleted.
    case deletedIdentifiers = "deleted"
  }
}

/// Whether there may be observers: an observer must have read a notification's name before. Without one, saves cost
/// nothing more.
enum SaveNotification {
  private static let isKnown = Atomic(false)

  static func named(_ name: String) -> Notification.Name {
    isKnown.store(true, ordering: .relaxed)
    return Notification.Name(name)
  }

  static var isWanted: Bool { isKnown.load(ordering: .relaxed) }
}

extension Saver {
  /// What a save is about to write, for the notification after it.
  struct Announced {
    var inserted: [any PersistentModel] = []
    var updated: [PersistentIdentifier] = []
    var deleted: [PersistentIdentifier] = []
  }

  /// - Returns: Nil if there are no observers.
  func announceSave() -> Announced? {
    guard SaveNotification.isWanted, !isSilent, let context = core.context else { return nil }
    NotificationCenter.default.post(name: ModelContext.willSave, object: context)
    return Announced(
      inserted: pending.inserted.compactMap { $0 },
      updated: updatedIdentifiers(), deleted: pending.deleted.map(\.persistentModelID))
  }

  /// The objects with edited properties, and those of which only a list was changed: that is in rows of other tables.
  private func updatedIdentifiers() -> [PersistentIdentifier] {
    let edited = pending.edits.filter { $0._quireRowState.dirty != 0 && !$0.isDeleted }.map(\.persistentModelID)
    let owners = pending.editedLists.map(\.model).filter { !$0._quireState.flags.contains(.inserted) && !$0.isDeleted }
      .map(\.persistentModelID)
    let deleted = pending.deleted.map(\.persistentModelID)
    var known = Set(edited + deleted)
    return edited + (owners + linkedIdentifiers()).filter { known.insert($0).inserted }
  }

  /// The saved objects at both sides of the links that the save writes.
  private func linkedIdentifiers() -> [PersistentIdentifier] {
    guard let store = core.store else { return [] }
    return pending.joinEdits.sorted.flatMap { pair, _ in
      let join = store.joins[pair.join]
      return [(join.first, pair.first), (join.second, pair.second)].filter { $1 >= ModelState.firstKey }
        .map { PersistentIdentifier(store: store.number, entity: UInt32($0.entity), key: $1) }
    }
  }

  func announceSaved(_ saved: Announced?) {
    guard let saved, let context = core.context else { return }
    let identifiers: [ModelContext.NotificationKey: [PersistentIdentifier]] = [
      .insertedIdentifiers: saved.inserted.map(\.persistentModelID), .updatedIdentifiers: saved.updated,
      .deletedIdentifiers: saved.deleted,
    ]
    NotificationCenter.default.post(
      name: ModelContext.didSave, object: context,
      userInfo: Dictionary(uniqueKeysWithValues: identifiers.map { ($0.key.rawValue, $0.value) }))
  }
}
