package import QuireRow

/// What the translation asks of a schema: which column a property is.
package protocol PathResolver {
  /// What one property of a model is, or of a value in a column (`genre.rawValue`); nil where it is not stored.
  func resolve(_ keyPath: AnyKeyPath, from type: Any.Type) -> PathResolution?
  /// The same for a key path of several steps in one, such as the literal `\Book.author?.name` of a sort descriptor
  /// (Foundation traps on one in a predicate, whose macro takes every step by itself).
  func resolvePath(_ keyPath: AnyKeyPath, from type: Any.Type) -> [PathResolution]?
  /// The column form of a captured value the schema knows of (a persistent identifier, a Codable struct); nil where it
  /// knows none, and the value speaks for itself.
  func value(of captured: Any) throws -> Value?
  /// False for a captured identifier of another model's object.
  func identifies(_ captured: Any, _ model: Any.Type) -> Bool
  /// The property's name, for messages.
  func name(of keyPath: AnyKeyPath, from type: Any.Type) -> String?
}

extension PathResolver {
  package func resolvePath(_ keyPath: AnyKeyPath, from type: Any.Type) -> [PathResolution]? { nil }
  package func value(of captured: Any) throws -> Value? { nil }
  package func identifies(_ captured: Any, _ model: Any.Type) -> Bool { true }
  package func name(of keyPath: AnyKeyPath, from type: Any.Type) -> String? { nil }
}

package enum PathResolution {
  case column(String)
  /// The key, as `persistentModelID` and the default `id` are; its column.
  case key(String)
  case toOne(ColumnPath.Step, Any.Type)
  case toMany(RowRelation, Any.Type)
  /// A field of a projection.
  case expression(RowExpression)
  /// A property of a stored value that has the same column form as the value itself, such as `rawValue`.
  case sameValue
}

/// A captured identifier that names nothing which the query could find.
struct IdentifierOfNothing: Error {
  let reason: String
}
