import QuireRow

// insert Book { … }   Book where … set …   delete Book where …

extension Resolver {
  func insert(
    _ name: Name, _ values: [ModelQuery.Assignment]
  ) throws(ShellFailure) -> (ResolvedWrite, place: Int) {
    let place = try model(name)
    try requireWritable(place, name.range)
    let (columns, resolved) = try assigned(values, start: nil, place)
    return (.insert(table: models[place].table, columns: columns, values: resolved), place)
  }

  func update(_ query: ModelQuery) throws(ShellFailure) -> (ResolvedWrite, place: Int) {
    let found = try rows(of: query, "set")
    let (columns, values) = try assigned(query.assignments, start: found.row, found.row.model)
    return (.update(rows: found.rows, keys: found.keys, columns: columns, values: values), found.row.model)
  }

  func delete(_ query: ModelQuery) throws(ShellFailure) -> (ResolvedWrite, place: Int) {
    if let place = query.setPlace { throw ShellFailure("delete sets nothing", at: place) }
    let found = try rows(of: query, "delete")
    return (.delete(rows: found.rows, keys: found.keys), found.row.model)
  }

  private func rows(of query: ModelQuery, _ word: String) throws(ShellFailure) -> (
    rows: ResolvedRows, keys: [String]?, row: Scope.Position
  ) {
    if let order = query.order.first {
      throw ShellFailure("\(word) takes all rows of a condition, in no order", at: order.value.range)
    }
    if let limit = query.limit ?? query.offset ?? query.selected.first?.value ?? query.groups.first ?? query.having {
      throw ShellFailure("\(word) takes all rows of a condition, and nothing but one", at: limit.range)
    }
    let start = try source(query)
    try requireWritable(start.position.model, query.source.range)
    var conditions = start.conditions
    if let filter = query.filter { conditions.append(try value(filter, start.position)) }
    let tables = start.position.scope.tables
    let rows = ResolvedRows(tables: tables, values: [], conditions: conditions)
    if tables.joins.isEmpty { return (rows, nil, start.position) }
    let model = models[start.position.model]
    if model.keyColumns.isEmpty {
      throw ShellFailure("\(model.name) has no key to find its rows by", at: query.source.range)
    }
    return (rows, model.keyColumns, start.position)
  }

  private func requireWritable(_ place: Int, _ range: Range<Int>) throws(ShellFailure) {
    if models[place].isWritable { return }
    throw ShellFailure("\(models[place].name) is a view, and can only be read", at: range, .refused)
  }

  /// Columns and their new values; a relation to one row stands for its own columns.
  private func assigned(
    _ assignments: [ModelQuery.Assignment], start: Scope.Position?, _ place: Int
  ) throws(ShellFailure) -> (columns: [String], values: [Resolved]) {
    var columns: [String] = []
    var values: [Resolved] = []
    for assignment in assignments {
      let name = assignment.name
      let (own, found) = try self.assignment(assignment, start, place)
      for column in own where columns.contains(column) {
        throw ShellFailure("\(name.text) was given more than once", at: name.range)
      }
      columns += own
      values += found
    }
    return (columns, values)
  }

  private func assignment(
    _ assignment: ModelQuery.Assignment, _ start: Scope.Position?, _ place: Int
  ) throws(ShellFailure) -> (columns: [String], values: [Resolved]) {
    let name = assignment.name
    let model = models[place]
    if let relation = model.relation(named: name.text) {
      if relation.ownColumns.isEmpty {
        throw ShellFailure(
          "\(name.text) is kept by \(models[relation.target].name), and is set there", at: name.range)
      }
      if case .row(let target, let key) = assignment.value.kind {
        return (relation.ownColumns, try rowValues(target, key, for: relation, name, assignment.value.range))
      }
      if case .literal(.text) = assignment.value.kind, model.column(named: name.text) == nil {
        try refuseText(relation, name, at: assignment.value.range) { target, _ in
          "a row is named by its key: \(target.name) 2"
        }
      }
      if case .literal(.null) = assignment.value.kind, relation.ownColumns.count == 1 || !relation.isColumn(name) {
        return (relation.ownColumns, relation.ownColumns.map { _ in .value(.null) })
      }
      if relation.ownColumns.count == 1, model.column(named: name.text) == nil {
        return (relation.ownColumns, [try constant(assignment.value, start)])
      }
    }
    guard let column = model.column(named: name.text) else { throw unknown(name, of: place) }
    if column.isGenerated {
      throw ShellFailure("\(name.text) is computed from other columns, and cannot be set", at: name.range)
    }
    return ([column.column], [try constant(assignment.value, start)])
  }

  /// A value that reads at most columns of the row itself.
  private func constant(_ syntax: Syntax, _ start: Scope.Position?) throws(ShellFailure) -> Resolved {
    guard let start else {
      // A row that is not there yet has nothing to read: an empty model makes every name unknown.
      if let name = syntax.firstName {
        throw ShellFailure("a new row has no \(name.text) to read", at: name.range, hint: "text stands in quotes")
      }
      let scope = Scope(table: "nothing", aliases)
      return try value(syntax, Scope.Position(scope: scope, alias: scope.tables.alias, model: 0))
    }
    let before = start.scope.tables.joins.count
    let result = try operand(syntax, start)
    if start.scope.tables.joins.count > before {
      throw ShellFailure("a value that is set can read columns of the row itself only", at: syntax.range)
    }
    return result
  }
}

extension ModelQuery.Source {
  var range: Range<Int> {
    switch self {
    case .model(let name, _): name.range
    case .kept(_, let range): range
    }
  }
}

extension Syntax {
  /// The first column or relation it names.
  var firstName: Name? {
    switch kind {
    case .path(let names): names.first
    case .row: nil
    default: kind.parts.lazy.compactMap(\.firstName).first
    }
  }
}
