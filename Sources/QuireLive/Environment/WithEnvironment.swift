/// Runs the body with the object in its environment, under the type as which it is passed.
///
/// An inner object hides an outer one of the same type; when the body ends, the previous environment applies again.
public func withEnvironment<Object: AnyObject, Result>(
  _ object: Object, isolation: (any Actor)? = #isolation, _ body: () throws -> Result
) rethrows -> Result {
  let current = ModelEnvironment.current
  let home = Extent(current.place(of: isolation), isSuspending: false)
  defer { home.end() }
  return try current.putting(object, as: Object.self, home: home).run(on: isolation, body)
}

/// Runs a body that may suspend, with the object in its environment.
public func withEnvironment<Object: AnyObject, Result>(
  _ object: Object, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
  let current = ModelEnvironment.current
  let home = Extent(current.place(of: isolation), isSuspending: true)
  defer { home.end() }
  let environment = current.putting(object, as: Object.self, home: home)
  return try await ModelEnvironment.$current.withValue(environment, operation: body, isolation: isolation)
}

/// Runs the body with a `Sendable` object in its environment: every isolation inside finds it, and child tasks too.
public func withEnvironment<Object: AnyObject & Sendable, Result>(
  _ object: Object, isolation: (any Actor)? = #isolation, _ body: () throws -> Result
) rethrows -> Result {
  try ModelEnvironment.current.putting(object, as: Object.self, home: nil).run(on: isolation, body)
}

/// Runs a body that may suspend with a `Sendable` object in its environment: every isolation below finds it, child tasks too.
public func withEnvironment<Object: AnyObject & Sendable, Result>(
  _ object: Object, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
  let environment = ModelEnvironment.current.putting(object, as: Object.self, home: nil)
  return try await ModelEnvironment.$current.withValue(environment, operation: body, isolation: isolation)
}

/// Runs the body with another value under the key.
public func withEnvironment<Key: ModelEnvironmentKey, Result>(
  _ key: Key.Type, _ value: Key.Value, isolation: (any Actor)? = #isolation, _ body: () throws -> Result
) rethrows -> Result {
  try ModelEnvironment.current.putting(value, under: key).run(on: isolation, body)
}

/// Runs a body that may suspend with another value under the key; child tasks see it too.
public func withEnvironment<Key: ModelEnvironmentKey, Result>(
  _ key: Key.Type, _ value: Key.Value, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
  let environment = ModelEnvironment.current.putting(value, under: key)
  return try await ModelEnvironment.$current.withValue(environment, operation: body, isolation: isolation)
}
