public import QuireRow
public import QuireSQLite

extension _Quire {
  /// How a property of one type is read, written, bound and decoded.
  ///
  /// A macro sees the words of a declaration but not their meaning: `Author?` may be a model and `Genre?` an enum. So
  /// generated code calls `_Quire.form(\Book.author)`, and overload resolution selects the form.
  public protocol PropertyForm<Value> {
    associatedtype Value
    static var kind: PropertyDefinition.Kind { get }
    /// Reads the property's column of a row; a to-many has no column.
    static func read(_ row: inout RowCursor) throws(ValueError) -> Slot<Value>
    /// The value for an object whose row is gone.
    static func vacant() -> Slot<Value>
    /// Whether the value of `vacant()` can be read.
    static var hasPlaceholder: Bool { get }
    static func get<Model: PersistentModel>(_ model: Model, _ property: Int, _ slot: Slot<Value>) -> Value
    /// Assigns: compares, refuses on deleted objects, records the edit, and stores the value between the two
    /// notifications.
    static func set<Model: PersistentModel>(
      _ model: Model, _ property: Int, _ keyPath: KeyPath<Model, Value>, from old: Slot<Value>, to new: Value,
      store: (Slot<Value>) -> Void)
    static func bind(_ slot: Slot<Value>, to statement: Statement, at index: Int32) throws(ValueError)
    static func differ(_ a: Slot<Value>, _ b: Slot<Value>) -> Bool
  }
}

extension _Quire.PropertyForm {
  public static var hasPlaceholder: Bool { true }

  /// Itself: a property that can be stored.
  @inlinable public static var property: Self.Type { self }

  @available(
    *, unavailable,
    message: "a reference to a model can't be constant, as it is loaded later: write ‘private(set) var’"
  )
  public static var constant: Self.Type { self }
}

extension _Quire.ColumnForm {
  /// Itself: a `let` whose value is that of a column.
  @inlinable public static var constant: Self.Type { self }
}

// MARK: Which form

extension _Quire {
  @inlinable public static func form<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, T>) -> RequiredToOne<T>.Type
  {
    RequiredToOne<T>.self
  }
  @inlinable public static func form<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, T?>) -> OptionalToOne<T>.Type
  {
    OptionalToOne<T>.self
  }
  @inlinable public static func form<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, [T]>) -> ToMany<T>.Type {
    ToMany<T>.self
  }
  @inlinable public static func form<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, [T]?>) -> OptionalToMany<
    T
  >.Type {
    OptionalToMany<T>.self
  }
  @inlinable public static func form<M: PersistentModel, V: StoredValue>(_: KeyPath<M, V>) -> ValueForm<V>.Type {
    ValueForm<V>.self
  }
  @inlinable public static func form<M: PersistentModel, V: StoredValue & RawRepresentable>(_: KeyPath<M, V>)
    -> ValueForm<
      V
    >.Type
  where V.RawValue: StoredValue { ValueForm<V>.self }
  @inlinable public static func form<M: PersistentModel, V: StoredValue & RawRepresentable>(_: KeyPath<M, V?>)
    -> ValueForm<
      V?
    >.Type
  where V.RawValue: StoredValue { ValueForm<V?>.self }
  @inlinable public static func form<M: PersistentModel, V: RawRepresentable>(_: KeyPath<M, V>) -> RawForm<V>.Type
  where V.RawValue: StoredValue {
    RawForm<V>.self
  }
  @inlinable public static func form<M: PersistentModel, V: RawRepresentable>(_: KeyPath<M, V?>) -> OptionalRawForm<
    V
  >.Type
  where V.RawValue: StoredValue {
    OptionalRawForm<V>.self
  }
  @_disfavoredOverload
  @inlinable public static func form<M: PersistentModel, V: Codable>(_: KeyPath<M, V>) -> JSONForm<V>.Type {
    JSONForm<V>.self
  }
  @_disfavoredOverload
  @inlinable public static func form<M: PersistentModel, V>(_: KeyPath<M, V>) -> UnstorableForm<V>.Type {
    UnstorableForm<V>.self
  }
}

// MARK: Which form, by what the declaration says of the type

// The type checker tries each overload at each call: here they are only those that the way the type is written leaves.

extension _Quire {
  /// Of a property whose type is written `[…]`.
  @inlinable public static func formOfList<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, [T]>)
    -> ToMany<T>.Type
  { ToMany<T>.self }
  @inlinable public static func formOfList<M: PersistentModel, V: StoredValue>(_: KeyPath<M, V>) -> ValueForm<V>.Type {
    ValueForm<V>.self
  }
  @_disfavoredOverload
  @inlinable public static func formOfList<M: PersistentModel, V: Codable>(_: KeyPath<M, V>) -> JSONForm<V>.Type {
    JSONForm<V>.self
  }
  @_disfavoredOverload
  @inlinable public static func formOfList<M: PersistentModel, V>(_: KeyPath<M, V>) -> UnstorableForm<V>.Type {
    UnstorableForm<V>.self
  }
}

extension _Quire {
  /// Of a property whose type is written `[…]?`.
  @inlinable public static func formOfOptionalList<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, [T]?>)
    -> OptionalToMany<T>.Type
  { OptionalToMany<T>.self }
  @inlinable public static func formOfOptionalList<M: PersistentModel, V: StoredValue>(_: KeyPath<M, V>)
    -> ValueForm<V>.Type
  { ValueForm<V>.self }
  @_disfavoredOverload
  @inlinable public static func formOfOptionalList<M: PersistentModel, V: Codable>(_: KeyPath<M, V>)
    -> JSONForm<V>.Type
  { JSONForm<V>.self }
  @_disfavoredOverload
  @inlinable public static func formOfOptionalList<M: PersistentModel, V>(_: KeyPath<M, V>) -> UnstorableForm<V>.Type {
    UnstorableForm<V>.self
  }
}

extension _Quire {
  /// Of a property whose type is written with `?`.
  @inlinable public static func formOfOptional<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, T?>)
    -> OptionalToOne<T>.Type
  { OptionalToOne<T>.self }
  @inlinable public static func formOfOptional<M: PersistentModel, T: PersistentModel>(_: KeyPath<M, [T]?>)
    -> OptionalToMany<T>.Type
  { OptionalToMany<T>.self }
  @inlinable public static func formOfOptional<M: PersistentModel, V: StoredValue>(_: KeyPath<M, V?>)
    -> ValueForm<V?>.Type
  { ValueForm<V?>.self }
  @inlinable public static func formOfOptional<M: PersistentModel, V: StoredValue & RawRepresentable>(
    _: KeyPath<M, V?>
  ) -> ValueForm<V?>.Type where V.RawValue: StoredValue { ValueForm<V?>.self }
  @inlinable public static func formOfOptional<M: PersistentModel, V: RawRepresentable>(_: KeyPath<M, V?>)
    -> OptionalRawForm<V>.Type where V.RawValue: StoredValue
  { OptionalRawForm<V>.self }
  @_disfavoredOverload
  @inlinable public static func formOfOptional<M: PersistentModel, V: Codable>(_: KeyPath<M, V>) -> JSONForm<V>.Type {
    JSONForm<V>.self
  }
  @_disfavoredOverload
  @inlinable public static func formOfOptional<M: PersistentModel, V>(_: KeyPath<M, V>) -> UnstorableForm<V>.Type {
    UnstorableForm<V>.self
  }
}
