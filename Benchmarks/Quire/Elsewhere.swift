import Quire

/// An actor of its own with the same live results on the same store: what `--hop` adds to a live case.
actor Elsewhere {
  private var context: ModelContext?
  private var watched: [Any] = []

  /// - Parameter watch: Makes what is watched there; what it returns is kept.
  init(_ container: ModelContainer, _ watch: @Sendable (ModelContext) throws -> [Any]) async throws {
    let context = ModelContext(container)
    self.context = context
    watched = try watch(context)
  }

  /// Returns when it stands at that commit, which it is brought to by itself.
  func settled(at number: Int64) async {
    while let context, context.commitNumber < number { await Task.yield() }
  }

  func stop() {
    watched = []
    context = nil
  }
}

extension Meter {
  /// Times one operation on `context`, and where there is somebody elsewhere until it has arrived there.
  @inline(__always) mutating func sample(
    _ context: ModelContext, and elsewhere: Elsewhere?, _ body: () throws -> Void
  ) async rethrows {
    guard let elsewhere else { return try sample(body) }
    try await sampleUntilQuiet(body) { await elsewhere.settled(at: context.commitNumber) }
  }
}
