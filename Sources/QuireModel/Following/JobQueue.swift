import Dispatch

/// An actor's jobs on their own dispatch queue, because on Linux a dispatch queue is not an executor.
///
/// The shared pool has as many threads as the machine has cores. An actor that may block a thread for long delays all
/// other tasks and, on a small machine, even the task that should cancel it. An actor on this queue uses its own
/// thread.
package final class JobQueue: SerialExecutor {
  private let queue: DispatchQueue

  package init(_ label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
