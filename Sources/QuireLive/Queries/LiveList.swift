import Foundation
import QuireModel
import QuireRow
import QuireSQLite

/// The ordered keys of one query, kept as its rows change: what live queries of objects and of rows are made of.
///
/// Holds keys and order values only; SQLite's tables and indexes are the rest of its state. Where the query looks at
/// columns of its own table alone, a change is judged by the captured values and costs no SQL; else the changed rows
/// are asked for by key. Removals from a limited result are made good from spare rows, and from the table when those
/// are used up. Confined to its context's isolation.
final class LiveList: Participant {
  private let owner: Owner
  let select: SelectQuery
  private let order: EntryOrder
  /// What the query reads of its own table; nil when it reads others too.
  private let ownColumns: Set<String>?
  /// Steps from the table to the others it reads.
  private let paths: [[ColumnPath.Step]]
  private var interest: InterestToken?
  private var window: Window
  /// What is shown.
  private(set) var keys: [Int64] = []
  private(set) var commit: Int64
  private(set) var error: (any Error)?

  /// A prepared step: the window has taken it, what is shown has not.
  private var next: Step?
  private var needsFilling = false

  private struct Step {
    var keys: [Int64]
    var difference: KeyDifference
    var news: News
    var error: (any Error)?
  }

  /// Told of each step: before, with the result as it was, and after, with the difference.
  var willChange: (KeyDifference) -> Void = { _ in }
  var didChange: (KeyDifference, News) -> Void = { _, _ in }

  /// How many statements it has run, and how often a change was judged without one: what tests and the demo count.
  private(set) var queriesRun = 0
  private(set) var judgedInMemory = 0

  init(_ select: SelectQuery, owner: Owner) throws {
    self.owner = owner
    self.select = select
    let terms = select.totalOrder
    order = EntryOrder(ascending: terms.map(\.ascending))
    window = Window(order: order, wanted: select.limit.map { $0 + select.offset })
    let columns = select.decidingColumns
    ownColumns = columns.allSatisfy(\.steps.isEmpty) ? Set(columns.map(\.column)) : nil
    var paths: Set<[ColumnPath.Step]> = []
    for path in columns {
      for length in 0..<path.steps.count { paths.insert(Array(path.steps.prefix(length + 1))) }
    }
    self.paths = paths.sorted { $0.description < $1.description }
    commit = owner.position.number
    if let ownColumns, let store = owner.store {
      interest = store.database.addInterest(Interest(table: select.table, columns: ownColumns))
    }
    try owner.position.read { try fill(on: $0) }
    keys = shown()
    owner.participants.add(self)
  }

  func stop() { owner.participants.remove(self) }

  var tables: [String] { select.tables.sorted() }

  // MARK: Moving

  func prepare(_ news: News, on connection: Connection) -> Bool {
    do {
      return try step(news, on: connection)
    } catch {
      needsFilling = true
      next = Step(keys: keys, difference: KeyDifference(), news: news, error: error)
      return true
    }
  }

  private func step(_ news: News, on connection: Connection) throws -> Bool {
    var touched: Set<Int64>
    if needsFilling {
      try fill(on: connection)
      touched = Set(window.entries.map(\.key))
    } else {
      let rows: [Entry]
      (touched, rows) = try affected(by: news, on: connection)
      if touched.isEmpty { return false }
      window.apply(removing: touched, adding: rows)
      while let shortage = window.shortage, let frontier = window.frontier {
        window.refill(try entries(after: frontier, limit: shortage, on: connection), limit: shortage)
      }
    }
    let keys = shown()
    let difference = KeyDifference.between(self.keys, keys, touched: touched)
    if difference.isEmpty, error == nil {
      commit = news.number  // a step outside what is shown: nobody can see it
      return false
    }
    next = Step(keys: keys, difference: difference, news: news, error: nil)
    return true
  }

  private func fill(on connection: Connection) throws {
    let limit = window.capacity
    window.fill(try entries(limited(limit), on: connection), limit: limit)
    needsFilling = false
  }

  func announce() { if let next, !next.difference.isEmpty { willChange(next.difference) } }

  func apply() {
    guard let next else { return }
    keys = next.keys
    commit = next.news.number
    error = next.error
  }

  func tell() {
    guard let step = next else { return }
    next = nil
    if !step.difference.isEmpty { didChange(step.difference, step.news) }
  }

  // MARK: What a change means for the query

  /// Keys whose rows may have entered, left or moved, and those of them that belong to the result now.
  private func affected(by news: News, on connection: Connection) throws -> (Set<Int64>, [Entry]) {
    var touched: Set<Int64> = []
    var rows: [Entry] = []
    var unknown: Set<Int64> = []
    if let changes = news[select.table] {
      let columns = ownColumns.map { names in
        names.compactMap { name in changes.table.index(of: name).map { (name, $0) } }
      }
      for change in changes.rows {
        guard case .integer(let key) = change.key else { continue }
        if change.kind == .delete {
          if window.holds(key) { touched.insert(key) }
          continue
        }
        guard let columns, let new = change.new, columns.allSatisfy({ new[$0.1] != nil || $0.0 == select.key }) else {
          unknown.insert(key)
          continue
        }
        judgedInMemory += 1
        let value: (ColumnPath) -> Value = { path in
          if path.column == self.select.key { return .integer(key) }
          return changes.table.index(of: path.column).flatMap { new[$0] } ?? .null
        }
        let accepted = select.filter?.accepts(value) ?? true
        if accepted || window.holds(key) { touched.insert(key) }
        if accepted {
          rows.append(Entry(sort: select.totalOrder.map { $0.expression.evaluate(value) }, key: key))
        }
      }
    }
    for steps in paths {
      guard let table = steps.last?.table, let changes = news[table] else { continue }
      let reached = changes.rows.compactMap { if case .integer(let key) = $0.key { key } else { nil } }
      var all = select
      all.filter = nil
      all.limit = nil
      all.offset = 0
      unknown.formUnion(try keyColumn(try all.statement(forKeys: reached, reachedBy: steps), on: connection))
    }
    if !unknown.isEmpty {
      touched.formUnion(unknown)
      rows += try entries(try entryQuery.statement(forKeys: unknown.sorted()), on: connection)
    }
    return (touched, rows)
  }

  // MARK: SQL

  /// The query with its order values and key as columns.
  private var entryQuery: SelectQuery {
    var query = select
    query.columns = select.totalOrder.compactMap { if case .column(let path) = $0.expression { path } else { nil } }
    return query
  }

  private func limited(_ limit: Int?) throws -> SQLText {
    var query = entryQuery
    query.limit = limit
    query.offset = 0
    return try query.statement()
  }

  private func entries(after entry: Entry, limit: Int, on connection: Connection) throws -> [Entry] {
    var query = entryQuery
    query.limit = limit
    query.offset = 0
    var result: [Entry] = []
    for sql in try query.statements(after: entry.sort, limit: limit) where result.count < limit {
      result += try entries(sql, on: connection)
    }
    return Array(result.prefix(limit))
  }

  private func entries(_ sql: SQLText, on connection: Connection) throws -> [Entry] {
    queriesRun += 1
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    let width = Int32(order.ascending.count)
    var result: [Entry] = []
    while try statement.step() {
      let row = statement.row
      result.append(Entry(sort: (0..<width).map(row.value), key: try row.int64(width - 1)))
    }
    return result
  }

  private func keyColumn(_ sql: SQLText, on connection: Connection) throws -> [Int64] {
    queriesRun += 1
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    var result: [Int64] = []
    while try statement.step() { result.append(try statement.row.int64(0)) }
    return result
  }

  private func shown() -> [Int64] {
    let end = select.limit.map { min(window.entries.count, select.offset + $0) } ?? window.entries.count
    guard select.offset < end else { return [] }
    return window.entries[select.offset..<end].map(\.key)
  }
}
