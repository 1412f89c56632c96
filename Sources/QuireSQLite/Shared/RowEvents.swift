package import QuireRow

/// The row events of one transaction, in order, as other nodes repeat them: every row by its key, with what an insert and
/// an update have written into it.
///
/// Nothing in it is computed again: values from defaults, triggers and cascades are events like any others.
///
/// Bytes: the number of tables; for each its name, how many columns are written and how many make up its key (0: the row
/// id); then the events to the end. An event is `table * 4 + kind`, followed by
///
///     0, insert    the row id, unless the table has none; the values of all columns
///     1, update    the key; the number of changed columns; for each its place and its value
///     2, delete    the key
///     3, update that also changes the row id: as 1, with the new row id behind the key
package struct RowEvents: Hashable, Sendable {
  package var tables: [Table]
  package var events: [Event]

  package struct Table: Hashable, Sendable {
    package var name: String
    /// How many columns have a value of their own: neither generated nor the row id.
    package var columnCount: Int
    /// How many columns make up the key of a table without row ids; 0 for the others.
    package var keyCount: Int

    package init(name: String, columnCount: Int, keyCount: Int) {
      (self.name, self.columnCount, self.keyCount) = (name, columnCount, keyCount)
    }
  }

  package struct Event: Hashable, Sendable {
    /// The place in ``RowEvents/tables``.
    package var table: Int
    package var change: Change
    package init(table: Int, _ change: Change) { (self.table, self.change) = (table, change) }
  }

  package enum Change: Hashable, Sendable {
    /// The row id is nil in a table that has none.
    case insert(rowID: Int64?, values: [Value])
    case update(RowKey, newRowID: Int64?, columns: [Column])
    case delete(RowKey)
  }

  /// A column that was written, by its place among those that have a value of their own.
  package struct Column: Hashable, Sendable {
    package var place: Int
    package var value: Value
    package init(place: Int, value: Value) { (self.place, self.value) = (place, value) }
  }

  package init(tables: [Table], events: [Event]) { (self.tables, self.events) = (tables, events) }

  /// The row id of the last row that was inserted into a table; nil if there is none.
  func lastInsertedKey(in name: String) -> Int64? {
    guard let table = tables.firstIndex(where: { $0.name == name }) else { return nil }
    for event in events.reversed() where event.table == table {
      if case .insert(let rowID, _) = event.change { return rowID }
    }
    return nil
  }

  enum Kind: UInt64 {
    case insert, update, delete, updateOfRowID
  }
}

// MARK: Bytes

extension RowEvents {
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(tables)
    for event in events {
      switch event.change {
      case .insert(let rowID, let values):
        writer.begin(.insert, event.table)
        if let rowID { writer.integer(rowID) }
        for value in values { writer.value(value) }
      case .update(let key, let newRowID, let columns):
        writer.begin(newRowID == nil ? .update : .updateOfRowID, event.table)
        writer.key(key)
        if let newRowID { writer.integer(newRowID) }
        writer.count(columns.count)
        for column in columns {
          writer.count(column.place)
          writer.value(column.value)
        }
      case .delete(let key):
        writer.begin(.delete, event.table)
        writer.key(key)
      }
    }
    return writer.bytes
  }

  package init(_ bytes: [UInt8]) throws(MalformedBytes) {
    var reader = ByteReader(bytes)
    tables = []
    for _ in 0..<(try reader.count()) {
      tables.append(Table(name: try reader.text(), columnCount: try reader.small(), keyCount: try reader.small()))
    }
    events = []
    while !reader.isAtEnd { events.append(try Event(&reader, tables)) }
  }
}

extension RowEvents.Event {
  fileprivate init(_ reader: inout ByteReader, _ tables: [RowEvents.Table]) throws(MalformedBytes) {
    let head = try reader.number()
    guard let number = Int(exactly: head >> 2), tables.indices.contains(number),
      let kind = RowEvents.Kind(rawValue: head & 3)
    else { throw reader.failure("an event is of an unknown table") }
    table = number
    let table = tables[number]
    switch kind {
    case .insert:
      let rowID = table.keyCount == 0 ? try reader.integer() : nil
      change = .insert(rowID: rowID, values: try reader.values(table.columnCount))
    case .update, .updateOfRowID:
      let key = try reader.key(of: table)
      if kind == .updateOfRowID, table.keyCount > 0 { throw reader.failure("a table has no row ids") }
      let newRowID = kind == .updateOfRowID ? try reader.integer() : nil
      var columns: [RowEvents.Column] = []
      for _ in 0..<(try reader.count()) {
        let place = try reader.small()
        guard place < table.columnCount, place > columns.last?.place ?? -1 else {
          throw reader.failure("an update is of an unknown column")
        }
        columns.append(RowEvents.Column(place: place, value: try reader.value()))
      }
      if columns.isEmpty, newRowID == nil { throw reader.failure("an update changes nothing") }
      change = .update(key, newRowID: newRowID, columns: columns)
    case .delete: change = .delete(try reader.key(of: table))
    }
  }
}

extension ByteWriter {
  mutating func write(_ tables: [RowEvents.Table]) {
    count(tables.count)
    for table in tables {
      text(table.name)
      count(table.columnCount)
      count(table.keyCount)
    }
  }

  mutating func begin(_ kind: RowEvents.Kind, _ table: Int) { number(UInt64(table) << 2 | kind.rawValue) }

  fileprivate mutating func key(_ key: RowKey) {
    switch key {
    case .integer(let number): integer(number)
    case .composite(let values): for value in values { self.value(value) }
    }
  }
}

extension ByteReader {
  /// SQLite has room for 32 767 columns at most.
  fileprivate mutating func small() throws(MalformedBytes) -> Int {
    let number = try number()
    guard number <= 32_767 else { throw failure("there are too many columns") }
    return Int(number)
  }

  fileprivate mutating func values(_ count: Int) throws(MalformedBytes) -> [Value] {
    var values: [Value] = []
    for _ in 0..<count { values.append(try value()) }
    return values
  }

  fileprivate mutating func key(of table: RowEvents.Table) throws(MalformedBytes) -> RowKey {
    table.keyCount == 0 ? .integer(try integer()) : .composite(try values(table.keyCount))
  }
}
