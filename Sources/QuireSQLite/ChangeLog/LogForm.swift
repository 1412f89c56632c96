internal import Foundation
internal import QuireRow

/// How the rows of one table stand in the log, and the triggers that write them there.
///
/// A row's values go into untyped columns as they are, so that every storage class stays what it is: `old_1`, `old_2` …
/// before the change, `new_1`, `new_2` … after it, in the order of ``columns``.
struct LogForm {
  /// What `_quire_forms` says of it.
  struct Definition: Equatable {
    var table: String
    var columns: [String]
    /// Names of the columns of the key.
    var key: [String]
    var identity: Identity
  }

  /// What a row is known by.
  enum Identity: Int64 {
    /// All columns of its declared key.
    case key = 0
    /// Its INTEGER PRIMARY KEY.
    case column = 1
    /// Its row id, which no column shows: it is logged as the first column.
    case rowID = 2
  }

  /// SQLite has room for 2 000 columns in a table, and a change has two of each.
  static let columnLimit = 980

  let definition: Definition
  /// False where an index over an expression is unique: what a REPLACE evicts because of it is not logged.
  let isExact: Bool
  private let shape: TableShape
  /// The columns of each unique constraint with their collations; the row id by itself is the first where it is a key.
  private let uniques: [[(column: String, collation: String?)]]
  /// Whether one of them holds for some rows only, which any column may decide.
  private let hasPartialUnique: Bool
  /// The row id by one of its names; nil for a table without.
  private let rowID: String?

  /// - Throws: ``ChangeLogError/tooManyColumns(table:count:)``.
  init(_ name: String, in connection: Connection) throws {
    let shape = try TableShape(name, in: connection)
    self.shape = shape
    let indexes = try SchemaReader(connection).indexes(of: name).filter(\.isUnique)
    let names = indexes.map { index in
      index.columns.compactMap { column in column.name.map { (column: $0, collation: String?.some(column.collation)) } }
    }
    uniques = zip(indexes, names).filter { $0.columns.count == $1.count }.map(\.1)
    isExact = uniques.count == indexes.count
    hasPartialUnique = indexes.contains(where: \.isPartial)
    var columns = shape.stored.map { shape.columns[$0].name }
    var key = shape.keys.map { shape.columns[$0].name }
    let identity: Identity
    if let column = shape.rowIDColumn {
      identity = .column
      rowID = try quoted(identifier: shape.columns[column].name)
    } else if shape.hasCompositeKey {
      identity = .key
      rowID = shape.isWithoutRowID ? nil : shape.rowIDName
    } else {
      identity = .rowID
      rowID = shape.rowIDName
      columns.insert(shape.rowIDName, at: 0)
      key = [shape.rowIDName]
    }
    if columns.count > LogForm.columnLimit {
      throw ChangeLogError.tooManyColumns(table: name, count: columns.count)
    }
    definition = Definition(table: name, columns: columns, key: key, identity: identity)
  }
}

// MARK: the triggers

extension LogForm {
  static let triggerPrefix = "_quire_log_"

  /// The triggers by name, for the form's number in `_quire_forms`.
  ///
  /// A REPLACE deletes conflicting rows without firing triggers. So a trigger before it notes the rows with a unique
  /// value of the new row, and a trigger after it, which runs only if the new row was inserted, logs those of them that
  /// are gone. Where no row is noted, another trigger logs the change alone: a statement that reads the log and writes to it
  /// makes a temporary table, which costs more than the change. Of these two one runs, in whatever order SQLite asks.
  func triggers(_ number: Int64) throws -> [(name: String, sql: String)] {
    let table = try quoted(identifier: definition.table)
    let isSame = try keeping.map { "OLD.\($0) IS NEW.\($0)" }.joined(separator: " AND ")
    let moving = try moving
    let other = try isOther
    let noted = """
      DELETE FROM _quire_replaced WHERE form = \(number); \
      INSERT INTO _quire_replaced (form, seq, \(places("old"))) \
      SELECT \(number), (SELECT ifnull(max(seq), 0) FROM _quire_changes), \(try list()) FROM \(table) WHERE
      """
    let isNoted = "EXISTS (SELECT 1 FROM _quire_replaced WHERE form = \(number))"
    let gone = try isGone(number, from: table)
    func replaced(_ condition: String) -> String {
      """
      INSERT INTO _quire_changes (form, kind, \(places("old"))) SELECT form, 'delete', \(places("old")) \
      FROM _quire_replaced AS _quire_r WHERE form = \(number) AND \(condition);
      """
    }
    let inserted =
      "INSERT INTO _quire_changes (form, kind, \(places("new"))) VALUES (\(number), 'insert', \(try list("NEW")));"
    let updated = """
      INSERT INTO _quire_changes (form, kind, \(places("old")), \(places("new"))) \
      VALUES (\(number), 'update', \(try list("OLD")), \(try list("NEW")));
      """
    let deleted =
      "INSERT INTO _quire_changes (form, kind, \(places("old"))) VALUES (\(number), 'delete', \(try list("OLD")));"
    let clashes = try conditions
    let found = clashes.map { "EXISTS (SELECT 1 FROM \(table) WHERE \($0))" }.joined(separator: " OR ")
    let foundOther = clashes.map { "EXISTS (SELECT 1 FROM \(table) WHERE \($0) AND \(other))" }
      .joined(separator: " OR ")
    let any = clashes.map { "(\($0))" }.joined(separator: " OR ")
    return try [
      ("insert_clash", "BEFORE INSERT ON \(table) WHEN \(found) BEGIN \(noted) \(any);"),
      ("insert_replaced", "AFTER INSERT ON \(table) WHEN \(isNoted) BEGIN \(replaced(gone)) \(inserted)"),
      ("insert", "AFTER INSERT ON \(table) WHEN NOT \(isNoted) BEGIN \(inserted)"),
      (
        "update_clash",
        """
        BEFORE UPDATE\(moving) ON \(table) WHEN NOT (\(isSame)) AND (\(foundOther)) \
        BEGIN \(noted) (\(any)) AND \(other);
        """
      ),
      (
        "update_replaced",
        """
        AFTER UPDATE\(moving) ON \(table) WHEN NOT (\(isSame)) AND \(isNoted) \
        BEGIN \(replaced("NOT (\(try isOld)) AND \(gone)")) \(updated)
        """
      ),
      ("update", "AFTER UPDATE ON \(table) WHEN (\(isSame)) OR NOT \(isNoted) BEGIN \(updated)"),
      ("delete", "AFTER DELETE ON \(table) BEGIN \(deleted)"),
    ].map { what, body in
      let name = "\(LogForm.triggerPrefix)\(what)_\(definition.table)"
      return (name, "CREATE TRIGGER \(try quoted(identifier: name)) \(body) END")
    }
  }

  private func places(_ side: String) -> String {
    (1...definition.columns.count).map { "\(side)_\($0)" }.joined(separator: ", ")
  }

  private func name(_ place: Int) throws -> String {
    definition.identity == .rowID && place == 0 ? shape.rowIDName : try quoted(identifier: definition.columns[place])
  }

  private func list(_ side: String? = nil) throws -> String {
    try definition.columns.indices.map { (side.map { "\($0)." } ?? "") + (try name($0)) }.joined(separator: ", ")
  }

  /// The key's columns with their places in `old_…`.
  private func keys() throws -> [(name: String, place: Int)] {
    try definition.key.compactMap { key in
      try definition.columns.firstIndex(of: key).map { (try name($0), $0 + 1) }
    }
  }

  /// Conditions for a row that has a unique value of NEW.
  private var conditions: [String] {
    get throws {
      try (rowID.map { ["\($0) = NEW.\($0)"] } ?? [])
        + uniques.map { columns in
          try columns.map { column, collation in
            let name = try quoted(identifier: column)
            let collated = try collation.map { " COLLATE \(try quoted(identifier: $0))" } ?? ""
            return "\(name) = NEW.\(name)\(collated)"
          }.joined(separator: " AND ")
        }
    }
  }

  /// The columns without a change of which an update evicts nothing.
  private var keeping: [String] {
    get throws {
      var seen: Set<String> = []
      let columns = hasPartialUnique ? shape.stored.map { shape.columns[$0].name } : uniques.joined().map(\.column)
      return try ((rowID.map { [$0] } ?? []) + columns.map { try quoted(identifier: $0) })
        .filter { seen.insert($0).inserted }
    }
  }

  /// The columns of which an update must name one to change them, as a list in a trigger: SQLite runs no part of it for an
  /// update that does not. Empty where an update of any other column may change them, too.
  private var moving: String {
    get throws {
      let generated = Set(shape.columns.filter(\.isGenerated).map { SQLName($0.name) })
      if hasPartialUnique || uniques.joined().contains(where: { generated.contains(SQLName($0.column)) }) { return "" }
      // A row id may be set by each of its names.
      let names = try (rowID == nil ? [] : TableShape.rowIDNames) + keeping
      return " OF " + names.joined(separator: ", ")
    }
  }

  /// That a row is not the one that is being updated.
  private var isOther: String {
    get throws {
      if let rowID { return "\(rowID) <> OLD.\(rowID)" }
      return "NOT (" + (try keys().map { "\($0.name) IS OLD.\($0.name)" }.joined(separator: " AND ")) + ")"
    }
  }

  /// That a noted row is the one that is being updated.
  private var isOld: String {
    get throws { try keys().map { "_quire_r.old_\($0.place) IS OLD.\($0.name)" }.joined(separator: " AND ") }
  }

  /// The noted row is no longer in the table, or another row has replaced it, and nothing has been logged since that
  /// explains it: rows stay noted until others are, or a commit is recorded, and may have been deleted in another way.
  private func isGone(_ number: Int64, from table: String) throws -> String {
    let keys = try keys()
    let hasLeft = keys.map { "_quire_c.old_\($0.place) IS _quire_r.old_\($0.place)" }.joined(separator: " AND ")
    let isReplaced = keys.map { "_quire_r.old_\($0.place) IS NEW.\($0.name)" }.joined(separator: " AND ")
    let isThere = keys.map { "\($0.name) IS _quire_r.old_\($0.place)" }.joined(separator: " AND ")
    return """
      ((\(isReplaced)) OR NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isThere))) \
      AND NOT EXISTS (SELECT 1 FROM _quire_changes AS _quire_c WHERE _quire_c.seq > _quire_r.seq \
      AND _quire_c.form = \(number) AND _quire_c.kind <> 'insert' AND \(hasLeft))
      """
  }
}
