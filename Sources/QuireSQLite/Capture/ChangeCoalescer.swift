internal import CSQLite
internal import Foundation
internal import QuireRow

/// Computes net changes from a transaction's log: for each key the first old and the last new state.
///
/// Runs under the write lock, after COMMIT, and only if there are subscribers. INSERT after DELETE of a key is an
/// update, DELETE after INSERT nothing, a change of the key a deletion and an insertion. An update that left all
/// columns unchanged is dropped if all columns were decoded.
struct ChangeCoalescer {
  private let log: UnsafeMutablePointer<quire_capture>
  private let records: [TableRecord]
  private let connection: Connection

  init(_ capture: Capture) {
    log = capture.log
    records = capture.records
    connection = capture.connection
  }

  /// - Parameters:
  ///   - first: The first event that counts: what was before it is the old state.
  ///   - end: The first that does not count any more; nil for none.
  func tables(from first: Int = 0, upTo end: Int? = nil) -> [TableChanges] {
    var folds: [TableCoalescer] = []
    var places = Array(repeating: -1, count: records.count)
    let end = min(end ?? log.pointee.count, log.pointee.count)
    for number in min(first, end)..<end {
      let event = log.pointee.events[number]
      let id = Int(event.table)
      if places[id] < 0 {
        places[id] = folds.count
        folds.append(TableCoalescer(records[id], log))
      }
      folds[places[id]].add(event, number: Int32(number))
    }
    var tables: [TableChanges] = []
    for fold in folds {
      let rows = fold.rowChanges(connection)
      if !rows.isEmpty { tables.append(TableChanges(table: fold.record.table, rows: rows)) }
    }
    return tables
  }
}

/// The net changes of one table.
private struct TableCoalescer {
  let record: TableRecord
  private let log: UnsafeMutablePointer<quire_capture>
  private let memory: UnsafeRawPointer
  private var rows: [Row] = []
  /// Open addressing into `rows`, -1 for empty; has no slots while a linear search through all rows is faster.
  private var slots: [Int32] = []

  private struct Row {
    let key: Key
    /// The event whose old side is the row before the transaction; -1 if there was none.
    let before: Int32
    /// The event whose new side is the row now; -1 if it is deleted.
    var after: Int32
  }

  /// An integer, or the position of a composite key's bytes.
  private struct Key {
    let value: Int64
    let length: Int
  }

  init(_ record: TableRecord, _ log: UnsafeMutablePointer<quire_capture>) {
    self.record = record
    self.log = log
    memory = UnsafeRawPointer(log.pointee.bytes) ?? UnsafeRawPointer(log)  // never read if there are none
  }

  mutating func add(_ event: quire_event, number: Int32) {
    let (old, new) = keys(of: event)
    if event.is_blob_write != 0 {
      touch(old ?? Key(value: 0, length: 0), before: number, after: number)
    } else if let old, let new, equal(old, new) {
      touch(old, before: number, after: number)
    } else {
      if let old { touch(old, before: number, after: -1) }
      if let new { touch(new, before: -1, after: number) }
    }
  }

  private mutating func touch(_ key: Key, before: Int32, after: Int32) {
    if let index = find(key) {
      rows[index].after = after
    } else {
      insertSlot(for: key, index: rows.count)
      rows.append(Row(key: key, before: before, after: after))
    }
  }
}

// MARK: keys

extension TableCoalescer {
  private func keys(of event: quire_event) -> (old: Key?, new: Key?) {
    let hasOld = event.op != UInt8(SQLITE_INSERT)
    let hasNew = event.op != UInt8(SQLITE_DELETE)
    guard record.hasCompositeKey else {
      return (
        hasOld ? Key(value: event.old_key, length: 0) : nil, hasNew ? Key(value: event.new_key, length: 0) : nil
      )
    }
    var at = event.image
    var old: Key?
    if hasOld {
      old = Key(value: Int64(at + 4), length: Int(length(at)))
      at += 4 + Int(length(at))
    }
    guard hasNew else { return (old, nil) }
    let size = length(at)
    return (old, size == QUIRE_SAME_KEY ? old : Key(value: Int64(at + 4), length: Int(size)))
  }

  private func length(_ at: Int) -> UInt32 {
    memory.loadUnaligned(fromByteOffset: at, as: UInt32.self)
  }

  private func bytes(_ key: Key) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: memory + Int(key.value), count: key.length)
  }

  private func equal(_ a: Key, _ b: Key) -> Bool {
    guard record.hasCompositeKey else { return a.value == b.value }
    guard a.length == b.length else { return false }
    return a.value == b.value || memcmp(memory + Int(a.value), memory + Int(b.value), a.length) == 0
  }

  private func hash(_ key: Key) -> Int {
    guard record.hasCompositeKey else {
      let mixed = UInt64(bitPattern: key.value) &* 0x9E37_79B9_7F4A_7C15
      return Int(truncatingIfNeeded: mixed ^ (mixed >> 32))
    }
    var hash = ByteHash()
    hash.add(bytes(key))
    return Int(truncatingIfNeeded: hash.value ^ (hash.value >> 32))
  }

  private func find(_ key: Key) -> Int? {
    if slots.isEmpty { return rows.firstIndex { equal($0.key, key) } }
    var slot = hash(key) & (slots.count - 1)
    while slots[slot] >= 0 {
      if equal(rows[Int(slots[slot])].key, key) { return Int(slots[slot]) }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private mutating func insertSlot(for key: Key, index: Int) {
    if index < 8 { return }
    if index * 2 >= slots.count {
      slots = Array(repeating: -1, count: max(slots.count * 4, 64))
      for known in rows.indices { place(rows[known].key, known) }
    }
    place(key, index)
  }

  private mutating func place(_ key: Key, _ index: Int) {
    var slot = hash(key) & (slots.count - 1)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = Int32(index)
  }
}

// MARK: rows

extension TableCoalescer {
  func rowChanges(_ connection: Connection) -> [RowChange] {
    var changes: [RowChange] = []
    changes.reserveCapacity(rows.count)
    for row in rows {
      if row.before < 0 && row.after < 0 { continue }
      let kind: RowChange.Kind = row.before < 0 ? .insert : row.after < 0 ? .delete : .update
      let (old, new, isChanged) = images(row, connection)
      if kind == .update, record.isComplete, !(isChanged ?? (old != new)) { continue }
      changes.append(RowChange(key: rowKey(row.key), kind: kind, old: old, new: new))
    }
    return changes
  }

  private func rowKey(_ key: Key) -> RowKey {
    guard record.hasCompositeKey else { return .integer(key.value) }
    var at = Int(key.value)
    return .composite((0..<Int(record.pointer.pointee.key_count)).map { _ in value(&at) })
  }

  private typealias Images = (old: RowChange.RowValues?, new: RowChange.RowValues?, isChanged: Bool?)

  /// - Returns: Both sides of the row, and whether they differ, if that is known without a comparison.
  private func images(_ row: Row, _ connection: Connection) -> Images {
    if record.decoded.isEmpty {
      return (row.before < 0 ? nil : RowChange.RowValues([]), row.after < 0 ? nil : RowChange.RowValues([]), nil)
    }
    if row.after >= 0 {
      let event = log.pointee.events[Int(row.after)]
      if event.is_blob_write != 0 {
        let new = try? record.currentValues(rowID: event.old_key, in: connection)
        return (oldValues(of: row), image { _, place in new?[place] }, nil)
      }
      if row.after == row.before { return values(of: event) }
      return (oldValues(of: row), values(of: event).new, nil)
    }
    return (oldValues(of: row), nil, nil)
  }

  private func oldValues(of row: Row) -> RowChange.RowValues? {
    row.before < 0 ? nil : values(of: log.pointee.events[Int(row.before)]).old
  }

  /// Both sides of one event; a new value equal to the old one is the same object, and the log tells which these are.
  private func values(of event: quire_event) -> Images {
    var at = event.image
    if record.hasCompositeKey {
      let hasBoth = event.op == UInt8(SQLITE_UPDATE)
      for _ in 0..<(hasBoth ? 2 : 1) {
        let size = length(at)
        at += 4 + (size == QUIRE_SAME_KEY ? 0 : Int(size))
      }
    }
    let old = event.op == UInt8(SQLITE_INSERT) ? nil : image { _, _ in value(&at) }
    guard event.op != UInt8(SQLITE_DELETE) else { return (old, nil, nil) }
    var isChanged = false
    let new = image { column, _ in
      if tag(at) == UInt8(QUIRE_SAME_AS_OLD), let old {
        at += 1
        return old[column]
      }
      isChanged = true
      return value(&at)
    }
    return (old, new, isChanged)
  }

  /// One side of a row: the values of the decoded columns, which are asked for in their order, and nil for the others.
  private func image(_ value: (_ column: Int, _ place: Int) -> Value?) -> RowChange.RowValues {
    let count = record.table.columns.count
    var values: [Value?] = []
    values.reserveCapacity(count)
    for (place, column) in record.decoded.enumerated() {
      while values.count < column { values.append(nil) }
      values.append(value(column, place))
    }
    while values.count < count { values.append(nil) }
    return RowChange.RowValues(values)
  }

  private func tag(_ at: Int) -> UInt8 { memory.load(fromByteOffset: at, as: UInt8.self) }

  private func skip(_ at: inout Int) {
    switch Int(tag(at)) {
    case QUIRE_INTEGER, QUIRE_REAL, QUIRE_ROW_ID: at += 9
    case QUIRE_TEXT, QUIRE_BLOB: at += 5 + Int(length(at + 1))
    default: at += 1
    }
  }

  private func value(_ at: inout Int) -> Value {
    let start = at
    skip(&at)
    switch Int(tag(start)) {
    case QUIRE_INTEGER: return .integer(memory.loadUnaligned(fromByteOffset: start + 1, as: Int64.self))
    case QUIRE_REAL: return .real(memory.loadUnaligned(fromByteOffset: start + 1, as: Double.self))
    case QUIRE_TEXT:
      let text = UnsafeRawBufferPointer(start: memory + start + 5, count: at - start - 5)
      if let string = text.withMemoryRebound(to: UInt8.self, { String(utf8: $0) }) { return .text(string) }
      return .malformedText(Data(text))
    case QUIRE_BLOB:
      return .blob(Data(UnsafeRawBufferPointer(start: memory + start + 5, count: at - start - 5)))
    default: return .null
    }
  }
}
