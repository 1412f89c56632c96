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
/// Its objects stay inside; identifiers and snapshots travel. It runs on a queue of its own, so that waiting for SQLite
/// keeps no thread of the others'. What it saves reaches every other context on its own isolation.
public protocol ModelActor: Actor {
  /// The store that its context is on.
  nonisolated var modelContainer: ModelContainer { get }
  /// Where it runs, with its context.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  public nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }

  /// The actor's own context. It saves when ``ModelContext/save()`` is called.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The object with this identifier, loaded if need be; nil where there is no such row, or it is no `Model`.
  public subscript<Model: PersistentModel>(id: PersistentIdentifier, as type: Model.Type) -> Model? {
    modelContext.model(for: id) as? Model
  }
}

/// Where a ``ModelActor`` runs, and the context that belongs there.
public protocol ModelExecutor: SerialExecutor {
  /// The context, for use on this executor only.
  var modelContext: ModelContext { get }
}

/// One job after the other, on a queue of its own.
public final class DefaultSerialModelExecutor: ModelExecutor {
  /// The context, for use on this executor only.
  // Handed over when it is made; used by the jobs of this executor only, one at a time.
  public nonisolated(unsafe) let modelContext: ModelContext
  private let queue = JobQueue("quire.model-actor")
  private let home: Home

  /// - Parameter modelContext: A new context that is used only here from now on.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    home = Home(queue)
    modelContext.bind(to: home)
  }

  /// Runs the job after those before it, on the executor's queue.
  public func enqueue(_ job: consuming ExecutorJob) { queue.enqueue(job) }
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  public func checkIsolated() { queue.checkIsolated() }

  /// Where the context's turns end: an actor that runs where the model actor does, because the model actor itself is not
  /// known yet when its executor is made.
  private actor Home {
    private let queue: JobQueue
    init(_ queue: JobQueue) { self.queue = queue }
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  }
}
