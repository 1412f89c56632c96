public import QuireModel
import QuireRow

/// A getter and setter of one property of a model, to pass to code that edits it.
///
///     @ModelBindable var book = book
///     try rename($book.title)
///
///     func rename(_ title: ModelBinding<String>) throws { try title.set(title.wrappedValue.uppercased()) }
///
/// Reading it reads the property, and is tracked as such; setting it edits the model. If the value is refused (by a
/// rule, a constraint, or because the object is deleted), ``set(_:)`` throws; a plain assignment keeps the old value,
/// and the next `save()` throws. Confined to the isolation of the model.
@propertyWrapper @dynamicMemberLookup
public struct ModelBinding<Value> {
  private let read: () -> Value
  private let write: (Value, Way) throws -> Void
  /// Makes the next save throw the error of a plain assignment.
  private let refuse: (any Error) -> Void

  private init(
    read: @escaping () -> Value, write: @escaping (Value, Way) throws -> Void, refuse: @escaping (any Error) -> Void
  ) {
    self.read = read
    self.write = write
    self.refuse = refuse
  }

  /// A binding to that property of the object.
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

  /// The value. Reading it is observed as reading the property is.
  ///
  /// An assignment that is refused leaves the property as it was, and its error is thrown by the next save; ``set(_:)`` throws
  /// it at once.
  public var wrappedValue: Value {
    get { read() }
    nonmutating set {
      do { try write(newValue, .plain) } catch { refuse(error) }
    }
  }

  /// Itself, so that a property wrapper can be passed on as `$title`.
  public var projectedValue: ModelBinding { self }
  /// Lets a closure or an initializer take it as a parameter: `$title`.
  public init(projectedValue: ModelBinding) { self = projectedValue }

  /// Sets the value, or throws if it is refused; then nothing has changed.
  public func set(_ value: Value) throws { try write(value, .throwing) }

  // MARK: Parts

  /// A binding to a part of the value, such as a field of a struct: setting it sets the whole value.
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

  /// A binding to a property of the model that is the value at the time of reading or setting.
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

  /// A binding to the value in another form, such as a number as text.
  ///
  /// - Parameter back: May throw: ``set(_:)`` throws its error.
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

  /// A binding to the wrapped value; nil if there is none. If the value becomes nil later, reading returns the last
  /// one.
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

  /// A binding to the wrapped value, or `other` if there is none; reading does not set it.
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

/// How a value is set: throwing if it is refused, or leaving the error to the next save.
private enum Way { case throwing, plain }

// MARK: Elements

extension ModelBinding where Value: RandomAccessCollection & MutableCollection {
  /// A binding to each element, by index.
  public var elements: [ModelBinding<Value.Element>] { read().indices.map { self[$0] } }

  /// A binding to the element at that index. If it no longer exists, reading returns the last value, and setting
  /// throws.
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

/// The value read last, for reads after it is gone.
private final class Last<Value> {
  private var value: Value
  init(_ value: Value) { self.value = value }

  func updated(_ found: Value?) -> Value {
    if let found { value = found }
    return value
  }
}

/// Why a binding cannot set a value, other than errors of its model.
package enum ModelBindingError: Error, Hashable, Sendable {
  /// The element that was bound has gone: the collection has become shorter. Nothing was written.
  case noElement(index: String)
}

extension ModelBindingError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noElement(let index): "there is no element \(index) any more: the collection is shorter now"
    }
  }
}

extension ModelBindingError: QuireError {}
