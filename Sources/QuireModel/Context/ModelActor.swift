import Dispatch

/// An actor with a context of its own: for work in the background, such as an import.
///
///     @ModelActor actor Importer {
///       func add(_ titles: [String]) throws -> [PersistentIdentifier] {
///         let books = titles.map(Book.init)
///         for book in books { modelContext.insert(book) }
///         try modelContext.save()
///         return books.map(\.persistentModelID)
///       }
///     }
///
///     let ids = try await Importer(modelContainer: store).add(titles)
///
/// Its objects stay inside; identifiers and snapshots can be passed on. It runs on its own queue, so waiting for SQLite
/// does not block a thread of the shared pool. What it saves reaches every other context on that context's isolation.
public protocol ModelActor: Actor {
  /// The container of its context.
  nonisolated var modelContainer: ModelContainer { get }
  /// Where it runs, with its context.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  public nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }

  /// The actor's own context. It saves when ``ModelContext/save()`` is called.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The object with this identifier, loaded if needed; nil if the row does not exist or is not a `Model`.
  public subscript<Model: PersistentModel>(id: PersistentIdentifier, as type: Model.Type) -> Model? {
    modelContext.model(for: id) as? Model
  }
}

/// Where a ``ModelActor`` runs, and the context that belongs there.
public protocol ModelExecutor: SerialExecutor {
  /// The context, for use on this executor only.
  var modelContext: ModelContext { get }
}

/// A serial executor with its own queue, or, with a main context, the main actor's.
public final class DefaultSerialModelExecutor: ModelExecutor {
  /// The context, for use on this executor only.
  // Transferred at initialization; used only by jobs of this executor, one at a time.
  public nonisolated(unsafe) let modelContext: ModelContext
  /// Nil with a main context, which stays on the main actor.
  private let home: Home?

  /// - Parameter modelContext: A new context, used only by this executor from now on; or a container's main context, with
  ///   which it runs on the main actor.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    home = modelContext.isMain ? nil : Home(JobQueue("quire.model-actor"))
    if let home { modelContext.bind(to: home) }
  }

  /// Runs the job after those before it, on the executor's queue.
  public func enqueue(_ job: consuming ExecutorJob) {
    if let home { home.queue.enqueue(job) } else { MainActor.shared.enqueue(UnownedJob(job)) }
  }
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    home?.queue.asUnownedSerialExecutor() ?? MainActor.sharedUnownedExecutor
  }
  public func checkIsolated() {
    if let home { home.queue.checkIsolated() } else { MainActor.preconditionIsolated() }
  }

  /// The isolation at which the context's turns end. This actor shares the model actor's executor; it is needed because
  /// the model actor itself does not exist yet when its executor is made.
  private actor Home {
    let queue: JobQueue
    init(_ queue: JobQueue) { self.queue = queue }
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  }
}
