import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The pipe's end to which the handler writes signals, because a handler may do little else.
private let told = Atomic<Int32>(-1)

/// Signals as bytes of a pipe, while we control a terminal.
///
/// One at a time in a process: the last one that began receives them.
final class Signals {
  let bell = Wakeup()
  private var before: [(signal: Int32, action: sigaction)] = []

  private static let heard = [SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

  func begin() {
    guard before.isEmpty else { return }
    told.store(bell.outside.number, ordering: .sequentiallyConsistent)
    before = Self.hear(Self.heard)
  }

  /// Restores the previous handler of each signal.
  func end() {
    Self.giveBack(before)
    before = []
    told.store(-1, ordering: .sequentiallyConsistent)
  }

  /// While another program has the terminal, what ends that by a key does not end us. Handlers, unlike signals that are
  /// ignored, are not handed down to it.
  static func leavingKeys<Result>(to body: () throws -> Result) rethrows -> Result {
    let before = hear([SIGINT, SIGQUIT])
    defer { giveBack(before) }
    return try body()
  }

  private static func hear(_ signals: [Int32]) -> [(signal: Int32, action: sigaction)] {
    signals.compactMap { signal in
      var action = sigaction()
      #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = { tell($0) }
      #else
        action.__sigaction_handler.sa_handler = { tell($0) }
      #endif
      var old = sigaction()
      return sigaction(signal, &action, &old) == 0 ? (signal, old) : nil
    }
  }

  private static func giveBack(_ actions: [(signal: Int32, action: sigaction)]) {
    for (signal, action) in actions {
      var action = action
      _ = sigaction(signal, &action, nil)
    }
  }
}

/// In the handler: keeps errno, takes no lock, allocates nothing.
private func tell(_ signal: Int32) {
  let error = errno
  var byte = UInt8(truncatingIfNeeded: signal)
  let pipe = told.load(ordering: .sequentiallyConsistent)
  if pipe >= 0 { _ = write(pipe, &byte, 1) }
  errno = error
}
