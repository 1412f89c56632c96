public import QuireModel

/// Provides bindings to the properties of the model in a variable: `$book.title`.
///
/// Works on a stored property, a global or local variable, and a parameter (`{ $book in … }`, or `ModelBindable(book)`
/// in a loop). It holds the model as the plain variable would, and does not change how it is observed.
@propertyWrapper @dynamicMemberLookup
public struct ModelBindable<Model: PersistentModel> {
  /// The model. Assigning another one changes what later bindings write to; those made before keep theirs.
  public var wrappedValue: Model
  /// Holds the model that the variable is declared with: `@ModelBindable var book: Book`.
  public init(wrappedValue: Model) { self.wrappedValue = wrappedValue }
  /// Holds the model, where there is no variable to mark, as in a loop: `ModelBindable(book).title`.
  public init(_ model: Model) { wrappedValue = model }
  /// Lets a closure take it as a parameter: `{ $book in … }`.
  public init(projectedValue: ModelBindable) { self = projectedValue }
  /// Itself, so that `$book.title` is a binding.
  public var projectedValue: ModelBindable { self }

  /// A binding to a property of the model.
  ///
  /// Costs an allocation or two; nothing is read before the binding is. Use it on the isolation of the model's context.
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> ModelBinding<Value> {
    ModelBinding(wrappedValue, keyPath)
  }
}
