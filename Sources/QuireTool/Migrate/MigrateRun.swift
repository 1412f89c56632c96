import Foundation
import QuireMigration
import QuireSQLite
import QuireShell
import Synchronization

/// A migrator on the way, as a person watches it: progress, Ctrl-C, what has been done.
final class MigrateRun {
  let target: MigrateTarget
  var migrator: Migrator
  private var signal: StopSignal
  private let interruption: MigrationInterruption
  private let progress: Progress
  private let work: Work
  /// How wide titles are shown.
  private let width: Int
  /// What a rehearsal of each took, for telling how far it is.
  var expected: [MigrationVersion: Int] = [:]

  init(_ target: MigrateTarget, _ migrator: Migrator, titles: [String]) {
    self.target = target
    let interruption = MigrationInterruption()
    self.interruption = interruption
    signal = Self.signal(stopping: interruption)
    let (progress, work) = (Progress("migrating", on: target.terminal), Work())
    (self.progress, self.work) = (progress, work)
    width = titles.map { displayWidth(printable($0)) }.max() ?? 0
    self.migrator = migrator
    self.migrator.interruption = interruption
    self.migrator.beat = { work.show(on: progress) }
  }

  deinit {
    progress.finish()
    signal.cancel()
  }

  /// Shows on a terminal what is running and for how long; after a rehearsal also its progress.
  func show(_ what: String, expected milliseconds: Int? = nil) { work.begin(what, milliseconds) }

  func finish() { progress.finish() }

  /// Ctrl-C, and what a service manager or a container's end sends.
  private static func signal(stopping interruption: MigrationInterruption) -> StopSignal {
    StopSignal([SIGINT, SIGTERM, SIGHUP]) { interruption.stop() }
  }

  /// Asks; nothing runs meanwhile, and Ctrl-C ends the program immediately.
  func confirm(_ question: String) -> Bool? {
    finish()
    signal.cancel()
    defer { signal = Self.signal(stopping: interruption) }
    return target.terminal.confirm(question)
  }

  func copying(_ done: Int, of total: Int, _ what: String) { progress.update(done, of: total, what) }

  func said(_ event: MigrationEvent) {
    let terminal = target.terminal
    progress.finish()
    if target.isVerbose, case .begins(let version, _) = event,
      let file = migrator.files.first(where: { $0.version == version })
    {
      terminal.note(printable(sql: file.up))
    }
    guard !target.isQuiet, !target.isJSON else { return }
    switch event {
    case .begins: break
    case .backedUp(let backup): terminal.print("  backup    \(printable(backup.path))  (\(size(backup.bytes)))")
    case .applied(let migration):
      let file = migrator.files.first { $0.version == migration.version }
      if file?.hasNoStatement == true {
        line("!", migration, "empty: nothing was run", .yellow)
      } else {
        line("✓", migration, "\(migration.milliseconds) ms")
      }
    case .undone(let migration, _): line("↶", migration, "undone")
    }
  }

  private func line(
    _ mark: String, _ migration: AppliedMigration, _ rest: String, _ style: Terminal.Stream.Style = .green
  ) {
    let out = target.terminal.output
    let title = padded(printable(migration.title), to: width)
    target.terminal.print("  \(out.styled(mark, style)) \(migration.version)  \(title)  \(rest)")
  }
}

/// The current work; set by the commands, read on the running thread.
private final class Work: Sendable {
  private let state = Mutex<(what: String, start: ContinuousClock.Instant, expected: Int?)>(("", .now, nil))

  func begin(_ what: String, _ expected: Int?) { state.withLock { $0 = (what, .now, expected) } }

  func show(on progress: Progress) {
    let (what, start, expected) = state.withLock { $0 }
    let elapsed = Int(start.duration(to: .now) / .milliseconds(1))
    // A rehearsal took this long; the last percent is whatever is left.
    let done = expected.map { $0 > 0 ? min(99, elapsed * 100 / $0) : 0 }
    progress.update(done ?? 0, of: done == nil ? nil : 100, "\(what)  \(elapsed / 1000) s · Ctrl-C rolls back")
  }
}

extension AppliedMigration {
  var json: JSON {
    .object([
      ("version", .string("\(version)")), ("title", .string(title)), ("appliedAt", .string(appliedAt)),
      ("ms", .integer(milliseconds)), ("undo", .bool(undo != nil)),
    ])
  }
}

extension MigrationLoss {
  var json: JSON {
    .object([
      ("code", "M001"), ("table", .string(table)), ("column", column.map { .string($0) } ?? .null),
      ("count", .integer(count)), ("rows", .integer(rows)), ("change", change.map { .string($0) } ?? .null),
    ])
  }
}
