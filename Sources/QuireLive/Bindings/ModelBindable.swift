public import QuireModel

/// Gives bindings to the properties of a model that a variable holds: `$book.title`.
///
/// On a stored property, a global or a local variable, a parameter (`{ $book in … }` and `ModelBindable(book)` in a loop). It
/// holds the model like the plain variable, and adds nothing to how it is observed.
@propertyWrapper @dynamicMemberLookup
public struct ModelBindable<Model: PersistentModel> {
  public var wrappedValue: Model
  public init(wrappedValue: Model) { self.wrappedValue = wrappedValue }
  public init(_ model: Model) { wrappedValue = model }
  public init(projectedValue: ModelBindable) { self = projectedValue }
  public var projectedValue: ModelBindable { self }

  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Model, Value>) -> ModelBinding<Value> {
    ModelBinding(wrappedValue, keyPath)
  }
}
