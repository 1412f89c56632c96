public import Foundation

/// What was committed at once.
public protocol HistoryTransaction: Sendable {
  associatedtype TokenType: HistoryToken
  var token: TokenType { get }
  var author: String? { get }
  var timestamp: Date { get }
  var transactionIdentifier: Int64 { get }
  var changes: [HistoryChange] { get }
}

/// One commit as the file's change log has it.
public struct DefaultHistoryTransaction: HistoryTransaction {
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
  case insert(any HistoryInsert)
  case update(any HistoryUpdate)
  case delete(any HistoryDelete)

  /// The object's name, which of one that is deleted leads nowhere.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let insert): insert.changedPersistentIdentifier
    case .update(let update): update.changedPersistentIdentifier
    case .delete(let delete): delete.changedPersistentIdentifier
    }
  }

  public var transactionIdentifier: Int64 {
    switch self {
    case .insert(let insert): insert.transactionIdentifier
    case .update(let update): update.transactionIdentifier
    case .delete(let delete): delete.transactionIdentifier
    }
  }
}

public protocol HistoryInsert<Model>: Sendable {
  associatedtype Model: PersistentModel
  var transactionIdentifier: Int64 { get }
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

public protocol HistoryUpdate<Model>: Sendable {
  associatedtype Model: PersistentModel
  var transactionIdentifier: Int64 { get }
  var changedPersistentIdentifier: PersistentIdentifier { get }
  var updatedAttributes: [PartialKeyPath<Model>] { get }
}

public protocol HistoryDelete<Model>: Sendable {
  associatedtype Model: PersistentModel
  var transactionIdentifier: Int64 { get }
  var changedPersistentIdentifier: PersistentIdentifier { get }
  var tombstone: HistoryTombstone<Model> { get }
}

public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, Hashable {
  public let transactionIdentifier: Int64
  public let changedPersistentIdentifier: PersistentIdentifier
}

public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, Hashable {
  public let transactionIdentifier: Int64
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

public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable {
  public let transactionIdentifier: Int64
  public let changedPersistentIdentifier: PersistentIdentifier
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
