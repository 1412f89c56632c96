public import QuireRow
public import QuireSQLite

extension _Quire {
  /// How a field of one type is read.
  ///
  /// As with models, a macro sees the words of a declaration but not their meaning, so generated code calls
  /// `_Quire.projected(Genre.self)`, and overload resolution selects the form.
  public protocol ProjectedForm<Value> {
    associatedtype Value
    static func read(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError) -> Value
  }

  /// A value in the form a model's property of its type has.
  public enum ProjectedColumn<Form: ColumnForm>: ProjectedForm {
    public typealias Value = Form.Value

    public static func read(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError) -> Value {
      let column = row.position
      guard let value = try Form.read(&row).value else {
        throw ValueError.notA(type: "\(Value.self)", column: column, found: "nothing")
      }
      return value
    }
  }

  /// The identifier of the object, or of one a required to-one leads to.
  public enum ProjectedIdentifier: ProjectedForm {
    @inlinable public static func read(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError)
      -> PersistentIdentifier
    {
      try origin.identifier(&row)
    }
  }

  /// ``ProjectedIdentifier``, or NULL.
  public enum ProjectedOptionalIdentifier: ProjectedForm {
    @inlinable public static func read(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError)
      -> PersistentIdentifier?
    {
      if row.isNull(row.position) {
        row.position += 1
        return nil
      }
      return try origin.identifier(&row)
    }
  }

  /// A sum or an average. If there is no such number, the column holds the error's text instead; that of a decimal is text
  /// too, and no decimal.
  public enum ProjectedTotal<Value: StoredValue>: ProjectedForm {
    public static func read(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError) -> Value {
      let column = row.position
      if Value._columnType != .text, case .text(let reason) = row.value(column) {
        row.position += 1
        throw ValueError.notA(type: "\(Value.self)", column: column, found: reason)
      }
      return try row.next(Value.self)
    }
  }

  /// The result of `_Quire.projected` for models and arrays of them: it compiles everywhere except in a projection's
  /// definition.
  public enum ProjectedObject<Value> {
    public static func read(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError) -> Value {
      throw ValueError.notStorable("\(Value.self)", reason: "a projection holds values")
    }
  }

  /// The result of `_Quire.projected` for a type that no column can hold.
  public enum ProjectedNothing<Value> {
    public static func read(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError) -> Value {
      throw ValueError.notStorable("\(Value.self)", reason: "it is not Codable")
    }
  }
}

// MARK: Which form

extension _Quire {
  @inlinable public static func totalled<V: StoredValue>(_: V.Type) -> ProjectedTotal<V>.Type { ProjectedTotal<V>.self }

  @inlinable public static func projected(_: PersistentIdentifier.Type) -> ProjectedIdentifier.Type {
    ProjectedIdentifier.self
  }
  @inlinable public static func projected(_: PersistentIdentifier?.Type) -> ProjectedOptionalIdentifier.Type {
    ProjectedOptionalIdentifier.self
  }
  @inlinable public static func projected<T: PersistentModel>(_: T.Type) -> ProjectedObject<T>.Type {
    ProjectedObject<T>.self
  }
  @inlinable public static func projected<T: PersistentModel>(_: T?.Type) -> ProjectedObject<T?>.Type {
    ProjectedObject<T?>.self
  }
  @inlinable public static func projected<T: PersistentModel>(_: [T].Type) -> ProjectedObject<[T]>.Type {
    ProjectedObject<[T]>.self
  }
  @inlinable public static func projected<T: PersistentModel>(_: [T]?.Type) -> ProjectedObject<[T]?>.Type {
    ProjectedObject<[T]?>.self
  }
  @inlinable public static func projected<V: StoredValue>(_: V.Type) -> ProjectedColumn<ValueForm<V>>.Type {
    ProjectedColumn<ValueForm<V>>.self
  }
  @inlinable public static func projected<V: StoredValue & RawRepresentable>(_: V.Type) -> ProjectedColumn<
    ValueForm<V>
  >.Type
  where V.RawValue: StoredValue { ProjectedColumn<ValueForm<V>>.self }
  @inlinable public static func projected<V: StoredValue & RawRepresentable>(_: V?.Type) -> ProjectedColumn<
    ValueForm<V?>
  >.Type
  where V.RawValue: StoredValue { ProjectedColumn<ValueForm<V?>>.self }
  @inlinable public static func projected<V: RawRepresentable>(_: V.Type) -> ProjectedColumn<RawForm<V>>.Type
  where V.RawValue: StoredValue { ProjectedColumn<RawForm<V>>.self }
  @inlinable public static func projected<V: RawRepresentable>(_: V?.Type) -> ProjectedColumn<OptionalRawForm<V>>.Type
  where V.RawValue: StoredValue { ProjectedColumn<OptionalRawForm<V>>.self }
  @_disfavoredOverload
  @inlinable public static func projected<V: Codable>(_: V.Type) -> ProjectedColumn<JSONForm<V>>.Type {
    ProjectedColumn<JSONForm<V>>.self
  }
  @_disfavoredOverload
  @inlinable public static func projected<V>(_: V.Type) -> ProjectedNothing<V>.Type { ProjectedNothing<V>.self }
}
