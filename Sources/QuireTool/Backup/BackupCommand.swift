import Foundation
import QuireSQLite
import QuireShell

extension Command {
  /// `quire backup`: a copy of any SQLite file, made while other programs use it.
  public static let backup = Command(
    "backup", "copy a database into one file, also while programs write to it",
    arguments: [
      Argument("FILE", "the database; it is only read"),
      Argument("TO", "the copy; its folder must be there"),
    ],
    options: [
      Option("--replace", "replace a file that is there, in one step"),
      Option("--wait", value: "SECONDS", "how long to wait for a lock (10)"),
      Option("--json", "one JSON document, of an error too"),
      Option("--quiet", short: "-q", "print errors only"),
    ],
    notes: """
      The copy is at one commit, and a writer does not wait for it where FILE has a write-ahead log, as files of this
      program's have; where it has none, writers wait until the copy is done. TO has its name only when it is whole and on
      the disk. A copy that is stopped or fails leaves nothing, and a file that was there as it was.
      Nothing is checked: the copy of a damaged file is damaged, too, which PRAGMA integrity_check tells.
      Exit status: 0 done, 1 it could not be written or read, 2 usage or no such file, 5 TO is there already or in use,
      6 busy, 130 Ctrl-C or SIGTERM
      """
  ) { try BackupRun($0).run() }
}

/// One call of `quire backup`.
struct BackupRun {
  private let invocation: Invocation
  private let file: String
  private let copy: String
  private let wait: Duration

  init(_ invocation: Invocation) throws {
    guard let file = invocation.argument("FILE"), let copy = invocation.argument("TO") else {
      throw invocation.usageError("which file, and where to?")
    }
    if copy == "-" {
      throw invocation.usageError("TO is a file: a copy has its name only when it is whole, and cannot go to a pipe")
    }
    self.invocation = invocation
    self.file = file
    self.copy = copy
    wait = .seconds(try invocation.integer("--wait", in: 0...86_400) ?? 10)
  }

  func run() throws -> ExitStatus {
    let terminal = invocation.terminal
    let bytes = try copied()
    if invocation.flag("--json") {
      terminal.print(
        JSON.object([
          ("v", 1), ("database", .string(file)), ("backup", .string(copy)), ("bytes", .integer(bytes)),
        ]).text)
    } else if !invocation.flag("--quiet") {
      terminal.print("\(printable(file)) is copied to \(printable(copy)) (\(size(bytes)))")
    }
    return .done
  }

  private func copied() throws -> Int {
    let interruption = MigrationInterruption()
    let signal = StopSignal([SIGINT, SIGTERM, SIGHUP]) { interruption.stop() }
    let progress = Progress("copying", on: invocation.terminal)
    defer {
      progress.finish()
      signal.cancel()
    }
    do {
      let source = try Connection(
        migrating: file, access: .readOnly, busyTimeout: wait, interruption: interruption)
      return try source.copy(
        toFile: copy, of: file, replacing: invocation.flag("--replace"), interruption: interruption
      ) { progress.update($0, of: $1, "\(printable(file)) · Ctrl-C leaves nothing behind") }
    } catch let error as StoreBackupError {
      throw CommandFailure(error)
    } catch let error as SQLiteError {
      if interruption.isStopped {
        throw CommandFailure("stopped. Nothing was written to \(copy), and \(file) is as it was", .interrupted)
      }
      throw failure(error.databaseError(path: file, waited: wait) ?? error)
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: any Error) -> CommandFailure {
    guard let error = error as? DatabaseError else { return CommandFailure("\(error)") }
    return switch error {
    case .busy(_, let waited, _):
      CommandFailure(
        "another program has kept \(file) locked for \(waited.spoken), so it was not copied; nothing was written\n"
          + "    --wait SECONDS waits longer. A program that keeps its file locked until it ends, as browsers do, has to end "
          + "first", .busy)
    case .missing, .empty: CommandFailure(ShellFailure(error), in: "")
    case .isDirectory, .notADatabase, .unreadable, .hardLinked, .cannotCreate:
      CommandFailure("\(error)", .usage)
    default: CommandFailure("\(error)")
    }
  }
}

extension CommandFailure {
  fileprivate init(_ error: StoreBackupError) {
    switch error {
    case .exists(let path):
      self.init("there is a file at \(path); it was not changed. Give another path, or --replace", .refused)
    case .inUse: self.init("\(error)", .refused)
    case .sameFile: self.init("\(error)", .usage)
    case .cannotWrite: self.init("\(error)")
    }
  }
}
