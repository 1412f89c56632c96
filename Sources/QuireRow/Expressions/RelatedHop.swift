/// One hop on the path from a query's row to a row that its condition reads.
package enum RelatedHop: Hashable, Sendable {
  case one(ColumnPath.Step)
  case many(RowRelation)

  /// The table that it leads to.
  package var table: String {
    switch self {
    case .one(let step): step.table
    case .many(let relation): relation.table
    }
  }

  /// The key of that table.
  package var key: String {
    switch self {
    case .one(let step): step.key
    case .many(let relation): relation.key
    }
  }

  /// The keys of the rows of `table` from which this hop leads to one of these: one column, NULL if there is none.
  ///
  /// Each is found by an index: the foreign key's, the join table's by its other side, or the key's.
  package func statement(backFrom keys: some Sequence<Int64>, to table: String, key: String) throws(QueryError)
    -> SQLText
  {
    switch self {
    case .one(let step):
      try SelectQuery(from: table, key: key, columns: [ColumnPath(key)])
        .statement(forKeys: keys, reachedBy: [step])
    case .many(let relation):
      switch relation.via {
      case .foreignKey(let column):
        try SelectQuery(from: relation.table, key: relation.key, columns: [ColumnPath(column)])
          .statement(forKeys: keys)
      case .pairs(let pairs, let own, let other):
        try SelectQuery(from: pairs, key: other, columns: [ColumnPath(own)]).statement(forKeys: keys)
      }
    }
  }
}

/// The columns that a query reads in one table reached through a to-many relationship.
package struct RelatedColumns: Hashable, Sendable {
  /// The path from the query's row to that table.
  package var hops: [RelatedHop]
  /// The deciding columns: those of conditions, keys on the path, and the foreign key that leads back.
  package var columns: Set<String>

  package init(hops: [RelatedHop], columns: Set<String>) {
    self.hops = hops
    self.columns = columns
  }

  /// The tables on the path, including join tables.
  package var tables: [String] {
    hops.flatMap { hop in
      if case .many(let relation) = hop, case .pairs(let pairs, _, _) = relation.via {
        [hop.table, pairs]
      } else {
        [hop.table]
      }
    }
  }

  /// Everything that these conditions on related rows read, each path once.
  package static func all(of questions: [RelatedRows]) -> [RelatedColumns] {
    var found: [[RelatedHop]: Set<String>] = [:]
    for rows in questions { collect(rows, after: [], into: &found) }
    return found.map { RelatedColumns(hops: $0.key, columns: $0.value) }.sorted { "\($0.hops)" < "\($1.hops)" }
  }

  private static func collect(
    _ rows: RelatedRows, after hops: [RelatedHop], into found: inout [[RelatedHop]: Set<String>]
  ) {
    let here = hops + rows.steps.map { .one($0) } + [.many(rows.relation)]
    found[here, default: []].formUnion([])
    if case .foreignKey(let column) = rows.relation.via { found[here, default: []].insert(column) }
    for path in rows.columns {
      var place = here
      for step in path.steps {
        found[place, default: []].insert(step.foreignKey)
        place.append(.one(step))
        found[place, default: []].insert(step.key)
      }
      found[place, default: []].insert(path.column)
    }
    for inner in rows.condition.related { collect(inner, after: here, into: &found) }
  }
}
