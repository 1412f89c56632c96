import Foundation

/// Calls once when the process is told to stop from its terminal; a second Ctrl-C ends it at once.
///
/// While one is held Ctrl-C does not end the process by itself.
final class StopSignal {
  private let source: any DispatchSourceSignal

  init(_ body: @escaping @Sendable () -> Void) {
    // A queue of its own: the shared ones may have no thread free while a statement runs.
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: DispatchQueue(label: "quire.stop"))
    source.setEventHandler {
      signal(SIGINT, SIG_DFL)
      body()
    }
    let isRegistered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { isRegistered.signal() }
    source.resume()
    isRegistered.wait()
    #if !os(Linux)
      signal(SIGINT, SIG_IGN)  // elsewhere the source only listens
    #endif
  }

  func cancel() {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }
}
