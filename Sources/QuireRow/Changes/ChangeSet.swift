/// Everything one commit changed, as rows.
///
/// Net changes: a row changed several times in the transaction appears once, from its first old to its last new state.
/// Changes undone by a savepoint or a failed statement, and rows that end as they began, do not appear.
package struct ChangeSet: Sendable {
  /// Counts the commits that this store sees, including those of other processes, from 1; it is not stored, and
  /// restarts when the store is opened. 0 for an earlier commit, read from the change log.
  package let number: Int64
  package let origin: Origin
  /// The author's name, if the writer gave one: a context's `author`, or an `author:` of SQL.
  package let author: String?
  /// Its position in the file's change log, to continue from later; nil if the file has none.
  package let token: CommitToken?
  /// In the order in which the transaction first changed them.
  package var tables: [TableChanges]

  /// Whether more may have changed than `tables` contains: another process committed, and the changed rows are unknown, or
  /// a table was dropped.
  /// Derived state must then be compared with the state after ``number``.
  package let rowsUnknown: Bool

  /// Tables that were dropped or altered, by their folded names: their rows may have changed beyond `tables`, and derived
  /// state that reads them must be compared. If this is not empty, ``rowsUnknown`` concerns these tables alone.
  package let alteredTables: Set<String>

  /// Whether tables, views or indexes may have changed; the effect on rows is not included. True for every commit of
  /// another process, of which only the rows of users' tables may be known.
  package let altersSchema: Bool

  /// The generation of the requests for columns that its transaction knew: what was requested later is not in `tables`.
  /// Rows of a change log are whole.
  package let captured: Int

  package init(
    number: Int64, origin: Origin, author: String? = nil, token: CommitToken? = nil, tables: [TableChanges],
    rowsUnknown: Bool = false, alteredTables: Set<String> = [], altersSchema: Bool = false, captured: Int = .max
  ) {
    self.number = number
    self.origin = origin
    self.author = author
    self.token = token
    self.tables = tables
    self.rowsUnknown = rowsUnknown
    self.alteredTables = alteredTables
    self.altersSchema = altersSchema
    self.captured = captured
  }

  package typealias Origin = CommitOrigin

  package subscript(table name: String) -> TableChanges? { tables.first { $0.table.name == name } }
}

/// The source of a commit.
@nonexhaustive
public enum CommitOrigin: Hashable, Sendable {
  /// A model context of this process, by its number.
  case context(UInt64)
  /// SQL run on the container.
  case sql
  /// Another process, or another container on the same file.
  case otherProcess
  /// Another machine that has the same shared store, by its name.
  case node(String)
}

extension CommitOrigin {
  /// Whether it was not made through this container.
  package var isElsewhere: Bool {
    switch self {
    case .otherProcess, .node: true
    case .context, .sql: false
    }
  }
}

/// The changed rows of one table.
public struct TableChanges: Sendable {
  /// The table.
  public let table: ChangedTable
  /// Its changed rows, in the order in which the transaction first changed them.
  public var rows: [RowChange]

  package init(table: ChangedTable, rows: [RowChange]) {
    self.table = table
    self.rows = rows
  }
}

/// The table of a change: its name, columns and key. All changes of the table share one object.
public final class ChangedTable: Hashable, Sendable {
  /// The table's name.
  public let name: String
  /// All columns that have a value in a change, in table order: VIRTUAL generated columns are left out.
  public let columns: [String]
  /// Positions in `columns` of the declared primary key; empty if the row id is the key.
  public let keyColumns: [Int]
  /// Whether it contains no rows of the user: a table of Quire, or one that belongs to a full-text index.
  package let isInternal: Bool

  package init(name: String, columns: [String], keyColumns: [Int], isInternal: Bool = false) {
    self.name = name
    self.columns = columns
    self.keyColumns = keyColumns
    self.isInternal = isInternal
  }

  package func index(of column: String) -> Int? { columns.firstIndex(of: column) }
  public static func == (a: ChangedTable, b: ChangedTable) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The identity of a row: its INTEGER PRIMARY KEY (or row id if none is declared), otherwise all columns of its key.
public enum RowKey: Hashable, Sendable {
  /// An INTEGER PRIMARY KEY, or the row id.
  case integer(Int64)
  /// The columns of the declared key, in its order.
  case composite([SQLValue])
}

/// One row before and after a commit.
public struct RowChange: Hashable, Sendable {
  /// The row's key.
  public let key: RowKey
  /// The kind of change.
  public let kind: Kind
  /// The row before; nil for an insert. Has the captured columns: see ``RowValues``.
  public let old: RowValues?
  /// The row after; nil for a delete.
  public let new: RowValues?

  /// The kind of change of a row.
  public enum Kind: Hashable, Sendable {
    /// The row is new.
    case insert
    /// Its values have changed.
    case update
    /// The row is deleted.
    case delete
  }

  package init(key: RowKey, kind: Kind, old: RowValues?, new: RowValues?) {
    self.key = key
    self.kind = kind
    self.old = old
    self.new = new
  }

  /// Whether an update certainly left these columns unchanged: both sides have them. Compared in place, without copies.
  package func isUnchanged(in columns: [Int]) -> Bool {
    guard kind == .update, let old, let new else { return false }
    return old.values.withUnsafeBufferPointer { old in
      new.values.withUnsafeBufferPointer { new in
        for column in columns {
          guard column < old.count, column < new.count, old[column] != nil, old[column] == new[column] else {
            return false
          }
        }
        return true
      }
    }
  }

  /// Values by position in ``ChangedTable/columns``.
  ///
  /// A column that no subscriber had requested when the transaction began was not captured and is absent, which is
  /// different from NULL.
  public struct RowValues: Hashable, Sendable {
    /// By position; nil for a column that was not captured.
    public var values: [SQLValue?]
    package init(_ values: [SQLValue?]) { self.values = values }
    /// The value of a column; nil if it was not captured.
    @inlinable public subscript(column: Int) -> SQLValue? { column < values.count ? values[column] : nil }
  }
}
