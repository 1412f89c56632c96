import QuireShell
import Synchronization

/// The line of a terminal that says how far a long `.import` is.
final class ImportProgress: Sendable {
  private let session: ShellSession
  private let progress: Progress
  /// How many records had been read when the line was last removed: it is not drawn again for these.
  private let cleared = Mutex(0)
  private let drawing = Mutex<Task<Void, Never>?>(nil)

  init(_ session: ShellSession, _ terminal: Terminal) {
    self.session = session
    progress = Progress("importing", on: terminal)
    guard terminal.error.redraws else { return }
    let begun = Task { [weak self] in
      while (try? await Task.sleep(for: .milliseconds(200))) != nil { self?.draw() }
    }
    drawing.withLock { $0 = begun }
  }

  private func draw() {
    cleared.withLock { cleared in
      let records = session.recordsRead
      if records == cleared { return }
      progress.update(records, of: nil, "\(records.grouped) records read · Ctrl-C stops")
    }
  }

  /// Removes the line, before something else is written.
  func clear() {
    cleared.withLock { cleared in
      cleared = session.recordsRead
      progress.finish()
    }
  }

  func end() {
    drawing.withLock { $0 }?.cancel()
    clear()
  }
}
