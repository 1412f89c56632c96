internal import CSQLite
internal import Foundation
internal import QuireRow

/// One table's data for the hook and the coalescer: the plain memory that the hook reads, and the columns to decode.
final class TableRecord {
  let pointer: UnsafeMutablePointer<quire_table>
  let shape: TableShape?
  let table: ChangedTable
  /// Positions in ``ChangedTable/columns`` of the columns that are decoded.
  let decoded: [Int]
  private var oldRow: Statement?
  /// By position in ``ChangedTable/columns``, whether a statement can write the column: it is neither generated nor the
  /// row id.
  private(set) lazy var isWritten: [Bool] = shape?.isWritten ?? []

  var isComplete: Bool { decoded.count == table.columns.count }
  var hasCompositeKey: Bool { pointer.pointee.has_composite_key != 0 }

  /// A table that is not reported.
  init(unreported name: String, id: Int) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: quire_table())
    pointer.pointee.name = strdup(name)
    pointer.pointee.id = UInt32(clamping: id)
    pointer.pointee.is_own = name.lowercased().hasPrefix("_quire_") ? 1 : 0
    shape = nil
    table = ChangedTable(name: name, columns: [], keyColumns: [])
    decoded = []
  }

  init(_ shape: TableShape, _ table: ChangedTable, wanted: [Bool], id: Int, in connection: Connection) throws {
    let stored = shape.stored
    let decoded = wanted.indices.filter { wanted[$0] }
    let keys = shape.hasCompositeKey ? shape.keys : []
    let needsOldRow =
      shape.misreadsOldValues && (!decoded.isEmpty || !keys.isEmpty)
      || decoded.contains { shape.columns[stored[$0]].hasDefault }
    if needsOldRow {
      oldRow = try TableRecord.oldRow(shape, columns: keys + decoded.map { stored[$0] }, connection)
    }
    self.shape = shape
    self.table = table
    self.decoded = decoded
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: quire_table())
    pointer.pointee.name = strdup(shape.name)
    pointer.pointee.id = UInt32(clamping: id)
    pointer.pointee.is_reported = 1
    pointer.pointee.has_composite_key = shape.hasCompositeKey ? 1 : 0
    pointer.pointee.is_without_row_id = shape.isWithoutRowID ? 1 : 0
    pointer.pointee.selects_old = shape.misreadsOldValues ? 1 : 0
    pointer.pointee.key_count = UInt16(clamping: keys.count)
    pointer.pointee.keys = TableRecord.memory(keys.map(shape.hookColumn))
    pointer.pointee.column_count = UInt16(clamping: decoded.count)
    pointer.pointee.columns = TableRecord.memory(decoded.map { shape.hookColumn(stored[$0]) })
    pointer.pointee.old_row = oldRow?.pointer
  }

  deinit {
    free(pointer.pointee.name)
    pointer.pointee.keys?.deallocate()
    pointer.pointee.columns?.deallocate()
    pointer.deallocate()
  }

  private static func memory(_ columns: [quire_column]) -> UnsafeMutablePointer<quire_column>? {
    if columns.isEmpty { return nil }
    let memory = UnsafeMutablePointer<quire_column>.allocate(capacity: columns.count)
    memory.initialize(from: columns, count: columns.count)
    return memory
  }

  /// Reads one row by row id, or by its key in a WITHOUT ROWID table.
  private static func oldRow(_ shape: TableShape, columns: [Int], _ connection: Connection) throws -> Statement {
    let names = try columns.map { try quoted(identifier: shape.columns[$0].name) }
    let condition =
      shape.isWithoutRowID
      ? try shape.keys.map { "\(try quoted(identifier: shape.columns[$0].name)) = ?" }.joined(separator: " AND ")
      : "\(shape.rowIDName) = ?"
    let table = try quoted(identifier: shape.name)
    let list = names.isEmpty ? "1" : names.joined(separator: ", ")
    return try connection.prepare("SELECT \(list) FROM main.\(table) WHERE \(condition)")
  }

  /// The decoded columns of a row as it is now: for blob writes, whose events have no new value.
  func currentValues(rowID: Int64, in connection: Connection) throws -> [Value]? {
    guard let shape else { return nil }
    if decoded.isEmpty { return [] }
    let stored = shape.stored
    let statement = try TableRecord.oldRow(shape, columns: decoded.map { stored[$0] }, connection)
    statement.bind(rowID, at: 1)
    return try statement.firstRow { row in (0..<row.count).map(row.value) }
  }
}

extension TableShape {
  /// A name of the row id that is not also a column's name.
  var rowIDName: String {
    let names = Set(columns.map { $0.name.lowercased() })
    return TableShape.rowIDNames.first { !names.contains($0) } ?? "rowid"
  }
}
