internal import Foundation
internal import QuireRow

/// One logged commit, or consecutive commits of programs that write no records.
struct LoggedSet {
  var origin: ChangeSet.Origin = .otherProcess
  var author: String?
  /// Its number where the store that asks has committed it, else 0.
  var number: Int64 = 0
  var tables: [TableChanges]
  /// The last change of it, and its record.
  var end: LogEnd
  /// Whether more may have changed than is logged.
  var rowsUnknown: Bool
  /// When it was committed, and by which process; nil where there is no record of it.
  var time: String?
  var process: String?

  /// The last change of it.
  var place: Int64 { end.place }

  func changeSet(_ number: Int64, in log: UUID) -> ChangeSet {
    ChangeSet(
      number: number, origin: origin, author: author, token: end.token(in: log), tables: tables,
      rowsUnknown: rowsUnknown)
  }
}

extension LoggedSet {
  /// Whether another machine has committed it.
  var isOfOtherNode: Bool { if case .node = origin { true } else { false } }

  func made(by origin: ChangeSet.Origin) -> LoggedSet {
    var set = self
    set.origin = origin
    return set
  }

  /// For tests: the set as seen by a reader that overlooks deleted rows.
  var withoutDeletes: LoggedSet {
    var set = self
    for place in set.tables.indices { set.tables[place].rows.removeAll { $0.kind == .delete } }
    return set
  }
}

/// Reads the log, in order, on a connection that shows one commit.
struct LogReader {
  let connection: Connection
  /// What distinguishes the records of the store that asks.
  let process: String?
  /// This machine's name, if the file is shared.
  let node: String?
  let forms: LogForms

  init(connection: Connection, process: String?, forms: LogForms) throws {
    (self.connection, self.process, self.forms) = (connection, process, forms)
    node = try NodePlace(on: connection)?.node
  }

  private struct Record {
    let first, last: Int64
    let author: String?
    let origin: String
    let process: String
    let number: Int64
    let time: String
  }

  /// The sets after a place up to another; with a limit, as many as it takes for that many changes.
  ///
  /// A run of changes without a record is never cut: it may be one transaction.
  func sets(
    after place: Int64, upTo end: Int64 = .max, atMost limit: Int = .max
  ) throws -> (sets: [LoggedSet], isEnd: Bool) {
    let records = try connection.prepare(
      "SELECT first, seq, author, origin, process, number, at FROM _quire_commits WHERE seq > ? ORDER BY seq")
    records.bind(place, at: 1)
    let changes = try connection.prepare("SELECT * FROM _quire_changes WHERE seq > ? AND seq <= ? ORDER BY seq")
    changes.bind(place, at: 1)
    changes.bind(end, at: 2)
    var result: [LoggedSet] = []
    var open = OpenSet(forms)
    var count = 0
    var record = try next(records)
    var isInRecord = false
    while try changes.step() {
      var row = changes.row
      let seq = try row.int64(0)
      if let first = record?.first, seq >= first, !isInRecord {
        if let run = open.close(nil, self) { result.append(run) }
        if count >= limit {
          records.reset()
          changes.reset()
          return (result, false)
        }
        isInRecord = true
      }
      try open.add(&row, seq)
      count += 1
      if let closing = record, seq == closing.last {
        if let set = open.close(closing, self) { result.append(set) }
        record = try next(records)
        isInRecord = false
      }
    }
    records.reset()
    changes.reset()
    if let run = open.close(nil, self) { result.append(run) }
    return (result, true)
  }

  private func next(_ records: Statement) throws -> Record? {
    guard try records.step() else { return nil }
    let row = records.row
    return Record(
      first: try row.int64(0), last: try row.int64(1), author: row.isNull(2) ? nil : try row.text(2),
      origin: try row.text(3), process: try row.text(4), number: try row.int64(5),
      time: try row.text(6))
  }

  /// The changes of a set as they come in.
  private struct OpenSet {
    private let forms: LogForms
    private var order: [Int64] = []
    private var folds: [Int64: RowFold] = [:]
    private var place: Int64 = 0
    private var rowsUnknown = false

    init(_ forms: LogForms) { self.forms = forms }

    mutating func add(_ row: inout RowCursor, _ seq: Int64) throws {
      place = seq
      guard case .integer(let number) = row.value(1), let form = forms.forms[number] else {
        rowsUnknown = true  // a gap, or an unreadable row
        return
      }
      if !form.isExact { rowsUnknown = true }
      if folds[number] == nil { order.append(number) }
      for change in form.changes(&row) { folds[number, default: RowFold()].add(change) }
    }

    mutating func close(_ record: Record?, _ reader: LogReader) -> LoggedSet? {
      defer { self = OpenSet(forms) }
      if place == 0 { return nil }
      let tables = order.compactMap { number -> TableChanges? in
        guard let form = forms.forms[number], let fold = folds[number] else { return nil }
        let rows = fold.rows.filter { $0.kind != .update || $0.old != $0.new }
        return rows.isEmpty ? nil : TableChanges(table: form.table, rows: rows)
      }
      let commit = record.map { LogEnd.commit($0.number, by: $0.process) }
      var set = LoggedSet(tables: tables, end: LogEnd(place: place, commit: commit), rowsUnknown: rowsUnknown)
      guard let record else { return set }
      set.author = record.author
      set.time = record.time
      set.process = record.process
      if record.process == reader.process {
        set.number = record.number
        set.origin = LogReader.origin(record.origin)
      } else if let node = LogReader.node(record.origin), node != reader.node {
        set.origin = .node(node)
      }
      return set
    }
  }

  /// The origin of a commit of the store that asks.
  private static func origin(_ text: String) -> ChangeSet.Origin {
    let words = text.split(separator: " ")
    guard words.count >= 2, words[0] == "context", let number = UInt64(words[1]) else { return .sql }
    return .context(number)
  }

  /// The machine on which it was committed; nil if the file was not shared then.
  private static func node(_ text: String) -> String? {
    let words = text.split(separator: " ")
    return words.count > 2 && words[words.count - 2] == "on" ? String(words[words.count - 1]) : nil
  }
}

/// The forms of a log, ready to be read by.
struct LogForms {
  struct Form {
    let table: ChangedTable
    let identity: LogForm.Identity
    let isExact: Bool
    /// How many values a side has in the log.
    let width: Int
  }
  var forms: [Int64: Form] = [:]

  init(_ connection: Connection, _ known: ChangedTables) throws {
    let tables = LogTables(connection)
    let inexact = try tables.inexactForms()
    for (number, definition) in try tables.definitions() {
      let columns = definition.identity == .rowID ? Array(definition.columns.dropFirst()) : definition.columns
      let keys = definition.identity == .rowID ? [] : definition.key.compactMap { columns.firstIndex(of: $0) }
      // Another program may have written to the log: a row without its key cannot be reported.
      let isReadable = definition.identity == .rowID ? !definition.columns.isEmpty : !keys.isEmpty
      guard isReadable, keys.count == definition.key.count || definition.identity == .rowID else { continue }
      let table = known.same(ChangedTable(name: definition.table, columns: columns, keyColumns: keys))
      forms[number] = Form(
        table: table, identity: definition.identity, isExact: !inexact.contains(number),
        width: definition.columns.count)
    }
  }
}

extension LogForms.Form {
  /// A logged change as one of rows: two where the key changed, none where it cannot be one.
  func changes(_ row: inout RowCursor) -> [RowChange] {
    func side(_ offset: Int32) -> (key: RowKey, image: RowChange.RowValues)? {
      var values = (0..<Int32(width)).map { row.value(3 + 2 * $0 + offset) }
      switch identity {
      case .key: return (.composite(table.keyColumns.map { values[$0] }), RowChange.RowValues(values))
      case .column, .rowID:
        let place = identity == .rowID ? 0 : table.keyColumns.first ?? 0
        guard case .integer(let key) = values[place] else { return nil }
        if identity == .rowID { values.removeFirst() }
        return (.integer(key), RowChange.RowValues(values))
      }
    }
    let kind = row.value(2)
    let old = kind == "insert" ? nil : side(0)
    let new = kind == "delete" ? nil : side(1)
    switch (old, new) {
    case (let old?, let new?) where old.key == new.key:
      return [RowChange(key: old.key, kind: .update, old: old.image, new: new.image)]
    default:
      return (old.map { [RowChange(key: $0.key, kind: .delete, old: $0.image, new: nil)] } ?? [])
        + (new.map { [RowChange(key: $0.key, kind: .insert, old: nil, new: $0.image)] } ?? [])
    }
  }
}
