import Foundation
import QuireSQLite
import QuireShell
import Synchronization

/// Calls a closure when the process receives a signal to stop; a second signal of the same kind ends it immediately.
///
/// While one is held, such a signal does not end the process by itself.
final class StopSignal {
  private let signals: [Int32]
  private let sources: [any DispatchSourceSignal]

  /// - Parameter signals: Ctrl-C by default.
  init(_ signals: [Int32] = [SIGINT], _ body: @escaping @Sendable () -> Void) {
    self.signals = signals
    // A queue of its own: the shared ones may have no thread free while a statement runs.
    let queue = DispatchQueue(label: "quire.stop")
    sources = signals.map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        signal(number, SIG_DFL)
        body()
      }
      let isRegistered = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { isRegistered.signal() }
      source.resume()
      isRegistered.wait()
      #if !os(Linux)
        signal(number, SIG_IGN)  // elsewhere the source only listens
      #endif
      return source
    }
  }

  func cancel() {
    for source in sources { source.cancel() }
    for number in signals { Self.release(number) }
  }
}

extension StopSignal {
  /// Lets Ctrl-C and the like stop the statement that a session runs, so that its file is closed; a second one ends the
  /// process. Signals that the process ignores, as under `nohup`, stay ignored.
  ///
  /// Makes no thread, which would take as long as a short query. For a process that is there for this session alone.
  static func stop(_ session: ShellSession) {
    session.standsForSignals()
    for number in stopping {
      let before = signal(number) { number in
        signal(number, SIG_DFL)
        RunWatch.stopBySignal()
      }
      if isIgnored(before) { signal(number, SIG_IGN) }
    }
  }

  /// Lets such signals end the process again, while nothing is run.
  static func goOn() { for number in stopping { release(number) } }

  /// From now on such a signal ends the process with the status and the message of a stopped command, while none handles
  /// it: before one has begun, between two statements, at a question. For a process that is the tool's own.
  static func endTheProcess() {
    endsProcess.store(true, ordering: .relaxed)
    goOn()
  }

  private static let endsProcess = Atomic(false)

  /// Lets a signal end the process again, unless it is ignored.
  private static func release(_ number: Int32) {
    let before =
      endsProcess.load(ordering: .relaxed)
      ? signal(number) { _ in
        // Nothing else may be called here.
        let text: StaticString = "error: stopped. What was not committed was rolled back\n"
        _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
        _exit(130)
      } : signal(number, SIG_DFL)
    if isIgnored(before) { signal(number, SIG_IGN) }
  }

  /// Whether one has come since ``stop(_:)``.
  static var hasCome: Bool { ShellSession.wasStoppedBySignal }

  private static let stopping = [SIGINT, SIGTERM, SIGHUP]

  private static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
