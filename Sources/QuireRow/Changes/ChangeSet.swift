/// Everything one commit changed, as rows.
///
/// Folded: a row touched many times in the transaction appears once, from its first old to its last new state; what
/// was undone by a savepoint or a failed statement, or ended as it began, does not appear.
package struct ChangeSet: Sendable {
  /// Counts this store's commits from 1 in order, those of other processes among them; the number lives in memory and
  /// begins again when it is opened. 0 for one from before that, told from the change log.
  package let number: Int64
  package let origin: Origin
  /// Who says to have written, where the writer has said so: a context's `author`, an `author:` of SQL.
  package let author: String?
  /// Its place in the file's change log, from which to go on later; nil where the file keeps none.
  package let token: CommitToken?
  /// In the order in which the transaction first touched them.
  package var tables: [TableChanges]

  /// Whether more may have changed than `tables` says: another process committed, and which rows is not known. Who
  /// holds anything derived from rows compares it with the state after ``number``.
  package let rowsUnknown: Bool

  /// Whether tables, views or indexes may be others than before; what that does to rows is not told. Said of every
  /// commit of another process, of which besides the rows of users' tables nothing is known.
  package let altersSchema: Bool

  package init(
    number: Int64, origin: Origin, author: String? = nil, token: CommitToken? = nil, tables: [TableChanges],
    rowsUnknown: Bool = false, altersSchema: Bool = false
  ) {
    self.number = number
    self.origin = origin
    self.author = author
    self.token = token
    self.tables = tables
    self.rowsUnknown = rowsUnknown
    self.altersSchema = altersSchema
  }

  package typealias Origin = CommitOrigin

  package subscript(table name: String) -> TableChanges? { tables.first { $0.table.name == name } }
}

/// What made a commit.
public enum CommitOrigin: Hashable, Sendable {
  /// A model context of this process, by its number.
  case context(UInt64)
  /// SQL run on the container.
  case sql
  /// Another process, or another container on the same file.
  case otherProcess
}

/// The changed rows of one table.
public struct TableChanges: Sendable {
  /// The table.
  public let table: ChangedTable
  /// Its changed rows, in the order in which the transaction first touched them.
  public var rows: [RowChange]

  package init(table: ChangedTable, rows: [RowChange]) {
    self.table = table
    self.rows = rows
  }
}

/// The table of a change: its name, its columns and its key. All changes of the table share one.
public final class ChangedTable: Hashable, Sendable {
  /// The table's name.
  public let name: String
  /// All columns that have a value in a change, in table order: VIRTUAL generated columns are left out.
  public let columns: [String]
  /// Positions in `columns` of the declared primary key; empty where the row id is the key.
  public let keyColumns: [Int]
  /// Whether it holds no rows of the user's: a table of Quire's own, or one behind a full-text index.
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

/// What a row is known by: its INTEGER PRIMARY KEY (or row id where none is declared), else all columns of its key.
public enum RowKey: Hashable, Sendable {
  /// An INTEGER PRIMARY KEY, or the row id.
  case integer(Int64)
  /// The columns of the declared key, in its order.
  case composite([SQLValue])
}

/// One row, before and after a commit.
public struct RowChange: Hashable, Sendable {
  /// Which row.
  public let key: RowKey
  /// What was done to it.
  public let kind: Kind
  /// The row before; nil for an insert. Has the columns that were asked for: see ``RowValues``.
  public let old: RowValues?
  /// The row after, nil for a delete.
  public let new: RowValues?

  /// What a commit did to a row.
  public enum Kind: Hashable, Sendable {
    /// The row is new.
    case insert
    /// It has other values.
    case update
    /// It is gone.
    case delete
  }

  package init(key: RowKey, kind: Kind, old: RowValues?, new: RowValues?) {
    self.key = key
    self.kind = kind
    self.old = old
    self.new = new
  }

  /// Values by position in ``ChangedTable/columns``.
  ///
  /// A column that no subscriber had asked for when the transaction began was not decoded and is absent, which is
  /// another thing than NULL.
  public struct RowValues: Hashable, Sendable {
    /// By position; nil for a column that was not captured.
    public var values: [SQLValue?]
    package init(_ values: [SQLValue?]) { self.values = values }
    /// The value of a column; nil if it was not captured.
    public subscript(column: Int) -> SQLValue? { column < values.count ? values[column] : nil }
  }
}
