extension PersistentModel {
  /// The property's value, as reading the property gives it.
  public func getValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value { self[keyPath: keyPath] }

  /// Assigns the property, as `=` does: observers are notified, and the next save writes it.
  public func setValue<Value>(forKey keyPath: ReferenceWritableKeyPath<Self, Value>, to newValue: Value) {
    self[keyPath: keyPath] = newValue
  }
}
