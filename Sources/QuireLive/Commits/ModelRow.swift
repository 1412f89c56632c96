public import QuireModel
public import QuireRow

/// One row of a model's table as it was at one moment: values, not an object.
///
/// `Sendable`, read by property: `row[\.title]`.
@dynamicMemberLookup
public struct ModelRow<Model: PersistentModel>: Sendable {
  public let id: PersistentIdentifier
  let table: ChangedTable?
  let image: RowChange.Image?
  let entity: Entity

  /// The value of a property; nil where its column holds NULL, was not captured, or is no such value.
  public subscript<Value: StoredValue>(property: KeyPath<Model, Value>) -> Value? {
    guard let value = value(at: property) else { return nil }
    return try? Value.read(from: ImageSource([value]), at: 0)
  }

  public subscript<Value: StoredValue>(dynamicMember property: KeyPath<Model, Value>) -> Value? { self[property] }

  /// The value of a column by its name in the table.
  public subscript(column name: String) -> Value? { table?.index(of: name).flatMap { image?[$0] } }

  /// All captured values, by column.
  public var values: [String: Value] {
    guard let table, let image else { return [:] }
    return Dictionary(
      zip(table.columns, image.values).compactMap { name, value in value.map { (name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  private func value(at keyPath: AnyKeyPath) -> Value? {
    entity.property(at: keyPath).flatMap { entity.properties[$0].column }.flatMap { self[column: $0] }
  }
}

/// One object's row before and after a commit.
public struct ModelChange<Model: PersistentModel>: Sendable {
  public let id: PersistentIdentifier
  public let kind: RowChange.Kind
  /// Nil for an insert.
  public let old: ModelRow<Model>?
  /// Nil for a delete.
  public let new: ModelRow<Model>?
}

/// The rows of one move, found by key.
struct ChangedRows<Model: PersistentModel> {
  private let table: ChangedTable?
  private let changes: [Int64: RowChange]
  private let entity: Entity
  private let store: UInt32

  init(_ changes: TableChanges?, _ entity: Entity, _ owner: Owner) {
    table = changes?.table
    self.entity = entity
    store = owner.storeNumber
    self.changes = Dictionary(
      (changes?.rows ?? []).compactMap { change in
        if case .integer(let key) = change.key { (key, change) } else { nil }
      }, uniquingKeysWith: { _, last in last })
  }

  func old(_ key: Int64) -> ModelRow<Model> { row(key, changes[key]?.old) }
  func new(_ key: Int64) -> ModelRow<Model> { row(key, changes[key]?.new) }

  private func row(_ key: Int64, _ image: RowChange.Image?) -> ModelRow<Model> {
    ModelRow(
      id: PersistentIdentifier(store: store, entity: UInt32(entity.index), key: key), table: table, image: image,
      entity: entity)
  }
}
