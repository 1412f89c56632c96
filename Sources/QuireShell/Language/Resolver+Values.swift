import QuireMigration
import QuireRow

// Values and conditions, seen from a table.

extension Resolver {
  func value(_ syntax: Syntax, _ at: Scope.Position) throws(ShellFailure) -> Resolved {
    switch syntax.kind {
    case .literal(let value): return .value(value)
    case .spelled(_, let number): return try value(number, at)
    case .parameter(let name): return .parameter(name)
    case .path(let names): return try path(names, at, mayBeText: false)
    case .everything: throw ShellFailure("* stands in count(*) and behind select", at: syntax.range)
    case .row(let name, let key):
      let resolved = try self.key(key, of: try model(name), syntax.range)
      guard resolved.count == 1 else {
        throw ShellFailure("a row with several keys is compared with a relation only", at: syntax.range)
      }
      return resolved[0]
    case .unary(let sign, let inner): return .prefix(sign, try value(inner, at))
    case .binary(let sign, let a, let b): return try binary(sign, a, b, at)
    case .chain(let first, let links):
      return .chain(try value(first, at), try operands(links, at))
    case .all(let parts): return .all(try parts.map { (part) throws(ShellFailure) in try value(part, at) })
    case .any(let parts): return .any(try parts.map { (part) throws(ShellFailure) in try value(part, at) })
    case .isNull(let inner, let isNegated): return try isNull(inner, isNegated, at)
    case .isTruth(let inner, let truth, let isNegated):
      return .isTruth(try value(inner, at), truth, isNegated: isNegated)
    case .cast(let inner, let type): return .cast(try value(inner, at), to: type)
    case .oneOf(let element, let values, let isNegated): return try oneOf(element, values, isNegated, at)
    case .between(let element, let low, let high, let isNegated):
      return .between(try value(element, at), try operand(low, at), try operand(high, at), isNegated: isNegated)
    case .match(let word, let a, let b, let isNegated):
      let (text, pattern) = (try value(a, at), try operand(b, at))
      if word == "contains" {
        let found = Resolved.infix(">", .function("instr", [text, pattern], isDistinct: false), .value(0))
        return isNegated ? .prefix("NOT", found) : found
      }
      return .match(word.uppercased(), text, pattern, isNegated: isNegated)
    case .call(let name, let arguments, let condition, let isDistinct):
      return try call(name, arguments, where: condition, isDistinct, at)
    case .choice(let branches, let otherwise):
      var parts: [Resolved] = []
      for branch in branches { parts += [try value(branch.when, at), try operand(branch.then, at)] }
      return .choice(parts, otherwise: try otherwise.map { (other) throws(ShellFailure) in try operand(other, at) })
    }
  }

  /// A value in a place where text is as likely as a name, for the hint if there is no such name.
  func operand(_ syntax: Syntax, _ at: Scope.Position) throws(ShellFailure) -> Resolved {
    switch syntax.kind {
    case .path(let names): return try path(names, at, mayBeText: true)
    case .chain(let first, let links): return .chain(try operand(first, at), try operands(links, at))
    default: return try value(syntax, at)
    }
  }

  private func operands(_ links: [Syntax.Link], _ at: Scope.Position) throws(ShellFailure) -> [Resolved.Link] {
    try links.map { (link) throws(ShellFailure) in
      Resolved.Link(sign: link.sign, value: try operand(link.value, at))
    }
  }

  // MARK: Paths

  private func path(_ names: [Name], _ at: Scope.Position, mayBeText: Bool) throws(ShellFailure) -> Resolved {
    let (last, end) = try walk(names.dropLast(), at)
    guard let name = names.last else { return .value(.null) }
    let model = models[end.model]
    if let column = model.column(named: name.text) { return .column(alias: last, column.column) }
    if let key = Self.rowID(name.text, of: model) { return .column(alias: last, key) }
    if let column = model.hiddenColumn(named: name.text) { return .column(alias: last, column) }
    guard let relation = model.relation(named: name.text) else {
      throw unknown(name, of: end.model, isAlone: names.count == 1, mayBeText: mayBeText)
    }
    if relation.isToMany { throw isList(name, names, relation) }
    if let column = relation.ownColumns.first, relation.ownColumns.count == 1 {
      if case .direct = relation.route { return .column(alias: last, column) }
    }
    let target = models[relation.target]
    guard target.keyColumns.count == 1 else {
      throw ShellFailure(
        "\(name.text) is known by several columns: compare it with a row, or name one of them", at: name.range,
        hint: "such as \(name.text).\(target.keyColumns.first ?? "…")")
    }
    let alias = end.scope.follow(relation, from: last, in: models)
    try end.scope.requireRoom(name)
    return .column(alias: alias, target.keyColumns[0])
  }

  /// Along relations to one row each.
  private func walk(_ names: ArraySlice<Name>, _ at: Scope.Position) throws(ShellFailure) -> (String, Scope.Position) {
    var position = at
    for name in names {
      let relation = try relation(name, of: position.model)
      if relation.isToMany { throw isList(name, Array(names), relation) }
      let alias = position.scope.follow(relation, from: position.alias, in: models)
      position = Scope.Position(scope: position.scope, alias: alias, model: relation.target)
      try position.scope.requireRoom(name)
    }
    return (position.alias, position)
  }

  private func isList(_ name: Name, _ names: [Name], _ relation: Relation) -> ShellFailure {
    let target = models[relation.target]
    let example = target.label?.name ?? target.columns.first?.name ?? "…"
    return ShellFailure(
      "\(name.text) is a list", at: name.range,
      hint: "use any(\(name.text) where \(example) = …) or count(\(name.text))")
  }

  private static func rowID(_ name: String, of model: FileModel) -> String? {
    guard model.kind == .table, ["rowid", "_rowid_", "oid"].contains(name.lowercased()) else { return nil }
    return name
  }

  /// The relation to one row with which a path ends, and its origin; nil if it ends in another way.
  private func toOne(_ syntax: Syntax, _ at: Scope.Position) throws(ShellFailure) -> (Relation, alias: String, Name)? {
    guard case .path(let names) = syntax.kind, let last = names.last else { return nil }
    let (alias, end) = try walk(names.dropLast(), at)
    guard let relation = models[end.model].relation(named: last.text), !relation.ownColumns.isEmpty else { return nil }
    return (relation, alias, last)
  }

  // MARK: Comparisons

  private func binary(_ sign: String, _ a: Syntax, _ b: Syntax, _ at: Scope.Position) throws(ShellFailure) -> Resolved {
    if ["=", "<>", "IS", "IS NOT"].contains(sign) {
      if case .row(let name, let key) = b.kind, let found = try toOne(a, at) {
        return try isRow(found, name, key, sign, b.range)
      }
      if case .row(let name, let key) = a.kind, let found = try toOne(b, at) {
        return try isRow(found, name, key, sign, a.range)
      }
      if case .literal(.text) = b.kind, let (relation, _, name) = try toOne(a, at) {
        try refuseText(relation, name, at: b.range) { "\(name.text).\($1.name) = …" }
      }
      // `= null` is never true in SQL, and always meant to be.
      if case .literal(.null) = b.kind { return try isNull(a, sign == "<>" || sign == "IS NOT", at) }
    }
    return .infix(sign, try value(a, at), try operand(b, at))
  }

  /// Refuses text in the place of a row that is known by an integer.
  func refuseText(
    _ relation: Relation, _ name: Name, at range: Range<Int>, hint: (FileModel, FileModel.Column) -> String
  ) throws(ShellFailure) {
    let target = models[relation.target]
    guard relation.ownColumns.count == 1, target.columns.contains(where: { $0.keyPlace > 0 && $0.isInteger }),
      let label = target.label
    else { return }
    throw ShellFailure(
      "\(name.text) is a row of \(target.name), not a text", at: range, hint: hint(target, label))
  }

  private func isRow(
    _ found: (relation: Relation, alias: String, name: Name), _ name: Name, _ key: [Syntax], _ sign: String,
    _ range: Range<Int>
  ) throws(ShellFailure) -> Resolved {
    let values = try rowValues(name, key, for: found.relation, found.name, range)
    var pairs: [Relation.Pair] = []
    if case .direct(let own) = found.relation.route { pairs = own }
    let same: Resolved
    if pairs.contains(where: { $0.converted != nil }) {
      // The row's own values say what the key is converted to.
      let table = models[found.relation.target].table
      let tables = ResolvedTables(table: table, alias: aliases.make(for: table))
      let row = ResolvedRows(
        tables: tables, values: pairs.map { .column(alias: tables.alias, $0.other) },
        conditions: zip(pairs, values).map { .infix("=", .column(alias: tables.alias, $0.other), $1) })
      same = .within(pairs.map { .own($0, of: found.alias) }, row, isNegated: false)
    } else {
      same = .all(zip(pairs, values).map { .infix("=", .own($0, of: found.alias), $1) })
    }
    return sign == "<>" || sign == "IS NOT" ? .prefix("NOT", same) : same
  }

  /// The values of a relation's own columns if it leads to that row.
  func rowValues(
    _ model: Name, _ key: [Syntax], for relation: Relation, _ name: Name, _ range: Range<Int>
  ) throws(ShellFailure) -> [Resolved] {
    let place = try self.model(model)
    guard place == relation.target else {
      throw ShellFailure(
        "\(name.text) is a row of \(models[relation.target].name), not of \(models[place].name)", at: range)
    }
    let values = try self.key(key, of: place, range)
    guard case .direct(let pairs) = relation.route, Set(pairs.map(\.other)) == Set(models[place].keyColumns) else {
      throw ShellFailure("\(name.text) is not kept by the key of \(models[place].name)", at: range)
    }
    var result: [Resolved] = []
    for pair in pairs {
      if let at = models[place].keyColumns.firstIndex(of: pair.other) { result.append(values[at]) }
    }
    return result
  }

  private func isNull(_ inner: Syntax, _ isNegated: Bool, _ at: Scope.Position) throws(ShellFailure) -> Resolved {
    if let (relation, alias, name) = try toOne(inner, at), relation.ownColumns.count > 1, !relation.isColumn(name) {
      let parts = relation.ownColumns.map { Resolved.isNull(.column(alias: alias, $0), isNegated: isNegated) }
      return isNegated ? .all(parts) : .any(parts)
    }
    return .isNull(try value(inner, at), isNegated: isNegated)
  }

  private func oneOf(
    _ element: Syntax, _ values: [Syntax], _ isNegated: Bool, _ at: Scope.Position
  ) throws(ShellFailure) -> Resolved {
    if let found = try toOne(element, at),
      found.0.ownColumns.count > 1 || found.0.isConverted && values.contains(where: \.isRow)
    {
      var parts: [Resolved] = []
      for value in values { parts.append(try binary("=", element, value, at)) }
      return isNegated ? .prefix("NOT", .any(parts)) : .any(parts)
    }
    var own = try value(element, at)
    // Rows are compared by their key's collation, other values by the column's own.
    if values.contains(where: \.isRow), let (relation, alias, _) = try toOne(element, at),
      case .direct(let pairs) = relation.route
    {
      own = .own(pairs[0], of: alias)
    }
    return .oneOf(
      own, try values.map { (value) throws(ShellFailure) in try operand(value, at) },
      isNegated: isNegated)
  }
}

extension Relation {
  /// Whether it is called like one of the columns of its key, which the name means where it is not followed.
  func isColumn(_ name: Name) -> Bool { ownColumns.contains { $0.lowercased() == name.text.lowercased() } }

  /// Whether its key is converted for the columns it leads to.
  fileprivate var isConverted: Bool {
    if case .direct(let pairs) = route { pairs.contains { $0.converted != nil } } else { false }
  }
}

extension Syntax {
  fileprivate var isRow: Bool { if case .row = kind { true } else { false } }
}

extension FileModel.Column {
  /// By SQLite's rule for what a declared type means.
  var isInteger: Bool { type.uppercased().contains("INT") }
}
