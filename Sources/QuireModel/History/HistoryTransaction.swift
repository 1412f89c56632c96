public import Foundation

/// What was committed at once.
public protocol HistoryTransaction: Sendable {
  /// What names a place in the history.
  associatedtype TokenType: HistoryToken
  /// The place after this transaction, from which to go on.
  var token: TokenType { get }
  /// The name the writer gave, if any.
  var author: String? { get }
  /// When it was committed.
  var timestamp: Date { get }
  /// Its number, which grows from one to the next.
  var transactionIdentifier: Int64 { get }
  /// What it did to the objects.
  var changes: [HistoryChange] { get }
}

/// One commit as the file's change log has it.
public struct DefaultHistoryTransaction: HistoryTransaction {
  /// The place after this transaction, from which to go on.
  public let token: DefaultHistoryToken
  /// The name the writer gave: a context's `author`, or that of `execute` and `write`.
  public let author: String?
  /// When it was committed. Programs without Quire leave no time: theirs has that of the commit before it.
  public let timestamp: Date
  /// Goes up from one to the next, and stays the same.
  public let transactionIdentifier: Int64
  /// The program that committed it; empty where it was one without Quire.
  public let bundleIdentifier: String
  /// The number of its process.
  public let processIdentifier: String
  /// The file's path.
  public let storeIdentifier: String
  /// Of the container's models, table by table, in the order in which the transaction first touched each row.
  public let changes: [HistoryChange]
}

/// One object's part in a transaction.
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
  /// An object with other values.
  case update(any HistoryUpdate)
  /// An object that is gone.
  case delete(any HistoryDelete)

  /// The object's identifier; that of a deleted object leads nowhere.
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
  /// The properties that have another value.
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
  /// Values that the object had, of properties marked `.preserveValueOnDeletion`.
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
  /// Numbers of the properties.
  let properties: [Int]
  private let entity: Entity

  init(
    transactionIdentifier: Int64, changedPersistentIdentifier: PersistentIdentifier, properties: [Int], _ entity: Entity
  ) {
    self.transactionIdentifier = transactionIdentifier
    self.changedPersistentIdentifier = changedPersistentIdentifier
    self.properties = properties
    self.entity = entity
  }

  /// The properties that have another value, in the order of their declaration. Of a relationship that is kept in the
  /// other side's rows only those tell; of a many-to-many both sides do.
  public var updatedAttributes: [PartialKeyPath<Model>] {
    properties.compactMap { entity.properties[$0].keyPath as? PartialKeyPath<Model> }
  }

  public static func == (a: Self, b: Self) -> Bool {
    a.transactionIdentifier == b.transactionIdentifier && a.properties == b.properties
      && a.changedPersistentIdentifier == b.changedPersistentIdentifier
  }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(changedPersistentIdentifier)
  }
}

/// An object that a transaction deleted.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable {
  /// The number of the transaction.
  public let transactionIdentifier: Int64
  /// The object's identifier.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// Values that the object had, of properties marked `.preserveValueOnDeletion`.
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
