import Dispatch

/// Where tests wait for answers of the service: a thread that is not one of Swift's, on which the service computes them.
@globalActor actor DeskThread {
  static let shared = DeskThread()
  private nonisolated let executor = Executor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private final class Executor: SerialExecutor {
    private let queue = DispatchQueue(label: "desk.tests")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }
}
