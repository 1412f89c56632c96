internal import QuireRow

/// What a shared file contains at one position, as hashes of its rows: equal on two nodes if their rows are, to the byte.
package struct FileContents: Hashable, Sendable {
  package var tables: [Table]

  package struct Table: Hashable, Sendable {
    package var name: String
    package var rowCount: Int
    /// In the order of the keys.
    package var sections: [Section]
  }

  /// Some rows of a table that follow one another.
  package struct Section: Hashable, Sendable {
    /// The key of the last one, for people.
    package var last: String
    /// Of these rows and all before them.
    package var hash: UInt64
  }

  /// The highest keys of tables with AUTOINCREMENT.
  fileprivate static let sequences = "sqlite_sequence"

  /// Reads every row that nodes share.
  package init(of connection: Connection) throws {
    let internals = try NodeTables.sharedInternals(of: connection).names
    let names = try SchemaReader(connection).tables()
      .filter { $0.kind == .table && (!$0.isReserved || $0.name == FileContents.sequences) }.map(\.name)
    tables = try (names + internals).sorted().map { try Table(named: $0, on: connection) }
  }

  /// The first difference, for people; nil if there is none.
  package func difference(from other: FileContents) -> String? {
    for (mine, theirs) in zip(tables, other.tables) where mine != theirs {
      if mine.name != theirs.name { return "the tables \(mine.name) and \(theirs.name)" }
      let place = zip(mine.sections, theirs.sections).enumerated().first { $1.0.hash != $1.1.hash }?.offset
      let counts = mine.rowCount == theirs.rowCount ? "" : " (\(mine.rowCount) rows and \(theirs.rowCount))"
      guard let place else { return "the table \(mine.name)\(counts)" }
      let after = place == 0 ? "" : " behind the key \(mine.sections[place - 1].last),"
      return "the table \(mine.name)\(counts),\(after) up to the key \(mine.sections[place].last)"
    }
    if tables.count != other.tables.count { return "the number of tables, \(tables.count) and \(other.tables.count)" }
    return nil
  }

  // MARK: As bytes

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.count(tables.count)
    for table in tables {
      writer.text(table.name)
      writer.count(table.rowCount)
      writer.count(table.sections.count)
      for section in table.sections {
        writer.text(section.last)
        writer.eight(section.hash)
      }
    }
    return writer.bytes
  }

  package init(_ bytes: [UInt8]) throws(MalformedBytes) {
    var reader = ByteReader(bytes)
    tables = []
    for _ in 0..<(try reader.count()) {
      var table = Table(name: try reader.text(), rowCount: Int(clamping: try reader.number()), sections: [])
      for _ in 0..<(try reader.count()) {
        table.sections.append(Section(last: try reader.text(), hash: try reader.eight()))
      }
      tables.append(table)
    }
  }
}

extension FileContents.Table {
  /// How many sections a large table has.
  private static let sectionCount = 200

  fileprivate init(named name: String, on connection: Connection) throws {
    let table = "main.\(try quoted(identifier: name))"
    let shape = try TableShape(name, in: connection)
    let count = try connection.rows("SELECT count(*) FROM \(table)").first?[0]
    guard case .integer(let count)? = count else { throw ReplayError.otherTable(name) }
    let size = max(100, Int(count) / FileContents.Table.sectionCount)
    // A sequence has a row id of its own on each node.
    let keys =
      try name == FileContents.sequences
      ? ["name"]
      : shape.isWithoutRowID
        ? shape.keys.map { try quoted(identifier: shape.columns[$0].name) }
        : [quoted(identifier: shape.rowIDColumn.map { shape.columns[$0].name } ?? shape.rowIDName)]
    let columns = try shape.stored.map { try quoted(identifier: shape.columns[$0].name) }
    let statement = try connection.prepare(
      "SELECT \((keys + columns).joined(separator: ", ")) FROM \(table) ORDER BY \(keys.joined(separator: ", "))")
    self.init(name: name, rowCount: Int(count), sections: [])
    var (hash, number) = (ByteHash(), 0)
    while try statement.step() {
      let row = statement.row
      let values = (0..<row.count).map(row.value)
      var bytes = ByteWriter()
      for value in values { bytes.value(value) }
      hash.add(bytes.bytes)
      number += 1
      guard number % size == 0 || number == rowCount else { continue }
      let last = values.prefix(keys.count).map { "\($0)" }.joined(separator: ", ")
      sections.append(FileContents.Section(last: last, hash: hash.value))
    }
  }
}
