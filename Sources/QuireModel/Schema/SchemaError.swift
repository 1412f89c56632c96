/// What is wrong with a set of model classes, or with a file that should hold them.
public enum SchemaError: Error, Hashable, Sendable {
  case noModels
  case duplicateName(String)
  case duplicateColumn(model: String, column: String)
  /// Two properties of `other` could be the inverse; name one with `@Relationship(inverse:)`.
  case ambiguousInverse(model: String, property: String, other: String, candidates: [String])
  case inverseMismatch(model: String, property: String, reason: String)
  case unknownKeyPath(model: String, in: String)
  /// Where the row that `reference` must lead to is gone, this property would have no value: give it a default.
  case noVacantValue(model: String, property: String, type: String, reference: String)
  /// The file's tables are not those of the models: one line a difference.
  case mismatch(path: String, differences: [String])
}

extension SchemaError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noModels: "a container needs at least one model"
    case .duplicateName(let name): "two models are called \(name): each needs a table of its own"
    case .duplicateColumn(let model, let column): "two properties of \(model) would have the column \(column)"
    case .ambiguousInverse(let model, let property, let other, let candidates):
      "\(model).\(property) could be the inverse of \(candidates.map { "\(other).\($0)" }.joined(separator: " and of ")): "
        + "say which with @Relationship(inverse: \\\(other).\(candidates.first ?? "property"))"
    case .inverseMismatch(let model, let property, let reason): "the inverse of \(model).\(property): \(reason)"
    case .unknownKeyPath(let model, let place): "\(place) of \(model) names something that is no stored property of it"
    case .noVacantValue(let model, let property, let type, let reference):
      "\(model).\(property) needs a default: \(reference) must lead to a \(model), and where that row is gone, \(type) "
        + "has no value to read. Give \(property) a default, or make \(reference) optional"
    case .mismatch(let path, let differences):
      "\(path) does not fit the models; nothing was changed:\n"
        + differences.map { "    \($0)" }.joined(separator: "\n")
        + "\nMigrate the file (quire migrate apply), or open it with the models it was made with."
    }
  }
}
