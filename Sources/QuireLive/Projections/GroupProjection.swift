public import QuireModel
public import QuireRow

/// Makes a struct a projection of groups: one value row for all rows of a model that have the same value of a property,
/// with aggregates over these rows.
///
///     @Projection(groupsOf: Book.self) struct YearShelf {
///       var year: Int?
///       @Count var books: Int
///       @Average(\Book.rating) var meanRating: Double?
///     }
///
/// Rows are grouped by one stored property: the model's property of the same name, or the one at the end of the `@From`
/// path. Every other stored property needs ``Count()``, ``Sum(_:)``, ``Average(_:)``, ``Min(_:)`` or ``Max(_:)``.
/// Computed properties, methods and initializers are left alone; the memberwise initializer remains.
@attached(
  extension, conformances: GroupProjection,
  names: named(Model), named(_quireGroups), named(init))
public macro Projection<Model: PersistentModel>(groupsOf model: Model.Type) =
  #externalMacro(module: "QuireMacros", type: "GroupProjectionMacro")

/// The number of rows in the group.
@attached(peer)
public macro Count() = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The exact sum of a property over the group; 0 if all values are nil.
@attached(peer)
public macro Sum<Model: PersistentModel, Value: Summable>(_ property: KeyPath<Model, Value>) =
  #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The nearest `Double` to the exact average over the group; nil if all values are nil. The field is a `Double?`.
@attached(peer)
public macro Average<Model: PersistentModel, Value: Summable>(_ property: KeyPath<Model, Value>) =
  #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The least value in the group; nil if all values are nil.
@attached(peer)
public macro Min<Model: PersistentModel, Value>(_ property: KeyPath<Model, Value>) =
  #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The greatest value in the group; nil if all values are nil.
@attached(peer)
public macro Max<Model: PersistentModel, Value>(_ property: KeyPath<Model, Value>) =
  #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// A declared value row for a group of rows: conform with `@Projection(groupsOf:)`, never by hand.
public protocol GroupProjection: Hashable, Sendable {
  /// The model whose rows are grouped.
  associatedtype Model: PersistentModel
  static var _quireGroups: _GroupDefinition<Self> { get }
}

extension _Quire {
  /// The property by which rows are grouped, and the field that holds it; both have the same type.
  public static func groupKey<Row: GroupProjection, Model: PersistentModel, Key: StoredValue>(
    _ field: KeyPath<Row, Key>, _ key: KeyPath<Model, Key>
  ) -> GroupKey<Model, Key> { GroupKey(path: key) }

  @_disfavoredOverload
  public static func groupKey<Row: GroupProjection, Model: PersistentModel, Field, Key>(
    _ field: KeyPath<Row, Field>, _ key: KeyPath<Model, Key>
  ) -> OtherGroupKey<Model, Field> { OtherGroupKey() }

  public struct GroupKey<Model: PersistentModel, Key: StoredValue> {
    let path: KeyPath<Model, Key>

    /// Itself: a field that can be read.
    public var field: Self { self }
  }

  /// The result for a field that is refused: it compiles up to here, so that the compiler says this name, and none of what
  /// the macro calls.
  public struct OtherGroupKey<Model: PersistentModel, Key> {
    @available(
      *, unavailable,
      message:
        "rows are grouped by a value of the field's own type that is a StoredValue: write the property's type, and of an enum ‘enum Genre: String, StoredValue’"
    )
    public var field: Self { self }
  }
}

/// A group projection as its source declares it: written by `@Projection`, read when a query is made.
public struct _GroupDefinition<Row: GroupProjection> {
  let key: PartialKeyPath<Row.Model>
  let groupsReals: Bool
  let aggregates: [(Aggregate.Function, PartialKeyPath<Row.Model>?)]
  let row: (Value, [AggregateState]) throws -> Row

  /// Called by the code that `@Projection(groupsOf:)` writes.
  public init<Key: StoredValue, each Result>(
    by key: _Quire.GroupKey<Row.Model, Key>, _ aggregates: repeat GroupAggregate<Row.Model, each Result>,
    row: @escaping (Key, repeat each Result) -> Row
  ) {
    self.key = key.path
    groupsReals = Key._columnType == .real
    var terms: [(Aggregate.Function, PartialKeyPath<Row.Model>?)] = []
    for aggregate in repeat each aggregates { terms.append((aggregate.function, aggregate.property)) }
    self.aggregates = terms
    self.row = { name, states in
      var place = 0
      func next<Value>(_ aggregate: GroupAggregate<Row.Model, Value>) throws -> Value {
        defer { place += 1 }
        return try aggregate.read(states[place])
      }
      return row(try Key.decoded(name), repeat try next(each aggregates))
    }
  }

  /// By a key that is refused at its field.
  @_disfavoredOverload public init<Key, each Result>(
    by key: _Quire.OtherGroupKey<Row.Model, Key>, _ aggregates: repeat GroupAggregate<Row.Model, each Result>,
    row: @escaping (Key, repeat each Result) -> Row
  ) {
    self.key = \Row.Model.persistentModelID
    groupsReals = false
    self.aggregates = []
    self.row = { _, _ in throw ValueError.notStorable("\(Key.self)", reason: "it is not a StoredValue") }
  }
}
