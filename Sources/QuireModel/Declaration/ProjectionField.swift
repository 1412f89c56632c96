public import Foundation
public import QuireRow

extension _Quire {
  /// One field of a projection, as its source declares it.
  public struct ProjectionField {
    public let name: String
    /// The row's property.
    package let keyPath: AnyKeyPath
    let source: Source

    /// What it is read from.
    enum Source {
      /// The properties on the way from the model to the value.
      case path([String])
      case related(RelatedField)
      case computed((SchemaResolver) throws -> RowExpression)
    }
  }
}

/// An aggregate of a to-many relationship, as declared.
struct RelatedField {
  let function: Aggregate.Function
  /// The properties on the path from the model to the related objects.
  let path: [String]
  /// The properties on the path from a related object to the value; empty if objects are counted.
  var value: [String] = []
  let condition: ((SchemaResolver) throws -> RowExpression)?

  init<Related>(
    _ function: Aggregate.Function, _ path: [String], value: [String] = [], where condition: Predicate<Related>?
  ) {
    self.function = function
    self.path = path
    self.value = value
    self.condition = condition.map { predicate in
      { try translate(predicate, resolving: $0) }
    }
  }
}

// What generated code makes a field with: the types say that the field can hold what it is read from.

extension _Quire {
  /// A field and the property it is read from; both have the same type.
  public static func field<Row: Projection, Model: PersistentModel, Form: ProjectedForm>(
    _: Model.Type, _: Form.Type, _ name: String, _ field: KeyPath<Row, Form.Value>,
    from source: KeyPath<Model, Form.Value>, _ path: [String]
  ) -> ProjectionField {
    ProjectionField(name: name, keyPath: field, source: .path(path))
  }

  public static func count<Row: Projection, Model: PersistentModel, Related: PersistentModel>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Int>, of objects: KeyPath<Model, [Related]>, _ path: [String],
    where condition: Predicate<Related>? = nil
  ) -> ProjectionField {
    ProjectionField(name: name, keyPath: field, source: .related(RelatedField(.count, path, where: condition)))
  }

  public static func sum<Row: Projection, Model: PersistentModel, Related: PersistentModel, Value: Summable>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Value.Total>, of objects: KeyPath<Model, [Related]>,
    _ path: [String], _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> ProjectionField {
    ProjectionField(
      name: name, keyPath: field, source: .related(RelatedField(.sum, path, value: value, where: condition)))
  }

  public static func average<Row: Projection, Model: PersistentModel, Related: PersistentModel, Value: Summable>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Double?>, of objects: KeyPath<Model, [Related]>,
    _ path: [String], _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> ProjectionField {
    ProjectionField(
      name: name, keyPath: field, source: .related(RelatedField(.average, path, value: value, where: condition)))
  }

  public static func min<
    Row: Projection, Model: PersistentModel, Related: PersistentModel, Value: StoredValue & Comparable
  >(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Value?>, of objects: KeyPath<Model, [Related]>,
    _ path: [String], _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> ProjectionField {
    ProjectionField(
      name: name, keyPath: field, source: .related(RelatedField(.minimum, path, value: value, where: condition)))
  }

  public static func min<
    Row: Projection, Model: PersistentModel, Related: PersistentModel, Value: StoredValue & Comparable
  >(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Value?>, of objects: KeyPath<Model, [Related]>,
    _ path: [String], _ property: KeyPath<Related, Value?>, _ value: [String],
    where condition: Predicate<Related>? = nil
  ) -> ProjectionField {
    ProjectionField(
      name: name, keyPath: field, source: .related(RelatedField(.minimum, path, value: value, where: condition)))
  }

  public static func max<
    Row: Projection, Model: PersistentModel, Related: PersistentModel, Value: StoredValue & Comparable
  >(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Value?>, of objects: KeyPath<Model, [Related]>,
    _ path: [String], _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> ProjectionField {
    ProjectionField(
      name: name, keyPath: field, source: .related(RelatedField(.maximum, path, value: value, where: condition)))
  }

  public static func max<
    Row: Projection, Model: PersistentModel, Related: PersistentModel, Value: StoredValue & Comparable
  >(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Value?>, of objects: KeyPath<Model, [Related]>,
    _ path: [String], _ property: KeyPath<Related, Value?>, _ value: [String],
    where condition: Predicate<Related>? = nil
  ) -> ProjectionField {
    ProjectionField(
      name: name, keyPath: field, source: .related(RelatedField(.maximum, path, value: value, where: condition)))
  }

  public static func computed<Row: Projection, Model: PersistentModel, Form: ProjectedForm>(
    _: Model.Type, _: Form.Type, _ name: String, _ field: KeyPath<Row, Form.Value>,
    _ expression: Expression<Model, Form.Value>
  ) -> ProjectionField {
    ProjectionField(
      name: name, keyPath: field,
      source: .computed { try translate(expression, resolving: $0) })
  }

  /// A computed value that is never nil, in an optional field.
  public static func computed<Row: Projection, Model: PersistentModel, Form: ProjectedForm, Value>(
    _: Model.Type, _: Form.Type, _ name: String, _ field: KeyPath<Row, Form.Value>,
    _ expression: Expression<Model, Value>
  ) -> ProjectionField where Form.Value == Value? {
    ProjectionField(
      name: name, keyPath: field, source: .computed { try translate(expression, resolving: $0) })
  }
}

// MARK: Rejected at the field

// What is refused compiles up to the result's `field`, so that the compiler says the name of that, and none of what the
// macro calls.

extension _Quire.ProjectionField {
  /// Itself: a field that can be read.
  @inlinable public var field: Self { self }

  /// Stands for a field that is refused: no program that compiles has it.
  fileprivate static var refused: Self { Self(name: "", keyPath: \Self.self, source: .path([])) }
}

extension _Quire {
  /// The result for a field that is refused.
  public struct OtherComputed {
    @available(*, unavailable, message: "what is computed is of another type than this field: write that type")
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct ObjectAsField {
    @available(
      *, unavailable,
      message:
        "a projection holds values and no objects: name a property of the object, as in @From(\\Book.author?.name), or its persistentModelID"
    )
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct TypeWithoutColumn {
    @available(*, unavailable, message: "no column holds this type: name a property that is stored")
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct OtherType {
    @available(
      *, unavailable,
      message:
        "this field is of another type than the property it is read from: write the property's type, with ‘?’ where the path has one"
    )
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct OtherCount {
    @available(*, unavailable, message: "a number of objects is an Int: write ‘Int’")
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct OtherSum {
    @available(
      *, unavailable,
      message: "a sum of whole numbers is an Int, and of reals a Double; of nothing it is 0: write that type"
    )
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct OtherAverage {
    @available(*, unavailable, message: "an average is a real number, and nil of nothing: write ‘Double?’")
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct OtherLeast {
    @available(
      *, unavailable,
      message:
        "the least value is of the property's type, which has an order, and nil of nothing: write that type with ‘?’"
    )
    public var field: ProjectionField { .refused }
  }

  /// The result for a field that is refused.
  public struct OtherGreatest {
    @available(
      *, unavailable,
      message:
        "the greatest value is of the property's type, which has an order, and nil of nothing: write that type with ‘?’"
    )
    public var field: ProjectionField { .refused }
  }
}

extension _Quire {
  @_disfavoredOverload
  public static func computed<Row: Projection, Model: PersistentModel, Form, Field, Other>(
    _: Model.Type, _: Form.Type, _ name: String, _ field: KeyPath<Row, Field>,
    _ expression: Expression<Model, Other>
  ) -> OtherComputed {
    OtherComputed()
  }

  @_disfavoredOverload
  public static func field<Row: Projection, Model: PersistentModel, Value, Field, Other>(
    _: Model.Type, _: ProjectedObject<Value>.Type, _ name: String, _ field: KeyPath<Row, Field>,
    from source: KeyPath<Model, Other>, _ path: [String]
  ) -> ObjectAsField {
    ObjectAsField()
  }

  @_disfavoredOverload
  public static func field<Row: Projection, Model: PersistentModel, Value, Field, Other>(
    _: Model.Type, _: ProjectedNothing<Value>.Type, _ name: String, _ field: KeyPath<Row, Field>,
    from source: KeyPath<Model, Other>, _ path: [String]
  ) -> TypeWithoutColumn {
    TypeWithoutColumn()
  }

  @_disfavoredOverload
  public static func field<Row: Projection, Model: PersistentModel, Form: ProjectedForm, Other>(
    _: Model.Type, _: Form.Type, _ name: String, _ field: KeyPath<Row, Form.Value>, from source: KeyPath<Model, Other>,
    _ path: [String]
  ) -> OtherType {
    OtherType()
  }

  @_disfavoredOverload
  public static func count<Row: Projection, Model: PersistentModel, Related: PersistentModel, Other>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Other>, of objects: KeyPath<Model, [Related]>,
    _ path: [String],
    where condition: Predicate<Related>? = nil
  ) -> OtherCount {
    OtherCount()
  }

  @_disfavoredOverload
  public static func sum<Row: Projection, Model: PersistentModel, Related: PersistentModel, Value, Other>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Other>, of objects: KeyPath<Model, [Related]>,
    _ path: [String],
    _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> OtherSum {
    OtherSum()
  }

  @_disfavoredOverload
  public static func average<Row: Projection, Model: PersistentModel, Related: PersistentModel, Value, Other>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Other>, of objects: KeyPath<Model, [Related]>,
    _ path: [String],
    _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> OtherAverage {
    OtherAverage()
  }

  @_disfavoredOverload
  public static func min<Row: Projection, Model: PersistentModel, Related: PersistentModel, Value, Other>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Other>, of objects: KeyPath<Model, [Related]>,
    _ path: [String],
    _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> OtherLeast {
    OtherLeast()
  }

  @_disfavoredOverload
  public static func max<Row: Projection, Model: PersistentModel, Related: PersistentModel, Value, Other>(
    _: Model.Type, _ name: String, _ field: KeyPath<Row, Other>, of objects: KeyPath<Model, [Related]>,
    _ path: [String],
    _ property: KeyPath<Related, Value>, _ value: [String], where condition: Predicate<Related>? = nil
  ) -> OtherGreatest {
    OtherGreatest()
  }
}
