internal import Foundation
internal import QuireRow

/// What a file's schema says about its change log. To find it out takes several statements for each table, so the answer is
/// kept until the schema has another version.
final class LogSchemas: Sendable {
  struct Schema {
    fileprivate let log: UUID
    fileprivate let version: Int64
    /// Whether every table's triggers are those its columns need.
    let isWhole: Bool
    let forms: LogForms
  }

  private let last = Locked<Schema?>(nil)
  private let tables: ChangedTables

  init(_ tables: ChangedTables) { self.tables = tables }

  /// - Parameter connection: One that shows committed schemas alone: no two of these have the same version.
  func schema(of log: UUID, on connection: Connection) throws -> Schema {
    let version = try LogState.schema(of: connection)
    if let known = last.withLock({ $0 }), known.log == log, known.version == version { return known }
    let schema = try Schema(
      log: log, version: version, isWhole: LogTables(connection).isWhole(), forms: LogForms(connection, tables))
    last.withLock { $0 = schema }
    return schema
  }
}
