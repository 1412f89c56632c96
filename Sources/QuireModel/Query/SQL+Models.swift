public import Foundation
import QuireRow
public import QuireSQLite

/// Models in SQL statements: their names in the file, their objects' keys, and predicates as subqueries.
extension SQL.Interpolation {
  private mutating func append(_ name: String, _ write: @escaping @Sendable (Store) throws -> SQLText) {
    append(name) { (models: any SQLModels) in
      guard let store = models as? Store else { throw StatementError.noModels(name) }
      return try write(store)
    }
  }

  /// The model's table: `\(Book.self)`.
  public mutating func appendInterpolation<Model: PersistentModel>(_ model: Model.Type) {
    append("\(Model.self)") { SQLText(try $0.quotedTable(of: model)) }
  }

  /// A property's column, without its table: `\(\Book.title)`, `b.\(\Book.title)`. For a to-one relationship this is
  /// the foreign key, for `\Book.persistentModelID` the table's key.
  public mutating func appendInterpolation<Model: PersistentModel, Property>(
    _ property: any KeyPath<Model, Property> & Sendable
  ) {
    append(Self.name(of: property)) { SQLText(try $0.quotedColumn(of: property)) }
  }

  /// An object's key, bound: `\(\Book.author) = \(author)`; NULL for nil. An unsaved object has none, which is an error.
  public mutating func appendInterpolation(_ object: (some PersistentModel)?) {
    append(keyOf: object?.persistentModelID)
  }

  /// The key of an identifier's row, bound; NULL for nil. The identifier must belong to the store the statement is used
  /// with.
  public mutating func appendInterpolation(_ identifier: PersistentIdentifier?) { append(keyOf: identifier) }

  /// Keys in parentheses, for `IN`.
  public mutating func appendInterpolation(list identifiers: some Sequence<PersistentIdentifier>) {
    let identifiers = Array(identifiers)
    append("keys") { store in
      SQLText(
        "(" + Array(repeating: "?", count: identifiers.count).joined(separator: ", ") + ")",
        try identifiers.map { .integer(try store.key(of: $0)) })
    }
  }

  /// The keys of objects in parentheses, for `IN`.
  public mutating func appendInterpolation(list objects: some Sequence<some PersistentModel>) {
    appendInterpolation(list: objects.map(\.persistentModelID))
  }

  /// A subquery in parentheses: the keys of the rows that match.
  ///
  ///     "DELETE FROM loan WHERE book_id IN \(keysOf: Book.self, where: #Predicate { $0.author?.name == name })"
  ///
  /// The whole predicate must have SQL; only saved rows are read.
  public mutating func appendInterpolation<Model: PersistentModel>(
    keysOf model: Model.Type, where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [],
    limit: Int? = nil
  ) {
    append("keys of \(Model.self)") { store in
      try store.subquery(of: model, nil, where: predicate, sortBy: sortBy, limit: limit)
    }
  }

  /// A subquery in parentheses: a property, or what a to-one path leads to, in the rows that match.
  ///
  /// If one of the values is NULL, SQL's `NOT IN` accepts nothing.
  public mutating func appendInterpolation<Model: PersistentModel, Property>(
    valuesOf property: any KeyPath<Model, Property> & Sendable, where predicate: Predicate<Model>? = nil,
    sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil
  ) {
    append("values of \(Self.name(of: property))") { store in
      try store.subquery(of: Model.self, property, where: predicate, sortBy: sortBy, limit: limit)
    }
  }

  /// `Book.title`: represents a property until a store is known.
  private static func name<Model: PersistentModel>(of property: PartialKeyPath<Model>) -> String {
    let known = Model._quireDefinition.properties.first { $0.keyPath == property }
    return "\(Model.self).\(known?.name ?? "…")"
  }

  private mutating func append(keyOf identifier: PersistentIdentifier?) {
    append("key") { store in SQLText("?", [try identifier.map { .integer(try store.key(of: $0)) } ?? .null]) }
  }
}
