import Foundation

/// Calls once when the process is told to stop from its terminal; a second Ctrl-C ends it at once.
///
/// While one is held Ctrl-C does not end the process by itself.
final class StopSignal {
  private let source: any DispatchSourceSignal

  init(_ body: @escaping @Sendable () -> Void) {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      signal(SIGINT, SIG_DFL)
      body()
    }
    source.resume()
  }

  func cancel() {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }
}
