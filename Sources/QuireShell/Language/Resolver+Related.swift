import QuireMigration
import QuireRow
import QuireSQLite

// Functions, and conditions on the rows of a list:  count(tags)  any(books where …)  sum(books.price)

extension Resolver {
  func call(
    _ name: Name, _ arguments: [Syntax], where condition: Syntax?, _ isDistinct: Bool, _ at: Scope.Position
  ) throws(ShellFailure) -> Resolved {
    let word = name.text.lowercased()
    if ListWords.questions.contains(word) { return try question(name, word, arguments, condition, at) }
    if ListWords.aggregates.contains(word), arguments.count == 1, let list = try list(arguments[0], at) {
      return try aggregate(name, word, list, condition, isDistinct)
    }
    if let condition {
      throw ShellFailure("where in \(word)(…) needs a list, and this is not one", at: condition.range)
    }
    guard SQLiteFunctions.names.contains(word) else {
      let near =
        OtherShells.functions[word]
        ?? nearest(
          to: word, among: SQLiteFunctions.names.union(ListWords.questions).union(ListWords.aggregates).sorted())
      throw ShellFailure(
        "there is no function \(name.text)", at: name.range, hint: near.map { "did you mean \($0)?" })
    }
    var values: [Resolved] = []
    for argument in arguments {
      if case .everything = argument.kind, word == "count", arguments.count == 1 {
        values.append(.everything)
      } else {
        values.append(try value(argument, at))
      }
    }
    return .function(word, values, isDistinct: isDistinct)
  }

  /// A path that leads through a list, followed to its end.
  private struct List {
    let scope: Scope
    let position: Scope.Position
    /// The column after the last relation.
    let column: Name?
    let name: Name
  }

  /// Nil if the path does not lead through a list.
  private func list(_ syntax: Syntax, _ at: Scope.Position) throws(ShellFailure) -> List? {
    guard case .path(let names) = syntax.kind else { return nil }
    var position = at
    var inner: Scope?
    var last = names[0]
    for (place, name) in names.enumerated() {
      let isEnd = place == names.count - 1
      guard let relation = models[position.model].relation(named: name.text),
        !(isEnd && !relation.isToMany && inner == nil)
      else {
        guard let inner else {
          // A column, or an unknown name, which is reported when it is looked up as a value.
          return nil
        }
        if !isEnd { _ = try self.relation(name, of: position.model) }
        return List(scope: inner, position: position, column: name, name: last)
      }
      if isEnd, !relation.isToMany, models[position.model].column(named: name.text) != nil, let inner {
        return List(scope: inner, position: position, column: name, name: last)
      }
      last = name
      try (inner ?? position.scope).requireRoom(name)
      if let scope = inner {
        let alias =
          relation.isToMany
          ? scope.join(relation, from: position.alias, in: models, isOptional: false)
          : scope.follow(relation, from: position.alias, in: models)
        position = Scope.Position(scope: scope, alias: alias, model: relation.target)
      } else if relation.isToMany {
        let (scope, alias) = enter(relation, from: position)
        inner = scope
        position = Scope.Position(scope: scope, alias: alias, model: relation.target)
      } else {
        let alias = position.scope.follow(relation, from: position.alias, in: models)
        position = Scope.Position(scope: position.scope, alias: alias, model: relation.target)
      }
    }
    return inner.map { List(scope: $0, position: position, column: nil, name: last) }
  }

  /// A scope of the list's own rows, tied to the row they belong to.
  private func enter(_ relation: Relation, from position: Scope.Position) -> (Scope, alias: String) {
    switch relation.route {
    case .direct(let pairs):
      let scope = Scope(table: models[relation.target].table, aliases)
      scope.links = Scope.equal(pairs, position.alias, scope.tables.alias)
      return (scope, scope.tables.alias)
    case .join(let table, let own, let other) where relation.repeatsLinks:
      let scope = Scope(table: models[relation.target].table, aliases)
      scope.links = [Scope.isLinked(scope.tables.alias, to: position.alias, by: table, own, other, aliases)]
      return (scope, scope.tables.alias)
    case .join(let table, let own, let other):
      let scope = Scope(table: table, aliases)
      scope.links = Scope.equal(own, position.alias, scope.tables.alias)
      return (scope, scope.add(models[relation.target].table, other, from: scope.tables.alias, false))
    }
  }

  private func question(
    _ name: Name, _ word: String, _ arguments: [Syntax], _ condition: Syntax?, _ at: Scope.Position
  ) throws(ShellFailure) -> Resolved {
    guard arguments.count == 1 else {
      throw ShellFailure("\(word)(…) takes one list: \(word)(books where …)", at: name.range)
    }
    guard let list = try list(arguments[0], at), list.column == nil else {
      // Unknown names are reported before anything else.
      if case .path = arguments[0].kind { _ = try value(arguments[0], at) }
      throw ShellFailure("\(word)(…) needs a list, and this is not one", at: arguments[0].range)
    }
    if word == "all", condition == nil {
      throw ShellFailure("all(…) needs a condition", at: name.range, hint: "all(\(list.name.text) where …)")
    }
    var conditions = list.scope.links
    if let condition {
      let found = try value(condition, list.position)
      conditions.append(word == "all" ? .isTruth(found, true, isNegated: true) : found)
    }
    let rows = ResolvedRows(tables: list.scope.tables, values: [.value(1)], conditions: conditions)
    return .exists(rows, isNegated: word == "none" || word == "all")
  }

  private func aggregate(
    _ name: Name, _ word: String, _ list: List, _ condition: Syntax?, _ isDistinct: Bool
  ) throws(ShellFailure) -> Resolved {
    var argument = Resolved.everything
    if let column = list.column {
      argument = try value(Syntax(kind: .path([column]), range: column.range), list.position)
    } else if word != "count" {
      let target = models[list.position.model]
      throw ShellFailure(
        "\(word)(…) needs a column of \(list.name.text)", at: list.name.range,
        hint: "such as \(word)(\(list.name.text).\(target.columns.last?.name ?? "…"))")
    } else if isDistinct, let key = models[list.position.model].keyColumns.first {
      argument = .column(alias: list.position.alias, key)
    }
    var conditions = list.scope.links
    if let condition { conditions.append(try value(condition, list.position)) }
    return .aggregate(
      ResolvedRows(
        tables: list.scope.tables, values: [.function(word, [argument], isDistinct: isDistinct)],
        conditions: conditions))
  }
}
