public import Foundation
import QuireRow
import QuireSQLite
import Synchronization

/// Notifications that a context posts about its saves, and about `undo()`, `redo()` and `delete(model:where:)`, for code
/// written for SwiftData. To follow rows, use `store.commits`, which reports every commit and its changes.
extension ModelContext {
  /// Posted by a context before it saves; observers may still edit.
  public static var willSave: Notification.Name { SaveNotification.named("QuireModelContextWillSave") }

  /// Posted by a context when it has saved and everything shows it, with ``NotificationKey``s.
  public static var didSave: Notification.Name { SaveNotification.named("QuireModelContextDidSave") }

  /// Keys of a notification's `userInfo`, by their raw values: each has an array of ``PersistentIdentifier``.
  public enum NotificationKey: String, Sendable, CaseIterable {
    /// Of objects that the save inserted.
    case insertedIdentifiers = "inserted"
    /// Of objects that it changed, also by delete rules and triggers, and of those of which only a list or a reference to
    /// them was changed.
    case updatedIdentifiers = "updated"
    /// Of objects that it deleted, also by delete rules and triggers.
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
  /// What is about to be written, for the notification after it.
  struct Announced {
    /// New objects, which get their keys only now.
    var new: [any PersistentModel] = []
    var inserted: [PersistentIdentifier] = []
    var updated: [PersistentIdentifier] = []
    var deleted: [PersistentIdentifier] = []
  }

  /// - Returns: Nil if there are no observers.
  func announceSave() -> Announced? {
    guard announceWrite() else { return nil }
    return Announced(
      new: pending.inserted.compactMap { $0 },
      updated: updatedIdentifiers(), deleted: pending.deleted.map(\.persistentModelID))
  }

  /// - Returns: False if there are no observers.
  func announceWrite() -> Bool {
    guard SaveNotification.isWanted, !isSilent, let context = core.context else { return false }
    NotificationCenter.default.post(name: ModelContext.willSave, object: context)
    return true
  }

  /// The objects with edited properties, and those of which only a list was changed: that is in rows of other tables.
  private func updatedIdentifiers() -> [PersistentIdentifier] {
    let edited = pending.edits.filter { $0._quireRowState.dirty != 0 && !$0.isDeleted }.map(\.persistentModelID)
    let owners = pending.editedLists.map(\.model).filter { !$0._quireState.flags.contains(.inserted) && !$0.isDeleted }
      .map(\.persistentModelID)
    let deleted = pending.deleted.map(\.persistentModelID)
    var known = Set(edited + deleted)
    return edited + (owners + linkedIdentifiers() + referredIdentifiers()).filter { known.insert($0).inserted }
  }

  /// The saved objects whose lists change because another object's reference does, whether they have been read or not:
  /// those that new and edited objects refer to, and those that edited and deleted ones refer to in the file.
  private func referredIdentifiers() -> [PersistentIdentifier] {
    guard let store = core.store else { return [] }
    var result: [PersistentIdentifier] = []
    func add(_ key: Int64, of entity: Int) {
      if key < ModelState.firstKey { return }
      result.append(PersistentIdentifier(store: store.number, entity: UInt32(entity), key: key))
    }
    func addReferences(of model: any PersistentModel, isNew: Bool, on connection: Connection) throws {
      guard let entity = entity(of: model) else { return }
      let state = model._quireRowState
      for index in entity.relationships {
        let property = entity.properties[index]
        guard let side = property.toOne, side.inverse != nil, let column = property.column else { continue }
        guard isNew || model.isDeleted || state.dirty & 1 << PropertyMask(index) != 0 else { continue }
        let link = model._quireLink(index)
        if link.hasKey, !model.isDeleted { add(link.key, of: side.target) }
        if isNew { continue }
        let statement = try connection.statement(
          "SELECT \(try quoted(identifier: column)) FROM \(try quoted(identifier: entity.table)) "
            + "WHERE \(try quoted(identifier: entity.keyColumn)) = ?")
        statement.bind(state.key, at: 1)
        let before = try statement.firstRow { row in try row.isNull(0) ? nil : row.int64(0) }
        if let before, let before { add(before, of: side.target) }
      }
    }
    do {
      try readToItsEnd { connection in
        for model in pending.inserted.compactMap({ $0 }) { try addReferences(of: model, isNew: true, on: connection) }
        for model in pending.edits + pending.deleted { try addReferences(of: model, isNew: false, on: connection) }
      }
    } catch {
      // The save meets it, too.
    }
    return result
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

  /// The rows that a save has changed since the transaction had so many row events, if there are observers and anything but
  /// its own statements has changed some: the file's foreign keys and triggers.
  static func rows(in transaction: Transaction, since before: (events: Int, indirect: Int)) -> [TableChanges] {
    guard SaveNotification.isWanted, transaction.indirectEventCount != before.indirect else { return [] }
    return transaction.changes(since: before.events)
  }

  /// - Parameter rows: What the file's foreign keys and triggers have changed in addition, or all that was changed.
  func announceSaved(_ saved: Announced?, with rows: [TableChanges] = []) {
    guard var saved, let context = core.context else { return }
    saved.inserted += saved.new.map(\.persistentModelID)
    if !rows.isEmpty, let store = core.store { saved.add(Announced(rows, in: store)) }
    let identifiers: [ModelContext.NotificationKey: [PersistentIdentifier]] = [
      .insertedIdentifiers: saved.inserted, .updatedIdentifiers: saved.updated, .deletedIdentifiers: saved.deleted,
    ]
    NotificationCenter.default.post(
      name: ModelContext.didSave, object: context,
      userInfo: Dictionary(uniqueKeysWithValues: identifiers.map { ($0.key.rawValue, $0.value) }))
  }
}

extension Saver.Announced {
  /// Adds what other rows name and this does not name yet.
  mutating func add(_ other: Self) {
    var gone = Set(deleted)
    deleted += other.deleted.filter { gone.insert($0).inserted }
    var known = gone.union(inserted)
    inserted += other.inserted.filter { known.insert($0).inserted }
    known.formUnion(updated)
    updated = updated.filter { !gone.contains($0) } + other.updated.filter { known.insert($0).inserted }
  }

  /// The rows of these tables that belong to models.
  init(_ tables: [TableChanges], in store: Store) {
    for table in tables {
      guard let entity = store.entity(ofTable: table.table.name) else { continue }
      for row in table.rows {
        guard case .integer(let key) = row.key else { continue }
        let name = PersistentIdentifier(store: store.number, entity: UInt32(entity.index), key: key)
        switch row.kind {
        case .insert: inserted.append(name)
        case .update: updated.append(name)
        case .delete: deleted.append(name)
        }
      }
    }
  }
}
