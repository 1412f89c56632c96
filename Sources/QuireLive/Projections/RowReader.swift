import QuireModel
import QuireRow
import QuireSQLite

/// How rows are read: the selected columns, and how they are decoded.
struct RowForm<Row> {
  let expressions: [RowExpression]
  /// The index of the key among them.
  let keyPlace: Int32
  /// Compares to the byte; `==` considers two spellings of a text equal.
  let areIdentical: (Row, Row) -> Bool
  let read: (inout RowCursor) throws -> Row
}

extension RowForm where Row: Projection {
  init(_ projection: ProjectionQuery<Row>) {
    self.init(
      expressions: projection.expressions, keyPlace: projection.keyPlace,
      areIdentical: ProjectionComparison<Row>().areIdentical
    ) { row in
      do throws(ValueError) {
        return try Row._quireRow(&row, projection.origin)
      } catch {
        throw projection.undecodable(row, error)
      }
    }
  }
}

/// Reads rows by key, each with the keys on its paths, in one statement: there is one text for a single key and one for
/// all sets of keys.
final class RowReader<Row> {
  let form: RowForm<Row>
  private let table: String
  private let sql: SQLText
  private let sqlForOne: SQLText
  private let ends: Int
  /// The number of statements it has run.
  private(set) var queriesRun = 0

  /// The rows that were read.
  struct Rows {
    fileprivate let table: String
    fileprivate var byKey: [Int64: Row] = [:]
    fileprivate(set) var ends: [Int64: [Int64?]] = [:]

    /// Nil if the row was not requested.
    func find(_ key: Int64) -> Row? { byKey[key] }

    /// Adds a row that was known before.
    mutating func add(_ row: Row, _ key: Int64) { byKey[key] = row }

    /// Removes a row that is not shown yet.
    mutating func take(_ key: Int64) -> Row? { byKey.removeValue(forKey: key) }

    /// - Throws: If there is no such row. Keys from the same commit always have one.
    func row(_ key: Int64) throws -> Row {
      guard let row = byKey[key] else { throw ModelError.query("row \(key) of \(table) is not there to be shown") }
      return row
    }
  }

  init(_ form: RowForm<Row>, _ select: SelectQuery, ends: [ColumnPath]) throws {
    self.form = form
    table = select.table
    self.ends = ends.count
    let expressions = form.expressions + ends.map { .column($0) }
    let query = SelectQuery(from: select.table, key: select.key, columns: [], expressions: expressions)
    sql = try query.statement(forKeys: [])
    sqlForOne = try query.statement(forKey: 0)
  }

  func rows(_ keys: [Int64], on connection: Connection) throws -> Rows {
    var rows = Rows(table: table)
    if keys.isEmpty { return rows }
    queriesRun += 1
    rows.byKey.reserveCapacity(keys.count)
    let sql = keys.count == 1 ? sqlForOne : sql
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    // The keys are bound last: the query has neither filter nor order.
    try statement.bind(
      all: sql.bindings.dropLast() + [keys.count == 1 ? .integer(keys[0]) : .text(KeyList.json(keys))])
    let width = Int32(form.expressions.count)
    while try statement.step() {
      var cursor = statement.row
      let key = try cursor.int64(form.keyPlace)
      rows.byKey[key] = try form.read(&cursor)
      if ends > 0 {
        rows.ends[key] = (0..<Int32(ends)).map { column in
          if case .integer(let end) = cursor.value(width + column) { end } else { nil }
        }
      }
    }
    return rows
  }
}
