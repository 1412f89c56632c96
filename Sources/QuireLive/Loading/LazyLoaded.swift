/// A property that is loaded when it is first read, by the step of the object it sits in: see ``SelfLoading``.
///
/// Setting it before makes a load for its sake unnecessary. Reading it is observed, and setting it later is told like
/// any change; a load is not. In a class marked `@Observable` or `@Model` write `@ObservationIgnored` before it, which
/// leaves observing to the property itself.
///
/// Where the step throws, or leaves it empty, `try page.$text.value` throws that and the next read tries again. A plain
/// read has nowhere to throw to: it gives the value the property was declared with, and where there is none **it stops
/// the program**, naming type, property and error. Declare a default, or read `$text`, where a load can fail.
@propertyWrapper public struct LazyLoaded<Value> {
  private let stored = LoadedValue<Value>()
  /// What it reads as where loading fails.
  private let standIn: Value?

  public init() { standIn = nil }
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

  /// `text` of `\Page._text`: the storage has a name in the key path, the property has none.
  private static func name(of storage: AnyKeyPath) -> String {
    let last = "\(storage)".split(separator: ".").last ?? ""
    return String(last.hasPrefix("_") ? last.dropFirst() : last)
  }
}

/// A self-loading property's `$` side.
public struct LoadedAccess<Value> {
  /// Whether it has a value, loaded or set, and reading it loads nothing.
  public let isLoaded: Bool
  fileprivate let read: () throws -> Value

  init(isLoaded: Bool, read: @escaping () throws -> Value) {
    self.isLoaded = isLoaded
    self.read = read
  }

  /// - Throws: what the load step throws, or ``LoadError``; the next read tries again.
  public var value: Value { get throws { try read() } }
}

/// Nobody gets here: what calls it does not compile.
private func outsideClass() -> Never { preconditionFailure("@LazyLoaded outside of a class") }
