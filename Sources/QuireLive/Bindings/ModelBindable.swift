public import QuireModel

/// Provides bindings to the properties of the model in a variable: `$book.title`.
///
/// Works on a stored property, a global or local variable, and a parameter (`{ $book in … }`, or `ModelBindable(book)`
/// in a loop). It holds the model as the plain variable would, and does not change how it is observed.
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
