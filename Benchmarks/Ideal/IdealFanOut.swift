import CSQLite

/// `fan-out` as one would write it by hand: a raw write, the hook's new row looked up in a dictionary of observers by
/// key.
@MainActor final class IdealFanOut: Variant {
  private let plan: FanOutPlan
  private let database: RawDatabase
  private let update: RawStatement
  private let capture: IdealRowCapture
  private var observers: [Int64: (BookRow) -> Void] = [:]
  private var told: [BookRow] = []

  init(_ stage: Stage) throws {
    plan = FanOutPlan(rows: stage.rows, hits: true)
    database = try RawDatabase(try stage.file(), .quire)
    update = try database.prepare(RawUpdate.sql)
    capture = IdealRowCapture(database)
    for key in plan.observed { observers[key] = { [unowned self] in told.append($0) } }
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    var checksum = Checksum()
    for (place, key) in plan.written.enumerated() {
      told.removeAll(keepingCapacity: true)
      try await meter.sampleUntilQuiet {
        update.bind(1, key)
        update.bind(2, plan.rating(place, round: number))
        try update.run()
        for row in capture.rows { observers[row.id]?(row) }
        capture.rows.removeAll(keepingCapacity: true)
      }
      meter.wake(told.count)
      for row in told { checksum.add(told: row.id, row.rating) }
    }
    return checksum
  }

  func close() {
    observers = [:]
    update.finalize()
    database.close()
  }
}

/// The rows of `book` as they are after each update, from the preupdate hook.
final class IdealRowCapture {
  var rows: [BookRow] = []

  init(_ database: RawDatabase) {
    sqlite3_preupdate_hook(
      database.handle,
      { context, handle, _, _, _, _, key in
        let capture = Unmanaged<IdealRowCapture>.fromOpaque(context!).takeUnretainedValue()
        func value(_ column: Int32) -> OpaquePointer? {
          var value: OpaquePointer?
          sqlite3_preupdate_new(handle, column, &value)
          return value
        }
        let title = value(1)
        let text = UnsafeBufferPointer(start: sqlite3_value_text(title), count: Int(sqlite3_value_bytes(title)))
        capture.rows.append(
          BookRow(
            id: key, title: String(decoding: text, as: UTF8.self), authorID: sqlite3_value_int64(value(2)),
            year: Int(sqlite3_value_int64(value(3))), rating: sqlite3_value_double(value(4)),
            isAvailable: sqlite3_value_int64(value(5)) != 0))
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}

extension Checksum {
  mutating func add(told id: Int64, _ rating: Double) {
    add(id)
    add(rating.bitPattern)
  }
}
