public import QuireRow
public import QuireSQLite

/// Makes a struct a projection: a value row of chosen columns of a model and of what its to-one relationships lead to.
///
///     @Projection(of: Book.self) struct BookRow {
///       var title: String
///       @From(\Book.author?.name) var author: String?
///       var isAvailable: Bool
///     }
///
/// Every stored property is read from the model's stored property of the same name, or from the one at the end of the
/// path that ``From(_:)`` gives. It has the type of that property, optional where the path has a `?`; another type is an
/// error of the compiler at the field. `var id: PersistentIdentifier` is the object's identifier. Computed properties,
/// methods and initialisers are left alone, the memberwise initialiser stays.
@attached(
  extension, conformances: Projection,
  names: named(Model), named(_quireDefinition), named(_quireRow), named(init), named(_quireAppend))
public macro Projection<Model: PersistentModel>(of model: Model.Type) =
  #externalMacro(module: "QuireMacros", type: "ProjectionMacro")

/// The path from the model to the property a field of a projection is read from.
@attached(peer)
public macro From<Model: PersistentModel, Value>(_ path: KeyPath<Model, Value>) =
  #externalMacro(module: "QuireMacros", type: "FromMacro")

/// A declared value row: conform with `@Projection(of:)`, never by hand.
///
/// Two rows are equal where all their fields are, so every field is `Hashable`; being values they travel between
/// isolations, so every field is `Sendable`.
public protocol Projection: Hashable, Sendable {
  associatedtype Model: PersistentModel
  static var _quireDefinition: ProjectionDefinition { get }
  /// Reads the fields from consecutive columns.
  static func _quireRow(_ row: inout RowCursor, _ origin: ProjectionOrigin) throws(ValueError) -> Self
  static func _quireAppend(_ row: inout RowCursor, _ origin: ProjectionOrigin, to rows: inout [Self])
    throws(ValueError)
}

/// A projection as its source declares it: written by `@Projection`, read when a query is made.
public struct ProjectionDefinition: Sendable {
  public let name: String
  public let fields: [ProjectionField]

  public init(_ name: String, _ fields: [ProjectionField]) {
    self.name = name
    self.fields = fields
  }
}

/// One field of a projection.
public struct ProjectionField: Sendable {
  public let name: String
  /// The properties on the way from the model to the value.
  public let path: [String]
}

/// Which store's rows are read, and what the fields that hold an identifier identify.
public final class ProjectionOrigin: Sendable {
  private let store: UInt32
  /// By column.
  private let entities: [UInt32]

  init(store: UInt32, entities: [UInt32]) {
    self.store = store
    self.entities = entities
  }

  /// Takes the key at the row's position.
  @usableFromInline func identifier(_ row: inout RowCursor) throws(ValueError) -> PersistentIdentifier {
    let column = row.position
    row.position &+= 1
    let key = try row.int64(column)
    guard Int(column) < entities.count, key >= ModelState.firstKey else {
      throw ValueError.notA(type: "key", column: column, found: "\(key)")
    }
    return PersistentIdentifier(store: store, entity: entities[Int(column)], key: key)
  }
}
