import Synchronization

/// One line on standard error with the progress of long work, redrawn in place.
///
/// Draws at most ten times a second, first after half a second, and only if standard error is a terminal that is not dumb, so that
/// short work and logs stay quiet. May be updated from any thread.
public final class Progress: Sendable {
  private let terminal: Terminal
  private let label: String
  private let state: Mutex<State>

  private struct State {
    var next = ContinuousClock.now + .milliseconds(500)
    var isDrawn = false
  }

  /// A line that begins with the label. Nothing is drawn yet; its clock starts now.
  public init(_ label: String, on terminal: Terminal) {
    self.terminal = terminal
    self.label = label
    state = Mutex(State())
  }

  /// - Parameters:
  ///   - done: What is done, such as bytes read.
  ///   - total: The total, if it is known.
  ///   - detail: Further text, such as `3 200 books`.
  public func update(_ done: Int, of total: Int?, _ detail: @autoclosure () -> String = "") {
    guard terminal.error.redraws else { return }
    let isDue = state.withLock { state in
      let now = ContinuousClock.now
      guard now >= state.next else { return false }
      state.next = now + .milliseconds(100)
      state.isDrawn = true
      return true
    }
    guard isDue else { return }
    let part = total.flatMap { $0 > 0 ? "  \(min(100, done * 100 / $0)) %" : nil } ?? ""
    terminal.error.write("\r" + truncated("  \(label)\(part)  \(detail())", to: terminal.columns - 1) + "\u{1B}[K")
  }

  /// Removes the line.
  public func finish() {
    let wasDrawn = state.withLock { state in
      defer { state.isDrawn = false }
      return state.isDrawn
    }
    if wasDrawn { terminal.error.write("\r\u{1B}[K") }
  }
}
