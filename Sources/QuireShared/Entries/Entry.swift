package import Foundation
package import QuireSQLite

/// What stands at one position of a shared log: one to 64 transactions of one node.
///
/// Bytes: format and kind (four bits each), 16 bytes of the chain before it, the node's name; then each transaction: 16
/// bytes of identity, milliseconds since 1970, the author (a number: 0 for none, else its length and one), and the row
/// events behind their length.
package struct Entry: Hashable, Sendable {
  package var kind: Kind
  /// The first 16 bytes of the chain before it: a log of another history shows here.
  package var mark: [UInt8]
  /// The node that appended it.
  package var node: String
  package var transactions: [Transaction]

  package enum Kind: UInt8, Hashable, Sendable {
    /// Rows that were inserted, updated and deleted.
    case rows
    /// The same in bytes beside the log, because they are too many: the rows of the first transaction are an ``EntryParts``,
    /// and those of the others are empty.
    case parts
    /// No rows: each node says what its file contains here.
    case check
    /// A change of the schema: the rows of the one transaction are a ``QuireSQLite/SharedMigration``.
    case migration
    /// The same in bytes beside the log, as of ``parts``.
    case largeMigration
  }

  package struct Transaction: Hashable, Sendable {
    package var id: UUID
    /// When it was made, in milliseconds since 1970, by the clock of its node.
    package var time: Int64
    package var author: String?
    /// As ``QuireSQLite/RowEvents`` reads them.
    package var rows: [UInt8]

    package init(id: UUID, time: Int64, author: String?, rows: [UInt8]) {
      (self.id, self.time, self.author, self.rows) = (id, time, author, rows)
    }

    /// A new one, made now.
    init(author: String? = nil, rows: [UInt8]) {
      self.init(id: UUID(), time: Int64(Date().timeIntervalSince1970 * 1000), author: author, rows: rows)
    }
  }

  package static let format: UInt8 = 1
  package static let transactionLimit = 64

  package init(_ kind: Kind = .rows, after chain: Chain, node: String, _ transactions: [Transaction]) {
    self.kind = kind
    mark = chain.mark
    self.node = node
    self.transactions = transactions
  }
}

extension Entry {
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(Entry.format << 4 | kind.rawValue)
    writer.raw(mark)
    writer.text(node)
    for transaction in transactions {
      writer.raw(transaction.id.bytes)
      writer.integer(transaction.time)
      if let author = transaction.author {
        writer.count(author.utf8.count + 1)
        writer.raw(author.utf8)
      } else {
        writer.count(0)
      }
      writer.sized(transaction.rows)
    }
    return writer.bytes
  }

  /// - Throws: For bytes that are not an entry, or of a later form. The row events are not looked at.
  package init(_ bytes: [UInt8]) throws(EntryError) {
    guard let first = bytes.first else { throw .malformed(MalformedBytes(what: "there are none", place: 0)) }
    if first >> 4 != Entry.format { throw .otherFormat(first >> 4) }
    guard let kind = Kind(rawValue: first & 0xf) else { throw .unknownKind(first & 0xf) }
    do throws(MalformedBytes) {
      var reader = ByteReader(bytes)
      _ = try reader.byte()
      self.kind = kind
      mark = Array(try reader.raw(Chain.markLength))
      node = try reader.text()
      transactions = []
      repeat {
        if transactions.count == Entry.transactionLimit { throw reader.failure("there are too many transactions") }
        transactions.append(try Transaction(&reader))
      } while !reader.isAtEnd
    } catch {
      throw .malformed(error)
    }
  }
}

extension Entry.Transaction {
  fileprivate init(_ reader: inout ByteReader) throws(MalformedBytes) {
    guard let id = UUID(bytes: Array(try reader.raw(UUID.length))) else {
      throw reader.failure("an identity is too short")
    }
    self.id = id
    time = try reader.integer()
    let length = try reader.count()
    if length > 0 {
      guard let author = String(validating: try reader.raw(length - 1), as: UTF8.self) else {
        throw reader.failure("an author is not UTF-8")
      }
      self.author = author
    }
    rows = Array(try reader.sized())
  }
}

/// Bytes in a log that are not an entry that this program reads.
package enum EntryError: Error, Hashable, Sendable {
  /// Of another version of the program.
  case otherFormat(UInt8)
  case unknownKind(UInt8)
  case malformed(MalformedBytes)
}

extension EntryError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .otherFormat(let format): "the entry has the format \(format), and this program reads \(Entry.format)"
    case .unknownKind(let kind): "the entry is of the kind \(kind), which this program does not know"
    case .malformed(let error): "the entry's bytes are damaged: \(error)"
    }
  }
}
