package import QuireRow

/// How the translation of predicates finds out which column a property is.
package protocol PathResolver {
  /// What a property of a model, or of a value in a column (`genre.rawValue`), is; nil if it is not stored.
  func resolve(_ keyPath: AnyKeyPath, from type: Any.Type) -> PathResolution?
  /// The steps of a combined key path, such as the literal `\Book.author?.name` of a sort descriptor. (In a predicate
  /// the macro writes each step separately, because Foundation traps on a combined one.)
  func resolvePath(_ keyPath: AnyKeyPath, from type: Any.Type) -> [PathResolution]?
  /// The column form of a captured value that needs the schema (a persistent identifier, a Codable struct); nil for
  /// other values, which need no translation.
  func value(of captured: Any) throws -> Value?
  /// The text of a captured identifier's model and key, sorted as identifiers are; nil for other values.
  func identity(of captured: Any) throws -> Value?
  /// False for a captured identifier of another model's object.
  func identifies(_ captured: Any, _ model: Any.Type) -> Bool
  /// The property's name, for messages.
  func name(of keyPath: AnyKeyPath, from type: Any.Type) -> String?
}

extension PathResolver {
  package func resolvePath(_ keyPath: AnyKeyPath, from type: Any.Type) -> [PathResolution]? { nil }
  package func value(of captured: Any) throws -> Value? { nil }
  package func identity(of captured: Any) throws -> Value? { nil }
  package func identifies(_ captured: Any, _ model: Any.Type) -> Bool { true }
  package func name(of keyPath: AnyKeyPath, from type: Any.Type) -> String? { nil }
}

package enum PathResolution {
  case column(String)
  /// The key column, for `persistentModelID` and the default `id`.
  case key(String)
  case toOne(ColumnPath.Step, Any.Type)
  case toMany(RowRelation, Any.Type)
  /// A field of a projection.
  case expression(RowExpression)
  /// A property of a stored value that has the same column form as the value itself, such as `rawValue`.
  case sameValue
}

/// A captured identifier of which the query cannot find an object.
struct IdentifierOfNothing: Error {
  let reason: String
}
