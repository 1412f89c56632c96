import Dispatch

/// An actor's jobs on a dispatch queue of its own, which on Linux is no executor itself.
///
/// The threads that all tasks share are as many as the machine has cores: an actor that may hold one for long keeps the
/// others waiting, and on a small machine who should stop it, too. One that runs here has its own.
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
