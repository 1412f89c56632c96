public import QuireModel

/// A get and set pair on one property of a model, to hand to whoever edits it.
///
///     @ModelBindable var book = book
///     try rename($book.title)
///
///     func rename(_ title: ModelBinding<String>) throws { try title.set(title.wrappedValue.uppercased()) }
///
/// Reading it reads the property, for observation too; setting it edits the model. What refuses the value (a rule, a
/// constraint, the object's deletion) is thrown by ``set(_:)``; plain assignment keeps the old value then, and the next
/// `save()` throws. Confined to the isolation of the model.
@propertyWrapper @dynamicMemberLookup
public struct ModelBinding<Value> {
  private let read: () -> Value
  private let write: (Value, Way) throws -> Void
  /// Has the next save throw what a plain assignment came to.
  private let refuse: (any Error) -> Void

  private init(
    read: @escaping () -> Value, write: @escaping (Value, Way) throws -> Void, refuse: @escaping (any Error) -> Void
  ) {
    self.read = read
    self.write = write
    self.refuse = refuse
  }

  /// The property of that object.
  public init<Model: PersistentModel>(_ model: Model, _ keyPath: ReferenceWritableKeyPath<Model, Value>) {
    read = { model[keyPath: keyPath] }
    write = { value, way in
      switch way {
      case .throwing: try model.set(keyPath, to: value)
      case .plain: model.assign(keyPath, value)
      }
    }
    refuse = { model.refuse($0) }
  }

  public var wrappedValue: Value {
    get { read() }
    nonmutating set {
      do { try write(newValue, .plain) } catch { refuse(error) }
    }
  }

  public var projectedValue: ModelBinding { self }
  public init(projectedValue: ModelBinding) { self = projectedValue }

  /// Sets the value, or throws what refuses it; then all is as it was.
  public func set(_ value: Value) throws { try write(value, .throwing) }

  // MARK: Parts

  /// A part of the value, such as a field of a struct: setting it sets the whole.
  public subscript<Part>(dynamicMember keyPath: WritableKeyPath<Value, Part>) -> ModelBinding<Part> {
    ModelBinding<Part> {
      read()[keyPath: keyPath]
    } write: { part, way in
      var value = read()
      value[keyPath: keyPath] = part
      try write(value, way)
    } refuse: {
      refuse($0)
    }
  }

  /// A property of the model that is the value, whichever it is when it is read or set.
  public subscript<Part>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Part>) -> ModelBinding<Part>
  where Value: PersistentModel {
    ModelBinding<Part> {
      read()[keyPath: keyPath]
    } write: { part, way in
      switch way {
      case .throwing: try read().set(keyPath, to: part)
      case .plain: read().assign(keyPath, part)
      }
    } refuse: {
      read().refuse($0)
    }
  }

  /// The value in another form, such as a number as text.
  /// - Parameter back: May refuse: its error is thrown where the value is set.
  public func transformed<Other>(
    _ forth: @escaping (Value) -> Other, back: @escaping (Other) throws -> Value
  ) -> ModelBinding<Other> {
    ModelBinding<Other> {
      forth(read())
    } write: {
      try write(try back($0), $1)
    } refuse: {
      refuse($0)
    }
  }

  // MARK: Optionals

  /// What is there; nil where nothing is. When it is gone later, reading gives what was there last.
  public func unwrapped<Wrapped>() -> ModelBinding<Wrapped>? where Value == Wrapped? {
    guard let found = read() else { return nil }
    let last = Last(found)
    return ModelBinding<Wrapped> {
      last.updated(read())
    } write: { value, way in
      try write(value, way)
      _ = last.updated(read())
    } refuse: {
      refuse($0)
    }
  }

  /// What is there, else another value, which is not set by being read.
  public func or<Wrapped>(_ other: Wrapped) -> ModelBinding<Wrapped> where Value == Wrapped? {
    ModelBinding<Wrapped> {
      read() ?? other
    } write: {
      try write($0, $1)
    } refuse: {
      refuse($0)
    }
  }
}

/// How a value is set: throwing what refuses it, or leaving that for the next save.
private enum Way { case throwing, plain }

// MARK: Elements

extension ModelBinding where Value: RandomAccessCollection & MutableCollection {
  /// One for each element, by its place.
  public var elements: [ModelBinding<Value.Element>] { read().indices.map { self[$0] } }

  /// The element at that place. When there is none any longer, reading gives what was there last, and setting refuses.
  public subscript(index: Value.Index) -> ModelBinding<Value.Element> {
    let last = Last(read()[index])
    func current() -> Value.Element {
      let value = read()
      return last.updated(value.indices.contains(index) ? value[index] : nil)
    }
    return ModelBinding<Value.Element> {
      current()
    } write: { element, way in
      var value = read()
      guard value.indices.contains(index) else { throw ModelBindingError.noElement(index: "\(index)") }
      value[index] = element
      try write(value, way)
      _ = current()
    } refuse: {
      refuse($0)
    }
  }
}

/// What was read last, for when there is nothing to read any longer.
private final class Last<Value> {
  private var value: Value
  init(_ value: Value) { self.value = value }

  func updated(_ found: Value?) -> Value {
    if let found { value = found }
    return value
  }
}

/// Why a binding cannot set a value, beyond what its model refuses.
public enum ModelBindingError: Error, Hashable, Sendable {
  case noElement(index: String)
}

extension ModelBindingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noElement(let index): "there is no element \(index) any longer: the collection has become shorter"
    }
  }
}
