import Dispatch
import LineEditor
import QuireShell
import Synchronization

/// One input being run on the session, and its output meanwhile.
final class ReplRun: Sendable {
  private let box = Mutex<[Mail]>([])
  private let wakeup: Wakeup
  private let task = Mutex<Task<Void, Never>?>(nil)
  /// How many pieces of rows may wait to be shown: reading pauses while showing is slower.
  private let room = DispatchSemaphore(value: 4)

  enum Mail: Sendable {
    /// A piece of an answer that is written as it is read.
    case bytes([UInt8])
    case reply(Reply)
    /// A question that the run waits for the answer of.
    case question(String, CheckedContinuation<Bool, Never>)
    case failed(ShellFailure)
    case done
  }

  /// - Parameter output: The format of rows that are written as they are read; nil if rows are kept.
  init(_ session: ShellSession, _ text: String, _ output: RowOutput?, _ wakeup: Wakeup) {
    self.wakeup = wakeup
    var output = output
    output?.write = { [self] bytes in
      room.wait()
      put(.bytes(Array(bytes)))
    }
    let begun = Task { [output] in
      do {
        try await session.run(text, to: output) { question in
          await withCheckedContinuation { self.put(.question(question, $0)) }
        } each: {
          self.put(.reply($0))
        }
        put(.done)
      } catch {
        put(.failed(error as? ShellFailure ?? ShellFailure("\(error)")))
      }
    }
    task.withLock { $0 = begun }
  }

  /// Stops it, even if it has not begun yet.
  func stop() { task.withLock { $0 }?.cancel() }

  /// To be called for each piece that has been shown.
  func didShowPiece() { room.signal() }

  private func put(_ mail: Mail) {
    box.withLock { $0.append(mail) }
    wakeup.ring()
  }

  var hasMail: Bool { box.withLock { !$0.isEmpty } }

  /// What came since the last time, in order.
  func mail() -> [Mail] {
    box.withLock { box in
      defer { box = [] }
      return box
    }
  }
}

/// How long a statement has been running, and how far it is.
struct ReplClock {
  private let session: ShellSession
  private let begun = ContinuousClock.now

  init(_ session: ShellSession) { self.session = session }

  var elapsed: Duration { ContinuousClock.now - begun }

  /// `running 3.2 s · 41 M steps · Ctrl-C stops`, after half a second.
  var line: String? {
    let elapsed = elapsed
    guard elapsed >= .milliseconds(500) else { return nil }
    let records = session.recordsRead
    if records > 0 { return "running \(elapsed.spoken) · \(records.grouped) records read · Ctrl-C stops" }
    let steps = session.steps
    let count = steps < 1_000_000 ? "\(steps / 1000) k" : "\(steps / 1_000_000) M"
    return "running \(elapsed.spoken) · \(count) steps · Ctrl-C stops"
  }
}
