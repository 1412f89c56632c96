/// What is handed down to the code that is called, without a parameter at every layer: objects by their type, values by
/// key.
///
///     try withEnvironment(library) {
///       try openDesk()                                  // any depth below:
///     }                                                 //   let library = try environment[Library.self]
///
/// Child tasks, and what a server starts for each request, inherit it. A reader made by ``observe(isolation:_:)`` runs
/// in the environment it was made in, whoever made the change it runs for.
///
/// An object that is not `Sendable` belongs to the isolation it was put in on, and is found there only: from elsewhere
/// the look-up fails and says so.
public struct ModelEnvironment: Sendable {
  @TaskLocal static var current = ModelEnvironment()

  private var entries: [ObjectIdentifier: Entry] = [:]
  /// The innermost stretch of code without a suspension that was given an environment.
  private var extent: Extent?

  private struct Entry: Sendable {
    // An object that is not Sendable is handed out only where `home` is the caller's place.
    nonisolated(unsafe) let value: Any
    /// Nil for what is Sendable.
    let home: Extent?
  }

  // MARK: Objects by type

  /// The nearest object that was put in under this type.
  /// - Throws: ``ModelEnvironmentError``, naming the type, where there is none.
  @MainActor public subscript<Object: AnyObject>(_ type: Object.Type) -> Object {
    get throws(ModelEnvironmentError) { try find(type, from: .actor(ObjectIdentifier(MainActor.shared))) }
  }

  /// The nearest object that was put in under this type; nil where there is none.
  @MainActor public subscript<Object: AnyObject>(_ type: Object?.Type) -> Object? { try? self[Object.self] }

  /// The same from any isolation, for what is `Sendable`, such as a container.
  public subscript<Object: AnyObject & Sendable>(_ type: Object.Type) -> Object {
    get throws(ModelEnvironmentError) { try find(type, from: nil) }
  }

  public subscript<Object: AnyObject & Sendable>(_ type: Object?.Type) -> Object? { try? self[Object.self] }

  /// The nearest object of this type, on any actor and on none.
  ///
  /// Code that belongs to no isolation finds what its own task put in, and in a closure that does not suspend
  /// (``observe(isolation:_:)``, `withEnvironment` without `await`) what belongs to that closure's isolation.
  /// - Throws: ``ModelEnvironmentError``, naming the type, where there is none or it belongs elsewhere.
  public func object<Object: AnyObject>(
    _ type: Object.Type, isolation: isolated (any Actor)? = #isolation
  ) throws(ModelEnvironmentError) -> Object {
    try find(type, from: place(of: isolation))
  }

  private func find<Object: AnyObject>(
    _ type: Object.Type, from place: Place?
  ) throws(ModelEnvironmentError) -> Object {
    guard let entry = entries[ObjectIdentifier(type)], let object = entry.value as? Object else {
      throw .missing(type: "\(type)")
    }
    if let place, let home = entry.home, !home.isHome(to: place) { throw .elsewhere(type: "\(type)") }
    return object
  }

  // MARK: Values by key

  /// The nearest value under this key; its default where there is none.
  public subscript<Key: ModelEnvironmentKey>(_ key: Key.Type) -> Key.Value {
    entries[ObjectIdentifier(key)]?.value as? Key.Value ?? Key.defaultValue
  }

  // MARK: Putting in

  func putting(_ object: some AnyObject, as type: Any.Type, home: Extent?) -> ModelEnvironment {
    var result = self
    result.entries[ObjectIdentifier(type)] = Entry(value: object, home: home)
    return result
  }

  func putting<Key: ModelEnvironmentKey>(_ value: Key.Value, under key: Key.Type) -> ModelEnvironment {
    var result = self
    result.entries[ObjectIdentifier(key)] = Entry(value: value, home: nil)
    return result
  }

  /// Runs a body that does not suspend in this environment, on the isolation.
  func run<Result>(on isolation: (any Actor)?, _ body: () throws -> Result) rethrows -> Result {
    let extent = Extent(place(of: isolation), isSuspending: false)
    defer { extent.end() }
    var environment = self
    environment.extent = extent
    return try Self.$current.withValue(environment, operation: body)
  }

  func place(of isolation: (any Actor)?) -> Place {
    if let isolation { return .actor(ObjectIdentifier(isolation)) }
    if let extent, extent.isHere { return extent.place }
    return .ofTask
  }
}

/// What is handed down to here.
public var environment: ModelEnvironment { .current }

/// Names a value of the environment and says what it is where nobody put one in.
///
///     enum PageSize: ModelEnvironmentKey { static let defaultValue = 20 }
///     environment[PageSize.self]
public protocol ModelEnvironmentKey {
  associatedtype Value: Sendable
  static var defaultValue: Value { get }
}

/// Why an object is not to be had from the environment.
public enum ModelEnvironmentError: Error, Hashable, Sendable {
  case missing(type: String)
  /// It is there, and belongs to another isolation.
  case elsewhere(type: String)
}

extension ModelEnvironmentError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let type):
      "there is no \(type) in the environment: run this inside ‘withEnvironment’ with one"
    case .elsewhere(let type):
      "the environment's \(type) belongs to another isolation: ask for it where it was put in, or put in what is Sendable"
    }
  }
}
