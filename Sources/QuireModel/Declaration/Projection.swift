public import QuireRow
public import QuireSQLite

/// Makes a struct a projection: a value row of chosen columns of a model, of properties that its to-one relationships
/// lead to, of aggregates of its to-many relationships, and of expressions computed from all these.
///
///     @Projection(of: Author.self) struct AuthorShelf {
///       var name: String
///       @From(\Author.press?.city) var city: String?
///       @Count(\Author.books) var books: Int
///       @Count(\Author.books, where: { $0.isAvailable }) var available: Int
///       @Average(\Author.books, \Book.rating) var meanRating: Double?
///       @Computed({ (author: Author) in author.debt > 0 }) var owes: Bool
///     }
///
/// Every stored property is read from the model's stored property of the same name, or as its attribute says:
/// ``From(_:)``, ``Count(_:where:)``, ``Sum(_:_:where:)``, ``Average(_:_:where:)``, ``Min(_:_:where:)``,
/// ``Max(_:_:where:)``, ``Computed(_:)``. It has the type of what it is read from, optional if a path has a `?`; any
/// other type is a compiler error at the field. `var id: PersistentIdentifier` is the object's identifier. Computed
/// properties, methods and initializers are left alone; the memberwise initializer remains.
@attached(
  extension, conformances: Projection,
  names: named(Model), named(_quireDefinition), named(_quireRow), named(init), named(_quireAppend))
public macro Projection<Model: PersistentModel>(of model: Model.Type) =
  #externalMacro(module: "QuireMacros", type: "ProjectionMacro")

/// The path from the model to the property that a projection's field is read from: `\Book.author?.name`, or
/// `\Author.books.count`.
@attached(peer)
public macro From<Model: PersistentModel, Value>(_ path: KeyPath<Model, Value>) =
  #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// A declared value row: conform with `@Projection(of:)`, never by hand.
///
/// Two rows are equal if all their fields are, so every field must be `Hashable`. Rows are values that can be passed
/// between isolations, so every field must be `Sendable`.
public protocol Projection: Hashable, Sendable {
  /// The model whose rows it is read from.
  associatedtype Model: PersistentModel
  static var _quireDefinition: _Quire.ProjectionDefinition { get }
  /// Reads the fields from consecutive columns.
  static func _quireRow(_ row: inout _Quire.RowCursor, _ origin: _Quire.ProjectionOrigin) throws(ValueError) -> Self
  static func _quireAppend(_ row: inout _Quire.RowCursor, _ origin: _Quire.ProjectionOrigin, to rows: inout [Self])
    throws(ValueError)
}

extension _Quire {
  /// A projection as its source declares it: written by `@Projection`, read when a query is made.
  public struct ProjectionDefinition {
    public let name: String
    public let fields: [ProjectionField]

    public init(_ name: String, _ fields: [ProjectionField]) {
      self.name = name
      self.fields = fields
    }
  }

  /// The store whose rows are read, and the model of each field that holds an identifier.
  public final class ProjectionOrigin: Sendable {
    private let store: UInt32
    /// By column.
    private let entities: [UInt32]

    init(store: UInt32, entities: [UInt32]) {
      self.store = store
      self.entities = entities
    }

    /// Reads the key at the row's position.
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
}
