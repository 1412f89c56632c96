import Foundation
import Quire
import Synchronization

/// The store's events as numbers and lines. With swift-metrics each number is a `Counter`, `Gauge` or `Timer`, with
/// swift-log each line a `logger.notice(_:metadata:)`, with swift-distributed-tracing each statement a span of that length.
final class Metrics: Sendable {
  private struct State {
    var counts: [String: Int] = [:]
    var seconds: [String: Double] = [:]
    var logBytes = 0
  }
  private let state = Mutex(State())
  private let slow: Duration
  private let log: @Sendable (String) -> Void

  /// - Parameter slow: Statements and waits of this length have a line in the log.
  init(slow: Duration = .milliseconds(100), log: @escaping @Sendable (String) -> Void) {
    self.slow = slow
    self.log = log
  }

  /// Called in the middle of the store's work: it counts, and writes a line at most.
  func note(_ event: StoreEvent) {
    switch event {
    case .statement(let sql, let duration, let rows):
      add("statements", duration)
      if duration >= slow { log("level=notice event=statement duration=\(duration) rows=\(rows) sql=\"\(sql)\"") }
    case .waitedForWriteLock(let duration):
      add("write_waits", duration)
      if duration >= slow { log("level=notice event=wait duration=\(duration)") }
    case .commit(_, let duration, _, let logBytes):
      add("commits", duration, logBytes: logBytes)
    case .checkpoint(let duration, let logBytes, let remaining):
      add("checkpoints", duration, logBytes: logBytes)
      if remaining > 64 << 20 { log("level=warning event=checkpoint remaining=\(remaining)") }
    }
  }

  func note(_ error: any Error) {
    state.withLock { $0.counts["errors", default: 0] += 1 }
    log("level=error error=\"\(error)\"")
  }

  private func add(_ name: String, _ duration: Duration, logBytes: Int? = nil) {
    state.withLock { state in
      state.counts[name, default: 0] += 1
      state.seconds[name, default: 0] += duration / .seconds(1)
      if let logBytes { state.logBytes = logBytes }
    }
  }

  func count(_ name: String) -> Int { state.withLock { $0.counts[name] ?? 0 } }

  /// As Prometheus reads it.
  var text: String {
    state.withLock { state in
      var lines = state.counts.map { "desk_\($0.key)_total \($0.value)" }
      lines += state.seconds.map { "desk_\($0.key)_seconds_total \($0.value)" }
      return (lines.sorted() + ["desk_log_bytes \(state.logBytes)"]).map { $0 + "\n" }.joined()
    }
  }
}
