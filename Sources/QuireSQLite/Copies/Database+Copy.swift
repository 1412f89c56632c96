internal import Foundation
internal import Synchronization

extension Database {
  /// Copies the latest commit into one file, on the calling thread, while others read and write.
  ///
  /// A reader of its own holds the commit. The log cannot start over meanwhile, so it grows by what is written.
  ///
  /// - Parameters:
  ///   - path: The copy's name, which appears when the copy is whole.
  ///   - replacing: Whether a file that is there is replaced.
  ///   - progress: Receives the pages copied and the total.
  /// - Returns: the number of the commit that was copied, and the copy's size.
  /// - Throws: ``StoreBackupError``, ``DatabaseError``; `CancellationError` after a stop. Then nothing is left at the path.
  package func copy(
    to path: String, replacing: Bool, interruption: MigrationInterruption, _ progress: (Int, Int) -> Void
  ) throws -> (commit: Int64, bytes: Int) {
    let reader = try readers.take(isExempt: true)
    copies.begin()
    defer {
      copies.end()
      readers.giveBack(reader.endSnapshot() ? reader : nil, isExempt: true)
    }
    do {
      let commit = try beginNumberedSnapshot(on: reader)
      let bytes = try reader.copy(
        toFile: path, of: self.path, replacing: replacing, interruption: interruption, progress)
      return (commit, bytes)
    } catch let error as SQLiteError {
      if interruption.isStopped { throw CancellationError() }
      if error.isReadFailure, configuration.access != .readOnly, reader.isLogCut {
        throw DatabaseError.fileReplaced(path: self.path)
      }
      throw explaining(DatabaseError(error, path: self.path, waited: configuration.busyTimeout) ?? error)
    }
  }

  private func beginNumberedSnapshot(on reader: Connection) throws -> Int64 {
    while true {
      let number = try clock.number(
        open: { () throws(SQLiteError) in try reader.beginSnapshot() }, close: { reader.endSnapshot() })
      if let number { return number }
      numberForeign()
    }
  }
}

/// How many copies are being made: meanwhile the writer does not wait for readers to leave the log, because a copy's
/// reader does not leave it for long.
final class RunningCopies: Sendable {
  private let count = Atomic(0)
  var areAny: Bool { count.load(ordering: .relaxed) > 0 }
  func begin() { count.add(1, ordering: .relaxed) }
  func end() { count.subtract(1, ordering: .relaxed) }
}
