public import QuireRow

/// Passes values to called code without a parameter at every layer: objects by type, values by key.
///
///     try withEnvironment(library) {
///       try openDesk()                                  // any depth below:
///     }                                                 //   let library = try environment[Library.self]
///
/// Child tasks, and the tasks that a server starts for each request, inherit it. A reader made by
/// `observe` runs in the environment in which it was made, whichever code changed what it read.
///
/// An object that is not `Sendable` belongs to the isolation where it was added, and is found only there: anywhere else
/// the look-up fails with an error that says so.
public struct ModelEnvironment: Sendable {
  @TaskLocal static var current = ModelEnvironment()

  private var entries: [ObjectIdentifier: Entry] = [:]
  /// The innermost code without a suspension that was given an environment.
  private var extent: Extent?

  private struct Entry: Sendable {
    // An object that is not `Sendable` is returned only if `home` is the caller's place.
    nonisolated(unsafe) let value: Any
    /// Nil for `Sendable` objects.
    let home: Extent?
  }

  // MARK: Objects by type

  /// The innermost object that was added under this type.
  ///
  /// - Throws: ``ModelEnvironmentError``, naming the type, if there is none.
  @MainActor public subscript<Object: AnyObject>(_ type: Object.Type) -> Object {
    get throws(ModelEnvironmentError) { try find(type, from: .actor(ObjectIdentifier(MainActor.shared))) }
  }

  /// The innermost object that was added under this type; nil if there is none.
  @MainActor public subscript<Object: AnyObject>(_ type: Object?.Type) -> Object? { try? self[Object.self] }

  /// The innermost object of this type, from any isolation, for `Sendable` types such as a container.
  public subscript<Object: AnyObject & Sendable>(_ type: Object.Type) -> Object {
    get throws(ModelEnvironmentError) { try find(type, from: nil) }
  }

  public subscript<Object: AnyObject & Sendable>(_ type: Object?.Type) -> Object? { try? self[Object.self] }

  /// The innermost object of this type, on any actor and on none.
  ///
  /// Code without isolation finds what its own task added, and in a closure that does not suspend
  /// (`observe`, `withEnvironment` without `await`) what belongs to that closure's isolation.
  ///
  /// - Throws: ``ModelEnvironmentError``, naming the type, if there is none or it belongs to another isolation.
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

  /// The innermost value under this key, or the key's default.
  public subscript<Key: ModelEnvironmentKey>(_ key: Key.Type) -> Key.Value {
    entries[ObjectIdentifier(key)]?.value as? Key.Value ?? Key.defaultValue
  }

  // MARK: Adding

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

/// The current environment.
public var environment: ModelEnvironment { .current }

/// A key for a value of the environment, with the default that applies if no value was added.
///
///     enum PageSize: ModelEnvironmentKey { static let defaultValue = 20 }
///     environment[PageSize.self]
public protocol ModelEnvironmentKey {
  /// What is kept under the key. `Sendable`, because tasks on every isolation read it.
  associatedtype Value: Sendable
  /// The value if none was put in.
  static var defaultValue: Value { get }
}

/// Why an object is not available from the environment.
@nonexhaustive
public enum ModelEnvironmentError: Error, Hashable, Sendable {
  /// No object of that type is in the environment here.
  case missing(type: String)
  /// There is one, but it belongs to another isolation.
  case elsewhere(type: String)
}

extension ModelEnvironmentError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let type):
      "there is no \(type) in the environment: run this inside ‘withEnvironment’ with one"
    case .elsewhere(let type):
      "the environment's \(type) belongs to another isolation: read it where it was added, or add a Sendable object"
    }
  }
}

extension ModelEnvironmentError: QuireError {}
