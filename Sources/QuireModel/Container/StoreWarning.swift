package import QuireSQLite

/// Something that went wrong or is slow, and that no call could throw; see ``ModelContainer/warnings``.
public struct StoreWarning: Hashable, Sendable, CustomStringConvertible {
  /// What it is about.
  public let kind: Kind
  /// What happened, where, and what to do.
  public let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// What a warning is about. A later version may have more of them.
  @nonexhaustive
  public enum Kind: Hashable, Sendable {
    /// An autosave failed; its edits are still pending. Also in ``ModelContext/autosaveError``.
    case autosave
    /// An object or a relationship could not be loaded, and reads as nil or empty. Also in
    /// ``ModelContext/drainDeferredErrors()``, unless the context is gone: then one warning is for all of its objects.
    case loading
    /// A live result could not follow a commit, and shows the one before; or an assignment to a setting failed. Also in
    /// the result's `error`.
    case liveResult
    /// A new live result will read a whole table when rows change. The description names the index that would help. Told
    /// once, however many results of the same kind follow, such as one for each client of a server.
    case slowLiveResult
    /// A relationship is loaded for one object at a time, over and over. In debug builds only.
    case repeatedLoads
    /// A snapshot of a shared store was not made, or its log not trimmed. A later commit tries again.
    case sharing
  }
}

extension ModelContainer {
  /// What goes wrong or is slow in any of the store's contexts from now on, and could not be thrown.
  ///
  ///     for await warning in store.warnings { logger.warning("\(warning)") }
  ///
  /// Each stream has all warnings since it was made; of those that were not read yet the newest 1 024 are kept. Without
  /// a stream, making a live result costs nothing more; otherwise it also costs the plans of its statements. A stream
  /// does not keep the container open: it ends when the container is closed or released.
  public var warnings: AsyncStream<StoreWarning> { store.warnings.stream }

  /// Calls the body with every warning, until the observation is canceled or released.
  ///
  /// The body is called where the warning arises: on the context's isolation, in the middle of a getter or of taking in
  /// a commit. It must be quick, and touch no object of the context. No warning is dropped.
  package func observeWarnings(_ body: @escaping @Sendable (StoreWarning) -> Void) -> ObservationToken {
    store.warnings.add(body)
  }
}
