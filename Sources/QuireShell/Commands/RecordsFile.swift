import Foundation
import QuireRow
import QuireSQLite

/// A file of records in place of a database. Queries go to a copy of it: a database of one table, in a folder of its own.
package struct RecordsFile: Sendable {
  let path: String
  private let folder: URL

  /// Nil for a file that holds no records by its name, that cannot be read more than once, or that is a database.
  ///
  /// - Throws: ``ShellFailure`` if the folder for the copy cannot be made.
  package init?(_ path: String) throws(ShellFailure) {
    guard OtherFile.isRecords(path), FileName.isRegular(path), !OtherFile.isDatabase(path) else { return nil }
    self.path = path
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-records-\(UUID().uuidString)")
    do {
      // Only this user may read the copy, because the file may be private.
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      _ = try Connection(path: copy, access: .create)
    } catch {
      remove()
      throw cannotBeCopied((error as? SQLiteError)?.message ?? FileObstacle.reason(of: error))
    }
  }

  func cannotBeCopied(_ reason: String) -> ShellFailure {
    ShellFailure(
      "the records of \(printable(path)) cannot be copied into \(printable(folder.deletingLastPathComponent().path)): \(reason)",
      hint: "TMPDIR names the folder of temporary files")
  }

  /// The database, which is empty until a session takes the records.
  package var copy: String { folder.appending(path: "records.db").path }

  /// Removes the copy, also before it is filled: a session that has it open can still do both, and nothing is left of it
  /// when the process ends, however it does.
  package func remove() { try? FileManager.default.removeItem(at: folder) }

  /// The table's name: that of the file, unless SQLite or Quire keeps such names for itself.
  var table: String {
    let name = FileName(path).bare
    return SchemaReader.isReserved(name) ? "records" : name
  }
}

extension ShellSession {
  /// Fills the session's database, which is empty, with a file's records. From then on it is only read, also once the copy has
  /// been removed.
  ///
  /// The file is read twice: for the types of its columns, and for the values.
  package func take(_ records: RecordsFile) async throws {
    let watch = source.watch
    watch.start()
    do {
      try await withTaskCancellationHandler {
        if Task.isCancelled { cancel() }
        try fill(records)
      } onCancel: {
        cancel()
      }
    } catch {
      if watch.wasStopped { throw ShellFailure("stopped", .stopped) }
      // Only the copy is written to.
      if let error = error as? SQLiteError, error.isFull || error.isInputOutput {
        throw records.cannotBeCopied(error.isFull ? FileObstacle.reason(ENOSPC) : error.message)
      }
      // The user has asked a query, so the message must not speak of adding rows.
      var failure = explained(error)
      failure.state = nil
      if let option = failure.option { failure.hint = option.ofImport }
      throw failure
    }
  }

  private func fill(_ records: RecordsFile) throws {
    for sql in ["PRAGMA journal_mode = MEMORY", "PRAGMA synchronous = OFF"] { try source.connection.execute(sql) }
    let reading = try Source(opening: source.path, isWriting: false, own: source.own, options)
    records.remove()
    shared.withLock { $0.isCopied = true }
    let table = try quoted(identifier: records.table)
    _ = try load(ImportRequest(file: records.path, model: table, createsTable: true))
    use(reading, isWriting: false)
    let banner = Banner(file: records.path, models, source.facts, isWriting: false, isCopied: true)
    shared.withLock { shared in
      shared.file = records.path
      shared.banner = banner.lines
    }
  }
}
