import QuireRow

// Questions about related rows, and relations followed.

extension SelectionTranslation {
  /// Rows of a scope of their own, tied to a row of `scope`.
  mutating func related(_ rows: ResolvedRows, _ scope: Int) throws -> (rows: RelatedRows, scope: Int) {
    var link: (own: ColumnPath, place: Place, other: String)?
    var rest: [Resolved] = []
    for condition in rows.conditions {
      guard case .infix("=", .column(rows.tables.alias, let other), .column(let alias, let own)) = condition,
        let place = places[alias], place.scope == scope
      else {
        rest.append(condition)
        continue
      }
      if link != nil { throw NotFollowed("\(rows.tables.table) is reached by several columns") }
      try requireRowID(place.model, own)
      link = (ColumnPath(place.steps, own), place, other)
    }
    guard let link else { throw NotFollowed("\(rows.tables.table) is not tied to a row") }
    return try related(rows.tables, from: link.own, by: link.other, rest)
  }

  /// - Parameters:
  ///   - own: The row they belong to, by its row id.
  ///   - other: The column of the first table that holds it.
  private mutating func related(
    _ tables: ResolvedTables, from own: ColumnPath, by other: String, _ conditions: [Resolved]
  ) throws -> (rows: RelatedRows, scope: Int) {
    lastScope += 1
    let scope = lastScope
    let first = try model(ofTable: tables.table)
    try requireKey(first, other)
    let relation: RowRelation
    if let join = tables.joins.first, !join.isOptional {
      guard join.conditions.count == 1,
        case .infix("=", .column(join.alias, let key), .column(tables.alias, let column)) = join.conditions[0]
      else { throw NotFollowed("it joins \(join.table)") }
      let target = try model(ofTable: join.table)
      try requireKey(first, column)
      try requireRowID(target, key)
      relation = RowRelation(
        from: own.column, to: target.table, key: key, via: .pairs(table: tables.table, own: other, other: column))
      places[join.alias] = Place(scope: scope, steps: [], model: target)
      try enter(tables, first, scope: scope, joins: 1)
    } else {
      guard let key = first.rowID else { throw NotFollowed("\(first.name) has no row id") }
      relation = RowRelation(from: own.column, to: first.table, key: key, via: .foreignKey(other))
      try enter(tables, first, scope: scope)
    }
    let condition = RowExpression.all(try self.conditions(conditions, scope))
    return (RelatedRows(relation, behind: own.steps, where: condition), scope)
  }

  mutating func aggregate(_ rows: ResolvedRows, _ scope: Int) throws -> RowExpression {
    guard case .function(let word, let arguments, false)? = rows.values.first, arguments.count == 1 else {
      throw NotFollowed("it counts different values of related rows")
    }
    let functions: [String: Aggregate.Function] = ["count": .count, "min": .minimum, "max": .maximum]
    guard let function = functions[word] else { throw NotFollowed("\(word) of related rows is rounded as it goes") }
    var (found, inner) = try related(rows, scope)
    if arguments[0] == .everything { return .countRows(found) }
    guard case .column(let alias, let name) = arguments[0] else {
      throw NotFollowed("\(word) is of what is computed of related rows")
    }
    found.value = try path(alias, name, inner)
    return .aggregate(function, found)
  }

  /// `a.key IN (SELECT b.column FROM b WHERE …)`, the SQL of following a relation: to the one row that leads here, to
  /// those that this row leads to, or through a join table.
  mutating func within(_ elements: [Resolved], _ rows: ResolvedRows, _ scope: Int) throws -> RowExpression {
    guard elements.count == 1, rows.values.count == 1, case .column(let alias, let column) = elements[0],
      case .column(rows.tables.alias, let found) = rows.values[0], let place = places[alias], place.scope == scope
    else { throw NotFollowed("it follows a relation by several columns") }
    let source = try model(ofTable: rows.tables.table)
    if source.rowID == found {
      let step = try step(place.model, column, to: source.table, found)
      try enter(rows.tables, source, scope: scope, steps: place.steps + [step])
      let isThere = RowExpression.not(.isNull(.column(ColumnPath(place.steps + [step], found))))
      return .all([isThere] + (try conditions(rows.conditions, scope)))
    }
    try requireRowID(place.model, column)
    let own = ColumnPath(place.steps, column)
    if source.rowID != nil { return .exists(try related(rows.tables, from: own, by: found, rows.conditions).rows) }
    // A join table without a row id: goes directly to the table after it.
    guard rows.tables.joins.isEmpty, rows.conditions.count == 1,
      case .within(let inner, let behind, false) = rows.conditions[0], inner.count == 1,
      case .column(rows.tables.alias, let other) = inner[0], behind.values.count == 1,
      case .column(behind.tables.alias, let key) = behind.values[0]
    else { throw NotFollowed("\(source.name) has no row id") }
    let target = try model(ofTable: behind.tables.table)
    try requireKey(source, found)
    try requireKey(source, other)
    try requireRowID(target, key)
    lastScope += 1
    let innerScope = lastScope
    try enter(behind.tables, target, scope: innerScope)
    let relation = RowRelation(
      from: own.column, to: target.table, key: key, via: .pairs(table: source.table, own: found, other: other))
    return .exists(
      RelatedRows(relation, behind: own.steps, where: .all(try conditions(behind.conditions, innerScope))))
  }
}
