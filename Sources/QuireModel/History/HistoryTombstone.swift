import QuireRow

/// The remains of a deleted object: the values of its properties with `@Attribute(.preserveValueOnDeletion)`.
public struct HistoryTombstone<Model: PersistentModel>: Sendable, Sequence {
  private let entity: Entity
  /// By the property's number.
  private let values: [Int: Value]

  init(_ entity: Entity, _ values: [Int: Value]) {
    self.entity = entity
    self.values = values
  }

  /// The value of a property; nil if it is not preserved, was nil, or its column had no such value.
  ///
  ///     let isbn = tombstone[\.isbn] as? String
  public subscript(keyPath: PartialKeyPath<Model>) -> Any? {
    entity.property(at: keyPath).flatMap(value)
  }

  /// The preserved properties that had a value, in the order of their declaration.
  public func makeIterator() -> some IteratorProtocol<(key: PartialKeyPath<Model>, value: Any)> {
    values.keys.sorted().compactMap { place in
      guard let key = entity.properties[place].keyPath as? PartialKeyPath<Model>, let value = value(place) else {
        return nil
      }
      return (key, value)
    }.makeIterator()
  }

  private func value(_ place: Int) -> Any? {
    guard let value = values[place], value != .null else { return nil }
    return entity.properties[place].decode(value)
  }
}
