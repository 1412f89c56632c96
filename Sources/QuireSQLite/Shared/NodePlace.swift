package import Foundation
internal import QuireRow

/// Where a shared file stands in its log: the one row of `_quire_node`.
///
/// Written in the transaction whose effects it names, so that a node that dies at any moment is at one position or the
/// next and nowhere between.
package struct NodePlace: Hashable, Sendable {
  package var log: UUID
  /// The log's name.
  package var name: String
  /// This machine's name among the nodes.
  package var node: String
  package var position: Int64
  /// 32 bytes: see the log's chain.
  package var chain: [UInt8]

  package init(log: UUID, name: String, node: String, position: Int64, chain: [UInt8]) {
    (self.log, self.name, self.node, self.position, self.chain) = (log, name, node, position, chain)
  }

  /// What can be a position; a file or a log that says another one is damaged.
  package static let positions: Range<Int64> = 0..<(1 << 60)

  /// Nil if the file is not shared.
  ///
  /// - Throws: ``NodePlaceError`` if what is there cannot be read.
  package init?(on connection: Connection) throws {
    guard try SchemaReader(connection).hasTable("_quire_node") else { return nil }
    try self.init(sharedOn: connection)
  }

  /// Of a file that is known to be shared.
  package init(sharedOn connection: Connection) throws {
    let rows = try connection.query("SELECT format, log, name, node, position, chain FROM _quire_node").rows
    guard rows.count == 1, case .integer(let format) = rows[0][0] else { throw NodePlaceError.damaged }
    if format != NodeTables.format { throw NodePlaceError.otherFormat(format) }
    guard case .text(let log) = rows[0][1], let log = UUID(uuidString: log), case .text(let name) = rows[0][2],
      case .text(let node) = rows[0][3], case .integer(let position) = rows[0][4], case .blob(let chain) = rows[0][5],
      chain.count == 32, NodePlace.positions.contains(position)
    else { throw NodePlaceError.damaged }
    self.init(log: log, name: name, node: node, position: position, chain: Array(chain))
  }

  /// The bytes of an entry that the file keeps; nil if it does not.
  package static func entry(at position: Int64, on connection: Connection) throws -> [UInt8]? {
    let rows = try connection.query("SELECT entry FROM _quire_entries WHERE position = ?", [.integer(position)])
    if case .blob(let bytes)? = rows.first { return Array(bytes) }
    return nil
  }

  /// The entries that the file keeps, after a position.
  package static func entries(after position: Int64, on connection: Connection) throws -> [KeptEntry] {
    let rows = try connection.query(
      "SELECT position, at, node, entry FROM _quire_entries WHERE position > ? ORDER BY position", [.integer(position)]
    ).rows
    return rows.compactMap { row in
      guard case .integer(let position) = row[0], case .integer(let time) = row[1], case .text(let node) = row[2],
        case .blob(let bytes) = row[3]
      else { return nil }
      return KeptEntry(position: position, time: time, node: node, bytes: Array(bytes))
    }
  }

  /// Moves the file to a position, and keeps the entries that have led to it.
  package func write(keeping entries: [KeptEntry], on connection: Connection) throws {
    let keep = try connection.statement(
      "INSERT INTO _quire_entries (position, at, node, entry) VALUES (?, ?, ?, ?)")
    defer { keep.reset() }
    for entry in entries {
      try keep.bind(
        all: [.integer(entry.position), .integer(entry.time), .text(entry.node), .blob(Data(entry.bytes))])
      try keep.run()
    }
    try connection.execute(
      "UPDATE _quire_node SET position = ?, chain = ?", [.integer(position), .blob(Data(chain))])
    if connection.changes != 1 { throw NodePlaceError.damaged }
  }
}

/// An entry of the log, as the file keeps it.
package struct KeptEntry: Hashable, Sendable {
  package let position: Int64
  /// In milliseconds since 1970.
  package let time: Int64
  package let node: String
  package let bytes: [UInt8]

  package init(position: Int64, time: Int64, node: String, bytes: [UInt8]) {
    (self.position, self.time, self.node, self.bytes) = (position, time, node, bytes)
  }
}

/// A file that says it is shared, and does not say how in a way that this program reads.
package enum NodePlaceError: Error, Hashable, Sendable {
  case otherFormat(Int64)
  case damaged
}

extension NodePlaceError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .otherFormat(let format):
      "the file is shared in the format \(format), and this program reads \(NodeTables.format). Nothing was changed; "
        + "use the program's newer version"
    case .damaged:
      "the file's place in its shared log cannot be read. Nothing was changed; let the node join again"
    }
  }
}
