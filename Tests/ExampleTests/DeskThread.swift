import QuireModel

/// Where tests wait for answers of the service: a thread that is not one of Swift's, on which the service computes them.
@globalActor actor DeskThread {
  static let shared = DeskThread()
  private nonisolated let queue = JobQueue("desk.tests")
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
}
