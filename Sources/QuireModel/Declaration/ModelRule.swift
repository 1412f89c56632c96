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
/// A value that a rule refuses is not taken: ``PersistentModel/set(_:to:)`` throws, plain assignment keeps the old value
/// and the next `save()` throws. An object that is in no context yet takes any value, and is looked at when it is first
/// saved. What the file says is never refused. Conform in the module of the model; a rule costs the assignments of its
/// model, and no others.
public protocol ValidatedModel: PersistentModel {
  /// The class itself.
  associatedtype Ruled: PersistentModel
  /// The rules; all are asked.
  static var rules: [ModelRule<Ruled>] { get }
}

/// What one property may be.
public struct ModelRule<Model: PersistentModel>: Sendable {
  let keyPath: any PartialKeyPath<Model> & Sendable
  let sentence: String
  private let admitsValue: @Sendable (Any) -> Bool
  private let admitsObject: @Sendable (Model) -> Bool

  /// - Parameters:
  ///   - sentence: What is wrong with a value that is refused: it follows the property's name in the error.
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
  /// What refuses the value.
  static func refusal(of value: Any, at keyPath: AnyKeyPath) -> ModelError? {
    rules.first { $0.refuses(value, at: keyPath) }.map(refusal)
  }

  /// The first of an object's values that is refused.
  static func refusal(of object: AnyObject) -> ModelError? { rules.first { $0.refuses(object) }.map(refusal) }

  private static func refusal(by rule: ModelRule<Ruled>) -> ModelError {
    let definition = _quireDefinition
    let property = definition.properties.first { $0.keyPath == rule.keyPath as AnyKeyPath }
    return .refusedValue(model: definition.name, property: property?.name ?? "", reason: rule.sentence)
  }
}

extension _Quire {
  /// Whether an assignment may go on; if not, the next save names it. Called by the setters that `@Model` writes.
  public static func admits<Model: ValidatedModel, Value>(
    _ model: Model, _ keyPath: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) -> Bool {
    guard let owner = model._quireState.owner, !model.isDeleted else { return true }
    let keyPath = keyPath()
    guard let refusal = Model.refusal(of: value, at: keyPath) else { return true }
    if isIdentical(model[keyPath: keyPath], value) { return true }  // it is so already: no change to refuse
    owner.refuse(refusal)
    return false
  }

  /// Of a model without rules.
  @_disfavoredOverload @inlinable public static func admits<Model: PersistentModel, Value>(
    _ model: Model, _ keyPath: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) -> Bool { true }
}
