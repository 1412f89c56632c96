/// A property that is loaded when it is first read, by the load step of its object: see ``SelfLoading``.
///
/// If it is set before, it does not need loading. Reading it is tracked, and setting it later notifies observers;
/// loading does not. In a class marked `@Observable` or `@Model`, write `@ObservationIgnored` before it: the property
/// does its own observation.
///
/// If the step throws, or does not assign it, `try page.$text.value` throws the error, and the next read tries again. A
/// plain read cannot throw: it returns the property's declared default, and if there is none **it stops the program**,
/// naming type, property and error. Declare a default, or read `$text`, if a load can fail.
@propertyWrapper public struct LazyLoaded<Value> {
  private let stored = LoadedValue<Value>()
  /// The value to read if loading fails.
  private let standIn: Value?

  /// Declares the property without a default: a plain read whose load fails stops the program. Read `$text` to get the error.
  public init() { standIn = nil }
  /// Declares the property with a value that a plain read gives if loading fails.
  public init(wrappedValue: Value) { standIn = wrappedValue }

  @available(
    *, unavailable,
    message: "a property loads itself by the object it sits in: use @LazyLoaded in a class that is SelfLoading"
  )
  public var wrappedValue: Value {
    get { outsideClass() }
    set { outsideClass() }
  }

  @available(
    *, unavailable,
    message: "a property loads itself by the object it sits in: use @LazyLoaded in a class that is SelfLoading"
  )
  public var projectedValue: LoadedAccess<Value> { outsideClass() }

  public static subscript<ContextCore: SelfLoading>(
    _enclosingInstance owner: ContextCore, wrapped property: ReferenceWritableKeyPath<ContextCore, Value>,
    storage storage: ReferenceWritableKeyPath<ContextCore, Self>
  ) -> Value {
    get {
      let loaded = owner[keyPath: storage]
      do {
        return try loaded.stored.read(from: owner) { name(of: storage) }
      } catch {
        if let standIn = loaded.standIn { return standIn }
        preconditionFailure("\(ContextCore.self).\(name(of: storage)) could not be loaded and has no default: \(error)")
      }
    }
    set { owner[keyPath: storage].stored.assign(newValue, in: owner.loadStep) }
  }

  public static subscript<ContextCore: SelfLoading>(
    _enclosingInstance owner: ContextCore, projected property: KeyPath<ContextCore, LoadedAccess<Value>>,
    storage storage: ReferenceWritableKeyPath<ContextCore, Self>
  ) -> LoadedAccess<Value> {
    let stored = owner[keyPath: storage].stored
    return LoadedAccess(isLoaded: !stored.isEmpty) { try stored.read(from: owner) { name(of: storage) } }
  }

  /// `text` for `\Page._text`: in the key path the storage has a name, the property does not.
  private static func name(of storage: AnyKeyPath) -> String {
    let last = "\(storage)".split(separator: ".").last ?? ""
    return String(last.hasPrefix("_") ? last.dropFirst() : last)
  }
}

/// The projected value (`$`) of a self-loading property.
public struct LoadedAccess<Value> {
  /// Whether it has a value, loaded or set, so that reading it loads nothing.
  public let isLoaded: Bool
  fileprivate let read: () throws -> Value

  init(isLoaded: Bool, read: @escaping () throws -> Value) {
    self.isLoaded = isLoaded
    self.read = read
  }

  /// - Throws: What the load step throws, or an error that says why the step left the property empty; the next read tries again.
  public var value: Value { get throws { try read() } }
}

/// Unreachable: code that calls it does not compile.
private func outsideClass() -> Never { preconditionFailure("@LazyLoaded outside of a class") }
