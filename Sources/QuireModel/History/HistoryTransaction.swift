public import Foundation

/// The changes of one commit.
public protocol HistoryTransaction: Sendable {
  /// The type of a position in the history.
  associatedtype TokenType: HistoryToken
  /// The position after this transaction, from which to continue.
  var token: TokenType { get }
  /// The author's name, if the writer gave one.
  var author: String? { get }
  /// When it was committed.
  var timestamp: Date { get }
  /// Its number, which increases from one transaction to the next.
  var transactionIdentifier: Int64 { get }
  /// Its changes of objects.
  var changes: [HistoryChange] { get }
}

/// One commit, as read from the file's change log.
public struct DefaultHistoryTransaction: HistoryTransaction {
  /// The position after this transaction, from which to continue.
  public let token: DefaultHistoryToken
  /// The author's name: a context's `author`, or that of `execute` and `write`.
  public let author: String?
  /// When it was committed. Programs without Quire record no time: theirs is that of the previous commit.
  public let timestamp: Date
  /// Increases from one transaction to the next, and never changes.
  public let transactionIdentifier: Int64
  /// The program that committed it; empty for a program without Quire.
  public let bundleIdentifier: String
  /// The number of its process.
  public let processIdentifier: String
  /// The file's path.
  public let storeIdentifier: String
  /// Changes of the container's models, table by table, in the order in which the transaction first changed each row.
  public let changes: [HistoryChange]
}

/// The changes of one object in a transaction.
///
///     switch change {
///     case .insert(let insert as DefaultHistoryInsert<Book>): …
///     case .update(let update as DefaultHistoryUpdate<Book>) where update.updatedAttributes.contains(\.title): …
///     case .delete(let delete as DefaultHistoryDelete<Book>): forget(delete.tombstone[\.isbn])
///     default: break
///     }
public enum HistoryChange: Sendable {
  /// A new object.
  case insert(any HistoryInsert)
  /// An object with changed values.
  case update(any HistoryUpdate)
  /// A deleted object.
  case delete(any HistoryDelete)

  /// The object's identifier; for a deleted object there is no row any more.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let insert): insert.changedPersistentIdentifier
    case .update(let update): update.changedPersistentIdentifier
    case .delete(let delete): delete.changedPersistentIdentifier
    }
  }

  /// The number of the transaction.
  public var transactionIdentifier: Int64 {
    switch self {
    case .insert(let insert): insert.transactionIdentifier
    case .update(let update): update.transactionIdentifier
    case .delete(let delete): delete.transactionIdentifier
    }
  }
}

/// A new object in a transaction, whatever its class.
public protocol HistoryInsert<Model>: Sendable {
  /// The object's class.
  associatedtype Model: PersistentModel
  /// The number of the transaction.
  var transactionIdentifier: Int64 { get }
  /// The object's identifier.
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// A changed object in a transaction, whatever its class.
public protocol HistoryUpdate<Model>: Sendable {
  /// The object's class.
  associatedtype Model: PersistentModel
  /// The number of the transaction.
  var transactionIdentifier: Int64 { get }
  /// The object's identifier.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The properties whose values changed.
  var updatedAttributes: [PartialKeyPath<Model>] { get }
}

/// A deleted object in a transaction, whatever its class.
public protocol HistoryDelete<Model>: Sendable {
  /// The object's class.
  associatedtype Model: PersistentModel
  /// The number of the transaction.
  var transactionIdentifier: Int64 { get }
  /// The object's identifier.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The object's values of properties marked `.preserveValueOnDeletion`.
  var tombstone: HistoryTombstone<Model> { get }
}

/// An object that a transaction inserted.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, Hashable {
  /// The number of the transaction.
  public let transactionIdentifier: Int64
  /// The object's identifier.
  public let changedPersistentIdentifier: PersistentIdentifier
}

/// An object that a transaction changed.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, Hashable {
  /// The number of the transaction.
  public let transactionIdentifier: Int64
  /// The object's identifier.
  public let changedPersistentIdentifier: PersistentIdentifier
  private let changed: ChangedProperties

  init(
    transactionIdentifier: Int64, changedPersistentIdentifier: PersistentIdentifier, properties: [Int], _ entity: Entity
  ) {
    self.transactionIdentifier = transactionIdentifier
    self.changedPersistentIdentifier = changedPersistentIdentifier
    changed = ChangedProperties(entity: entity, numbers: properties)
  }

  /// The properties whose values changed, in the order of their declaration. A relationship stored in the other side's
  /// rows is reported only for those rows; a many-to-many is reported on both sides.
  public var updatedAttributes: [PartialKeyPath<Model>] {
    changed.numbers.compactMap { changed.entity.properties[$0].keyPath as? PartialKeyPath<Model> }
  }
}

/// Some properties of a model. Two containers of a file have an entity each, so only the numbers are compared.
private struct ChangedProperties: Hashable {
  let entity: Entity
  let numbers: [Int]

  static func == (a: Self, b: Self) -> Bool { a.numbers == b.numbers }
  func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
}

/// An object that a transaction deleted.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable {
  /// The number of the transaction.
  public let transactionIdentifier: Int64
  /// The object's identifier.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The object's values of properties marked `.preserveValueOnDeletion`.
  public let tombstone: HistoryTombstone<Model>

  public static func == (a: Self, b: Self) -> Bool {
    a.transactionIdentifier == b.transactionIdentifier
      && a.changedPersistentIdentifier == b.changedPersistentIdentifier
  }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(changedPersistentIdentifier)
  }
}
