public import QuireModel
public import QuireRow

/// One row of a model's table as it was at one moment: values, not an object.
///
/// `Sendable`, read by property: `row.title`.
@dynamicMemberLookup
public struct ModelRow<Model: PersistentModel>: Sendable {
  /// The identity of the row's object, with which a context finds it.
  public let id: PersistentIdentifier
  let table: ChangedTable?
  let image: RowChange.RowValues?
  let entity: Entity

  /// The value of a property, `row.title`; nil if its column is NULL, was not captured, or does not decode, and for a key
  /// path of no stored property, such as one of a protocol: `row[column: "title"]` reads by name.
  public subscript<Value: StoredValue>(dynamicMember property: KeyPath<Model, Value>) -> Value? {
    guard let value = value(at: property) else { return nil }
    return try? Value._read(from: ImageSource([value]), at: 0)
  }

  /// The value of a column by its name in the table.
  public subscript(column name: String) -> SQLValue? { table?.index(of: name).flatMap { image?[$0] } }

  /// All captured values, by column.
  public var values: [String: SQLValue] {
    guard let table, let image else { return [:] }
    return Dictionary(
      zip(table.columns, image.values).compactMap { name, value in value.map { (name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  private func value(at keyPath: AnyKeyPath) -> Value? {
    guard let table, let property = entity.property(at: keyPath) else { return nil }
    return entity.properties[property].place(in: table).flatMap { image?[$0] }
  }
}

/// One object's row before and after a commit.
public struct ModelChange<Model: PersistentModel>: Sendable {
  /// The identity of the object that was changed.
  public let id: PersistentIdentifier
  /// Whether the row was inserted, updated or deleted.
  public let kind: RowChange.Kind
  /// Nil for an insert.
  public let old: ModelRow<Model>?
  /// Nil for a delete.
  public let new: ModelRow<Model>?
}
