internal import CSQLite
internal import QuireRow

/// Writes row events of the capture's log as the bytes of ``RowEvents``, without making values of them.
struct CapturedEvents {
  private let capture: Capture
  private let memory: UnsafeRawPointer
  private var tables: [RowEvents.Table] = []
  /// Their places in `tables`, by the number of the record.
  private var places: [Int: Int] = [:]
  private var events = ByteWriter()

  private init(_ capture: Capture) {
    self.capture = capture
    // Never read if there are none.
    memory = UnsafeRawPointer(capture.log.pointee.bytes) ?? UnsafeRawPointer(capture.log)
  }

  /// The bytes of the events in a range; empty if they change nothing.
  ///
  /// - Throws: ``DatabaseError/captureFailed(table:code:)`` if a table's rows are not captured whole.
  static func bytes(_ range: Range<Int>, of capture: Capture) throws(DatabaseError) -> [UInt8] {
    var captured = CapturedEvents(capture)
    for number in range { try captured.add(capture.log.pointee.events[number]) }
    if captured.tables.isEmpty { return [] }
    var writer = ByteWriter()
    writer.write(captured.tables)
    writer.raw(captured.events.bytes)
    return writer.bytes
  }

  private mutating func add(_ event: quire_event) throws(DatabaseError) {
    let record = capture.records[Int(event.table)]
    // A write into a blob has no new value in its event.
    guard let shape = record.shape, record.isComplete, event.is_blob_write == 0 else {
      throw .captureFailed(table: record.table.name, code: SQLITE_INTERNAL)
    }
    var at = event.image
    var oldKey: Int?
    if record.hasCompositeKey {
      if event.op != UInt8(SQLITE_INSERT) {
        oldKey = at + 4
        skipKey(&at)
      }
      if event.op != UInt8(SQLITE_DELETE) { skipKey(&at) }
    }
    switch Int32(event.op) {
    case SQLITE_INSERT:
      begin(.insert, record, shape)
      if !shape.isWithoutRowID { events.integer(event.new_key) }
      for isWritten in record.isWritten {
        if isWritten { put(&at) } else { skip(&at) }
      }
    case SQLITE_DELETE:
      begin(.delete, record, shape)
      putKey(event, oldKey, shape)
    default:
      for _ in record.isWritten { skip(&at) }
      let changed = changedColumns(at, record.isWritten)
      let isMoved = !shape.isWithoutRowID && event.old_key != event.new_key
      if changed.isEmpty, !isMoved { return }
      begin(isMoved ? .updateOfRowID : .update, record, shape)
      putKey(event, oldKey, shape)
      if isMoved { events.integer(event.new_key) }
      events.count(changed.count)
      for column in changed {
        var at = column.at
        events.count(column.place)
        put(&at)
      }
    }
  }

  private mutating func begin(_ kind: RowEvents.Kind, _ record: TableRecord, _ shape: TableShape) {
    let number = Int(record.pointer.pointee.id)
    if places[number] == nil {
      places[number] = tables.count
      tables.append(
        RowEvents.Table(
          name: shape.name, columnCount: record.isWritten.count(where: \.self),
          keyCount: shape.isWithoutRowID ? shape.keys.count : 0))
    }
    events.begin(kind, places[number] ?? 0)
  }

  /// Where the new values of an update begin that differ from the old ones.
  private func changedColumns(_ start: Int, _ isWritten: [Bool]) -> [(place: Int, at: Int)] {
    var at = start
    var place = 0
    var changed: [(place: Int, at: Int)] = []
    for isWritten in isWritten {
      if isWritten {
        if tag(at) != QUIRE_SAME_AS_OLD { changed.append((place, at)) }
        place += 1
      }
      skip(&at)
    }
    return changed
  }

  private mutating func putKey(_ event: quire_event, _ key: Int?, _ shape: TableShape) {
    guard shape.isWithoutRowID, var at = key else { return events.integer(event.old_key) }
    for _ in shape.keys { put(&at) }
  }
}

// MARK: The log's memory

extension CapturedEvents {
  private func tag(_ at: Int) -> Int { Int(memory.load(fromByteOffset: at, as: UInt8.self)) }
  private func length(_ at: Int) -> Int { Int(memory.loadUnaligned(fromByteOffset: at, as: UInt32.self)) }

  private func skipKey(_ at: inout Int) {
    let length = memory.loadUnaligned(fromByteOffset: at, as: UInt32.self)
    at += 4 + (length == QUIRE_SAME_KEY ? 0 : Int(length))
  }

  private func skip(_ at: inout Int) {
    switch tag(at) {
    case QUIRE_INTEGER, QUIRE_REAL, QUIRE_ROW_ID: at += 9
    case QUIRE_TEXT, QUIRE_BLOB: at += 5 + length(at + 1)
    default: at += 1
    }
  }

  private mutating func put(_ at: inout Int) {
    switch tag(at) {
    case QUIRE_INTEGER:
      events.byte(ValueTag.integer.rawValue)
      events.integer(memory.loadUnaligned(fromByteOffset: at + 1, as: Int64.self))
    case QUIRE_REAL:
      events.byte(ValueTag.real.rawValue)
      events.eight(memory.loadUnaligned(fromByteOffset: at + 1, as: UInt64.self))
    case QUIRE_TEXT, QUIRE_BLOB:
      events.byte((tag(at) == QUIRE_TEXT ? ValueTag.text : .blob).rawValue)
      events.sized(UnsafeRawBufferPointer(start: memory + at + 5, count: length(at + 1)))
    default: events.byte(ValueTag.null.rawValue)
    }
    skip(&at)
  }
}
