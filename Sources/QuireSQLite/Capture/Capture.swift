internal import CSQLite
internal import Foundation
internal import QuireRow

/// The writer's capture: the event log of the current transaction, and the tables that its events refer to.
///
/// Guarded by the write lock. The log itself is plain memory that C fills (`CSQLiteCapture.h`); this class decides
/// which tables are reported and which columns decoded.
final class Capture {
  /// Owned by the connection.
  let log: UnsafeMutablePointer<quire_capture>
  let connection: Connection
  private let interests: Interests
  private let known: ChangedTables
  /// Whether rows are identified by their row ids, if their tables have one, and not by a declared key.
  private let prefersRowID: Bool
  private var interestGeneration = -1
  /// That of the transaction at hand, or of the last one.
  private(set) var generation = 0
  /// All tables that events may refer to, by the number in the event.
  private(set) var records: [TableRecord] = []
  private var shapes: [String: TableShape] = [:]
  /// Kept across schema changes, so that an unchanged table keeps its object.
  private var tables: [String: (shape: TableShape, table: ChangedTable)] = [:]
  /// Those in which virtual tables store their content; nil until a table's rows change, so that a statement that only
  /// makes tables costs no look at all of them.
  private var shadowTables: Set<String>?

  init(
    on connection: Connection, interests: Interests, tables: ChangedTables, prefersRowID: Bool = false
  ) throws(SQLiteError) {
    self.prefersRowID = prefersRowID
    self.connection = connection
    known = tables
    self.interests = interests
    var made: UnsafeMutablePointer<quire_capture>?
    let code = quire_capture_install(connection.handle, &made)
    guard let made else { throw connection.error(code, sql: nil) }
    log = made
    log.pointee.context = Unmanaged.passUnretained(self).toOpaque()  // removed in deinit
    log.pointee.find = { context, name in
      guard let context, let name else { return nil }
      return Unmanaged<Capture>.fromOpaque(context).takeUnretainedValue().find(String(cString: name))
    }
  }

  /// The sensor's module stays installed, and may be called until the connection is closed.
  deinit { quire_capture_uninstall(log, connection.handle) }

  // MARK: a transaction

  func begin() throws(SQLiteError) {
    quire_capture_begin(log)
    generation = interests.generation.load(ordering: .acquiring)
    if generation != interestGeneration {
      interestGeneration = generation
      records.removeAll()
      quire_capture_forget(log)
    }
    log.pointee.is_active = 1
  }

  func end() { log.pointee.is_active = 0 }

  /// Until the end of the transaction: if the events take more memory, they are forgotten, and no more are kept.
  func limit(to bytes: Int) { log.pointee.limit = bytes }
  var hasGivenUp: Bool { log.pointee.gave_up != 0 }

  var eventCount: Int { log.pointee.count }
  var indirectEventCount: Int { log.pointee.indirect }
  /// How much memory the events take.
  var size: Int { log.pointee.count * MemoryLayout<quire_event>.stride + log.pointee.used }
  /// Whether new values of events are still to be read from their rows.
  func hasBlobWrites(from start: Int) -> Bool {
    UnsafeBufferPointer(start: log.pointee.events, count: eventCount)[min(start, eventCount)...]
      .contains { $0.is_blob_write != 0 }
  }
  /// How many rows of our own tables were changed, undone ones included.
  var ownCount: Int { log.pointee.own }
  /// The highest row id of those that, since there were so many events, have been deleted or given up by each table, by its name.
  func highestDeletedKeys(from start: Int) -> [(table: String, key: Int64)] {
    let events = UnsafeBufferPointer(start: log.pointee.events, count: log.pointee.count)[min(start, eventCount)...]
    guard let first = events.firstIndex(where: Capture.isRemoval) else { return [] }
    var highest: [Int64?] = Array(repeating: nil, count: records.count)
    for event in events[first...] where Capture.isRemoval(event) {
      let table = Int(event.table)
      highest[table] = max(highest[table] ?? event.old_key, event.old_key)
    }
    return highest.indices.compactMap { index in highest[index].map { (records[index].table.name, $0) } }
  }

  /// Whether a key no longer has a row.
  private static func isRemoval(_ event: quire_event) -> Bool {
    if event.op == SQLITE_INSERT || event.is_blob_write != 0 { return false }
    return event.op != SQLITE_UPDATE || event.old_key != event.new_key
  }

  /// The error if the log is incomplete; then the transaction must not commit.
  var failure: (code: Int32, table: String?)? {
    let code = log.pointee.failure
    return code == 0 ? nil : (code, log.pointee.failed_table.map { String(cString: $0) })
  }

  // MARK: the schema

  /// Called when the schema has changed, or may have. Events already in the log keep their tables.
  func schemaDidChange() {
    shapes.removeAll()
    shadowTables = nil
    quire_capture_forget(log)
    interestGeneration = -1  // the records are made again at the next transaction
  }

  /// May run inside the preupdate hook, as what reads a table's shape.
  private func shadowTableNames() throws(SQLiteError) -> Set<String> {
    if let shadowTables { return shadowTables }
    let tables = try SchemaReader(connection).tables()
    let names = Set(tables.lazy.filter { $0.kind == .shadow }.map(\.name))
    shadowTables = names
    return names
  }

  /// Called from the hook for a name it does not know. Nil makes the transaction fail.
  private func find(_ name: String) -> UnsafeMutablePointer<quire_table>? {
    do {
      return try connection.privileged { try record(for: name).pointer }
    } catch {
      return nil
    }
  }

  private func record(for name: String) throws -> TableRecord {
    let isInternal = try isInternal(name)
    if !isReported(name, isInternal: isInternal) { return add(TableRecord(unreported: name, id: records.count)) }
    var shape = try shapes[name] ?? TableShape(name, in: connection)
    if prefersRowID { shape.preferRowID() }
    shapes[name] = shape
    if let known = records.last(where: { $0.table.name == name }), known.shape == shape { return known }
    let table: ChangedTable
    if let known = tables[name], known.shape == shape {
      table = known.table
    } else {
      table = self.known.same(shape.changedTable(isInternal: isInternal))
    }
    tables[name] = (shape, table)
    let wanted = interests.wants(table: name, columns: table.columns)
    return add(try TableRecord(shape, table, wanted: wanted, id: records.count, in: connection))
  }

  private func add(_ record: TableRecord) -> TableRecord {
    records.append(record)
    return record
  }

  /// Whether it is reported only to subscribers that request it by name: our own tables, and those in which virtual
  /// tables store their content.
  private func isInternal(_ name: String) throws(SQLiteError) -> Bool {
    if name.lowercased().hasPrefix("_quire_") { return true }
    return try shadowTableNames().contains(name)
  }

  private func isReported(_ name: String, isInternal: Bool) -> Bool {
    if name.lowercased().hasPrefix("sqlite_") { return false }
    return !isInternal || interests.names(table: name)
  }
}
