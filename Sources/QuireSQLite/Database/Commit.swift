internal import Foundation
package import QuireRow

/// A transaction that has just been committed, seen with the write lock still held.
///
/// Valid inside the `committed` closure only: until it returns, no other thread of this process commits, so
/// ``connection`` reads exactly the state after commit ``number``.
package final class Commit {
  package let number: Int64
  /// Whether another process has committed right behind: then ``number`` is that commit's and ``connection`` shows it,
  /// while ``changes`` are of this transaction alone.
  package let isFollowed: Bool
  private let ownNumber: Int64
  package let origin: ChangeSet.Origin
  package let author: String?
  private let token: CommitToken?
  package let connection: Connection
  package let eventCount: Int
  /// Whether a trigger or a foreign key's action changed a row.
  package let hasIndirectEvents: Bool
  /// Whether tables may look different from before; a change of the schema has no row events.
  package let schemaChanged: Bool
  /// Whether more rows may have changed than ``changes`` contains, because a table was dropped.
  package let rowsUnknown: Bool
  /// See ``QuireRow/ChangeSet/alteredTables``.
  package let alteredTables: Set<String>
  /// Counts the changes of the schema, of other connections too as far as seen.
  package let schemaGeneration: Int
  /// False for a transaction without a visible change: it has the number of the previous commit.
  package let isNew: Bool
  private var capture: Capture?
  private var folded: ChangeSet?

  init(
    number: Int64, origin: ChangeSet.Origin, author: String?, token: CommitToken?, isNew: Bool, folded: [TableChanges]?,
    writer: Writer
  ) {
    self.number = number
    ownNumber = number
    isFollowed = false
    self.origin = origin
    self.author = author
    self.token = token
    self.isNew = isNew
    let altersSchema = writer.hasAlteredSchema
    let rowsUnknown = writer.hasDroppedTable
    self.rowsUnknown = rowsUnknown
    let alteredTables = writer.alteredTables
    self.alteredTables = alteredTables
    self.folded = folded.map {
      ChangeSet(
        number: number, origin: origin, author: author, token: token, tables: $0, rowsUnknown: rowsUnknown,
        alteredTables: alteredTables,
        altersSchema: altersSchema, captured: writer.capture.generation)
    }
    connection = writer.connection
    capture = writer.capture
    eventCount = writer.capture.eventCount
    hasIndirectEvents = writer.capture.indirectEventCount > 0
    schemaChanged = writer.hasAlteredSchema
    schemaGeneration = writer.schemaGeneration
  }

  /// The rows it changed, folded when first asked for.
  ///
  /// A table altered in the middle of the transaction appears once for each of its forms.
  package var changes: ChangeSet {
    if let folded { return folded }
    var tables: [TableChanges] = []
    // Only a blob write makes this read; if that fails, the row is reported without new values.
    if let capture { tables = ChangeCoalescer(capture).tables() }
    let changes = ChangeSet(
      number: ownNumber, origin: origin, author: author, token: token, tables: tables, rowsUnknown: rowsUnknown,
      alteredTables: alteredTables, altersSchema: schemaChanged, captured: capture?.generation ?? .max)
    folded = changes
    return changes
  }

  /// The same one as it stands when others have committed behind it.
  init(_ commit: Commit, shownAs number: Int64) {
    self.number = number
    ownNumber = commit.ownNumber
    isFollowed = number != commit.ownNumber
    origin = commit.origin
    author = commit.author
    token = commit.token
    isNew = commit.isNew
    connection = commit.connection
    capture = commit.capture
    folded = commit.folded
    eventCount = commit.eventCount
    hasIndirectEvents = commit.hasIndirectEvents
    schemaChanged = commit.schemaChanged
    rowsUnknown = commit.rowsUnknown
    alteredTables = commit.alteredTables
    schemaGeneration = commit.schemaGeneration
  }

  /// The log belongs to the next transaction now.
  func finish() { capture = nil }
}
