public import QuireRow

/// A model whose properties have rules.
///
///     extension Book: ValidatedModel {
///       static let rules: [ModelRule<Book>] = [
///         ModelRule(\.title, "a book has a title") { !$0.isEmpty },
///         ModelRule(\.rating, "it is from 0 to 5") { (0...5).contains($0) },
///       ]
///     }
///
/// A value that a rule refuses is not assigned: ``PersistentModel/set(_:to:)`` throws; a plain assignment keeps the old
/// value and the next `save()` throws. An object that is not in a context yet accepts any value and is validated when
/// it is first saved. Values read from the file are never refused. Conform in the module of the model; only assignments
/// of this model's properties pay for its rules.
public protocol ValidatedModel: PersistentModel {
  /// The class itself.
  associatedtype Ruled: PersistentModel
  /// The rules; all of them are checked.
  static var rules: [ModelRule<Ruled>] { get }
}

/// A condition on one property's value.
public struct ModelRule<Model: PersistentModel>: Sendable {
  let keyPath: any PartialKeyPath<Model> & Sendable
  let sentence: String
  private let admitsValue: @Sendable (Any) -> Bool
  private let admitsObject: @Sendable (Model) -> Bool

  /// - Parameters:
  ///   - sentence: The requirement that a refused value violates; it follows the property's name in the error.
  ///   - admits: Must give the same answer for the same value every time.
  public init<Value>(
    _ keyPath: any KeyPath<Model, Value> & Sendable, _ sentence: String, _ admits: @escaping @Sendable (Value) -> Bool
  ) {
    self.keyPath = keyPath
    self.sentence = sentence
    admitsValue = { ($0 as? Value).map(admits) ?? true }
    admitsObject = { admits($0[keyPath: keyPath]) }
  }

  fileprivate func refuses(_ value: Any, at keyPath: AnyKeyPath) -> Bool {
    self.keyPath as AnyKeyPath == keyPath && !admitsValue(value)
  }

  fileprivate func refuses(_ object: AnyObject) -> Bool {
    guard let object = object as? Model else { return false }
    return !admitsObject(object)
  }
}

extension ValidatedModel {
  /// The error if a rule refuses the value.
  static func refusal(of value: Any, at keyPath: AnyKeyPath) -> ModelError? {
    rules.first { $0.refuses(value, at: keyPath) }.map(refusal)
  }

  /// The error for the first of an object's values that a rule refuses.
  static func refusal(of object: AnyObject) -> ModelError? { rules.first { $0.refuses(object) }.map(refusal) }

  private static func refusal(by rule: ModelRule<Ruled>) -> ModelError {
    let definition = _quireDefinition
    let property = definition.properties.first { $0.keyPath == rule.keyPath as AnyKeyPath }
    return .refusedValue(model: definition.name, property: property?.name ?? "", reason: rule.sentence)
  }
}

extension _Quire {
  /// Whether an assignment may proceed; if not, the next save throws the error. Called by the setters that `@Model`
  /// writes.
  public static func admits<Model: ValidatedModel, Value>(
    _ model: Model, _ keyPath: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) -> Bool {
    guard let owner = model._quireState.owner, !model.isDeleted else { return true }
    let keyPath = keyPath()
    guard let refusal = Model.refusal(of: value, at: keyPath) else { return true }
    if isIdentical(model[keyPath: keyPath], value) { return true }  // no change to refuse
    owner.refuse(refusal)
    return false
  }

  /// For a model without rules: always true.
  @_disfavoredOverload @inlinable public static func admits<Model: PersistentModel, Value>(
    _ model: Model, _ keyPath: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) -> Bool { true }
}
