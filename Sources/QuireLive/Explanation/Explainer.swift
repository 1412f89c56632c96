import QuireModel
import QuireRow
import QuireSQLite

/// What a live result of a query would run, and what its changes would cost, derived from the query and the file's
/// indexes without running the query.
struct Explainer {
  let select: SelectQuery
  let columns: QueryColumns
  let connection: Connection

  private typealias Statement = LiveExplanation.Statement
  private typealias Cost = LiveExplanation.Cost

  // MARK: Lists

  func list(waking filters: [ChangeFilter]) throws -> LiveExplanation {
    if select.isRanked {
      return LiveExplanation(
        rerunning: shownRows, because: "the rank of a row depends on the words of all rows", wakes: wakes(filters),
        statement: try Statement(.again, select.entryQuery.statement(), on: connection))
    }
    return LiveExplanation(
      "\(shownRows)", columns.isOwn ? .incremental : .requerying, because: listReasons, wakes: wakes(filters),
      costs: listCosts, statements: try listStatements())
  }

  /// - Parameters:
  ///   - name: The projection's name; nil if it has none.
  ///   - fields: What its rows are read from.
  func rows(_ name: String?, _ fields: AffectedRows, reading row: [RowExpression], waking filters: [ChangeFilter])
    throws
    -> LiveExplanation
  {
    let reader = SelectQuery(
      from: select.table, key: select.key, columns: [], expressions: row + fields.ends.map { .column($0) })
    let read = fields.columns.reached.compactMap { $0.steps.last?.table }
    var costs = listCosts.map { Cost(table: $0.table, statements: $0.statements + 1, words: $0.words + rowsRead) }
    for table in Set(read).sorted() where !costs.contains(where: { $0.table == table }) {
      costs.append(Cost(table: table, statements: 1, words: "the rows that show it are read by key"))
    }
    for related in fields.columns.related {
      guard let table = related.hops.last?.table, !costs.contains(where: { $0.table == table }) else { continue }
      costs.append(
        Cost(
          table: table, statements: Self.statements(backAlong: related) + 1,
          words: "the rows it belongs to are read by key"))
    }
    return LiveExplanation(
      name.map { "\(shownRows) as \($0)" } ?? shownRows, .requerying,
      because: listReasons + ["rows that changed are read by key"],
      wakes: wakes(filters, reaching: fields.columns), costs: costs,
      statements: try listStatements() + [Statement(.changed, reader.statement(forKeys: []), on: connection)])
  }

  private var rowsRead: String { ", then its rows are read by key" }

  /// As in the statements, a negative limit means no limit.
  private var limit: Int? { select.limit.flatMap { $0 < 0 ? nil : $0 } }

  private var shownRows: String {
    guard let limit else {
      return select.offset > 0
        ? "rows of \(select.table) after the first \(select.offset)" : "all rows of \(select.table)"
    }
    return select.offset > 0
      ? "\(limit) rows of \(select.table) after the first \(select.offset)"
      : "the first \(limit) rows of \(select.table)"
  }

  private var listReasons: [String] {
    let reason =
      columns.isOwn
      ? "filter and order read \(select.table) alone: a change is judged by its values"
      : others.isEmpty
        ? "filter or order are SQLite's to judge: rows that changed are asked for by key"
        : "filter or order read \(others) too: rows that a change concerns are asked for by key"
    guard limit != nil else { return [reason] }
    return [reason, "look-ahead rows are kept: removals that use them up cause a refill"]
  }

  /// The other tables the query reads.
  private var others: String {
    Set(columns.reached.compactMap { $0.steps.last?.table } + columns.related.compactMap { $0.hops.last?.table })
      .sorted().joined(separator: " and ")
  }

  private var listCosts: [LiveExplanation.Cost] {
    var costs = [
      columns.isOwn
        ? Cost(table: select.table, statements: 0, words: "it is judged by its values")
        : Cost(table: select.table, statements: 1, words: "the rows that changed, by key")
    ]
    func add(_ table: String, _ statements: Int) {
      if costs.contains(where: { $0.table == table && $0.statements >= statements }) { return }
      costs.removeAll { $0.table == table }
      costs.append(Cost(table: table, statements: statements, words: "the rows that refer to it, and those by key"))
    }
    for (steps, _) in columns.reached { if let table = steps.last?.table { add(table, 2) } }
    for related in columns.related { if let table = related.hops.last?.table { add(table, related.hops.count + 1) } }
    return costs
  }

  private func listStatements() throws -> [LiveExplanation.Statement] {
    let offset = max(0, select.offset)
    let entries = select.entryQuery
    let window = Window(order: EntryOrder(ascending: []), wanted: limit.map { $0 + offset })
    var start = entries
    (start.limit, start.offset) = (window.capacity, 0)
    var statements = [try Statement(.start, start.statement(), on: connection) { _ in try entriesIndex() }]
    if limit != nil {
      // Any position to continue from: the statement's text and its plan are the same for all values that are not NULL.
      let place = select.totalOrder.map { _ in Value.integer(0) }
      for sql in try entries.statements(after: place, limit: 1) {
        statements.append(try Statement(.refill, sql, on: connection) { _ in try entriesIndex() })
      }
    }
    if columns.isOwn { return statements }
    statements.append(try Statement(.changed, entries.statement(forKeys: []), on: connection, help: referenceIndex))
    return statements + (try referring())
  }

  private func entriesIndex() throws -> String? { try IndexAdvice.index(for: select) }

  /// From a row of another table back to the query's rows.
  private func referring() throws -> [LiveExplanation.Statement] {
    let keys = SelectQuery(from: select.table, key: select.key, columns: [ColumnPath(select.key)])
    var statements: [LiveExplanation.Statement] = []
    for (steps, _) in columns.reached {
      statements.append(
        try Statement(
          .referring, keys.statement(forKeys: [], reachedBy: steps), on: connection, help: referenceIndex))
    }
    for related in columns.related {
      for (place, hop) in related.hops.enumerated() {
        let before = place == 0 ? nil : related.hops[place - 1]
        let sql = try hop.statement(
          backFrom: [], to: before?.table ?? select.table, key: before?.key ?? select.key)
        if statements.contains(where: { $0.sql == sql.text }) { continue }
        statements.append(try Statement(.referring, sql, on: connection, help: referenceIndex))
      }
    }
    return statements
  }

  /// The reference, among those the query follows, by which to search a table that would otherwise be scanned.
  private func referenceIndex(_ scans: [String]) throws -> String? {
    for (steps, _) in columns.reached {
      for (place, step) in steps.enumerated() {
        let table = place == 0 ? select.table : steps[place - 1].table
        if scans.contains(table) { return try IndexAdvice.index(on: table, by: step.foreignKey) }
      }
    }
    for case .many(let relation) in columns.related.flatMap(\.hops) {
      switch relation.via {
      case .foreignKey(let column):
        if scans.contains(relation.table) { return try IndexAdvice.index(on: relation.table, by: column) }
      case .pairs(let table, _, let other):
        if scans.contains(table) { return try IndexAdvice.index(on: table, by: other) }
      }
    }
    return nil
  }

  // MARK: Values

  func aggregates(_ tracker: AggregateTracker, waking filters: [ChangeFilter]) throws -> LiveExplanation {
    let extremes = tracker.aggregates.compactMap { tracker.extremesQuery($0, of: 0) }
    var reasons = [
      columns.isOwn
        ? "filter and values are read from \(select.table) alone: a change is judged by its values"
        : others.isEmpty
          ? "the filter is SQLite's to judge: rows that changed are asked for by key"
          : "it reads \(others) too: rows that a change concerns are asked for by key, as they were and as they are"
    ]
    if tracker.needsMembers { reasons.append("the keys of all rows that count are held: they tell which counted") }
    if !extremes.isEmpty { reasons.append("when the least or greatest value goes, the next ones are looked up") }
    var statements = [try Statement(.start, tracker.start(), on: connection, help: filterIndex)]
    if !columns.isOwn {
      statements.append(try Statement(.changed, select.statement(forKeys: []), on: connection, help: referenceIndex))
      statements += try referring()
    }
    for query in extremes {
      statements.append(
        try Statement(.extreme, query.statement(), on: connection) { _ in try IndexAdvice.index(for: query) })
    }
    return LiveExplanation(
      Self.subject(tracker), columns.isOwn && extremes.isEmpty ? .incremental : .requerying, because: reasons,
      wakes: wakes(filters), costs: aggregateCosts(tracker, hasExtremes: !extremes.isEmpty), statements: statements)
  }

  private func aggregateCosts(_ tracker: AggregateTracker, hasExtremes: Bool) -> [LiveExplanation.Cost] {
    let words =
      "rows are taken away and added by their values"
      + (hasExtremes ? "; a look-up when the least or greatest values that are known are gone" : "")
    if columns.isOwn { return [Cost(table: select.table, statements: 0, words: words)] }
    // Before and after: each path's rows as they were, and all together as they are.
    let paths = tracker.needsValues ? columns.reached.count : 0
    let own = tracker.needsValues ? 1 : 0
    var costs = [Cost(table: select.table, statements: 1 + paths, words: words)]
    func add(_ table: String, _ statements: Int) {
      if costs.contains(where: { $0.table == table && $0.statements >= statements }) { return }
      costs.removeAll { $0.table == table }
      costs.append(Cost(table: table, statements: statements, words: words))
    }
    for table in Set(columns.reached.compactMap { $0.steps.last?.table }).sorted() { add(table, 1 + own + paths) }
    for related in columns.related {
      if let table = related.hops.last?.table { add(table, Self.statements(backAlong: related) + 1 + own + paths) }
    }
    return costs
  }

  /// How many statements find the rows that a changed row affects: one fewer if the path ends with its own foreign key.
  private static func statements(backAlong related: RelatedColumns) -> Int {
    guard case .many(let relation)? = related.hops.last, case .foreignKey = relation.via else {
      return related.hops.count
    }
    return related.hops.count - 1
  }

  private static func subject(_ tracker: AggregateTracker) -> String {
    let words = tracker.aggregates.map { aggregate in
      switch aggregate.function {
      case .count: "the number of \(aggregate.column.map { "values of \($0)" } ?? "rows")"
      case .sum, .decimalSum: "the sum of \(aggregate.column?.description ?? "")"
      case .average, .decimalAverage: "the average of \(aggregate.column?.description ?? "")"
      case .minimum, .leastDecimal: "the least \(aggregate.column?.description ?? "")"
      case .maximum, .greatestDecimal: "the greatest \(aggregate.column?.description ?? "")"
      }
    }
    let of = "\(words.joined(separator: ", ")) of \(tracker.select.table)"
    return tracker.group.map { "\(of), by \($0)" } ?? of
  }

  /// For unordered results: the columns compared with one value, in this table or in one that is scanned.
  private func filterIndex(_ scans: [String]) throws -> String? {
    for choice in select.filter?.choices ?? [] {
      guard let table = choice.path.steps.last?.table, scans.contains(table) else { continue }
      return try IndexAdvice.index(on: table, by: choice.path.column)
    }
    var query = select
    query.order = []
    return try IndexAdvice.index(for: query)
  }

  // MARK: Waking

  /// A row's key is never updated: a row with another key is another row.
  private func keys(of table: String, in columns: QueryColumns) -> Set<String> {
    let reached = columns.reached.compactMap(\.steps.last).filter { $0.table == table }.map(\.key)
    return Set(reached + (table == select.table ? [select.key] : []))
  }

  /// One for each table, with its deciding columns.
  private func wakes(_ filters: [ChangeFilter], reaching fields: QueryColumns? = nil) -> [LiveExplanation.Wake] {
    var wakes: [LiveExplanation.Wake] = []
    for changeFilter in filters {
      let columns = changeFilter.columns?.subtracting(keys(of: changeFilter.table, in: fields ?? columns)).sorted()
      let place = wakes.firstIndex { $0.table == changeFilter.table && $0.equalities == changeFilter.equalities }
      guard let place else {
        wakes.append(.init(table: changeFilter.table, columns: columns, equalities: changeFilter.equalities))
        continue
      }
      let all = columns.flatMap { columns in wakes[place].columns.map { Set($0 + columns).sorted() } }
      wakes[place] = .init(table: changeFilter.table, columns: all, equalities: changeFilter.equalities)
    }
    return wakes
  }
}
