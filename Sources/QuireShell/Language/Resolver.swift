import QuireRow
import QuireSQLite

/// Syntax → resolved: looks names up in the file's models, and turns paths into joins and questions about related rows.
struct Resolver {
  let models: FileModels
  /// The rows that `_` and `_3` refer to.
  let kept: KeptRows?
  /// Values of `:name`, by bare name, as far as they are known.
  let parameters: [String: Value]
  let aliases = Aliases()
  /// Names that the query gives to values by `as`, for suggestions.
  private var givenNames: [String] = []

  /// Rows of the last answer, by key.
  struct KeptRows: Sendable {
    let model: Int
    /// The key of each row that was kept.
    let keys: [[Value]]
  }

  init(_ models: FileModels, kept: KeptRows? = nil, parameters: [String: Value] = [:]) {
    self.models = models
    self.kept = kept
    self.parameters = parameters
  }

  // MARK: Queries

  func query(_ query: ModelQuery) throws(ShellFailure) -> ResolvedQuery {
    var naming = self
    naming.givenNames = query.selected.filter(\.isNamed).map(\.name)
    return try naming.resolved(query)
  }

  private func resolved(_ query: ModelQuery) throws(ShellFailure) -> ResolvedQuery {
    if let place = query.setPlace {
      throw ShellFailure("set is for writes, and stands behind the condition", at: place)
    }
    let at = try source(query)
    var conditions = at.conditions
    let given = GivenNames(query.selected, in: models[at.position.model])
    if let filter = query.filter { conditions.append(try value(given.last(in: filter), at.position)) }
    var values: [Resolved] = []
    var names: [String]? = []
    for selected in query.selected {
      if case .everything = selected.value.kind {
        values += columns(of: at.position)
        names? += models[at.position.model].columns.map(\.column)
      } else {
        values.append(try value(selected.value, at.position))
        names?.append(selected.name)
      }
    }
    let isWhole = query.selected.isEmpty && query.groups.isEmpty
    let groups = try query.groups.map { (group) throws(ShellFailure) in
      if let place = try place(group, among: values) { return values[place] }
      return try value(given.last(in: group), at.position)
    }
    if query.selected.isEmpty {
      values = groups + (groups.isEmpty ? [] : [.function("count", [.everything], isDistinct: false)])
      names = groups.isEmpty ? nil : query.groups.map(Self.spelled) + ["count"]
    }
    var result = ResolvedQuery(
      rows: ResolvedRows(tables: at.position.scope.tables, values: values, conditions: conditions))
    result.isDistinct = query.isDistinct
    result.names = names
    result.groups = groups
    result.having = try query.having.map { (having) throws(ShellFailure) in
      try value(given.first(in: having), at.position)
    }
    let shown = isWhole ? columns(of: at.position) : values
    for term in query.order {
      let place = try place(term.value, among: shown)
      let value: Resolved
      if let place { value = shown[place] } else { value = try self.value(given.first(in: term.value), at.position) }
      result.order.append(
        ResolvedQuery.Order(value: value, isDescending: term.isDescending, nullsFirst: term.nullsFirst))
    }
    result.limit = try query.limit.map { (limit) throws(ShellFailure) in try count(limit) }
    result.offset = try query.offset.map { (offset) throws(ShellFailure) in try count(offset) }
    result.model = isWhole ? at.position.model : nil
    // Joins may have been added since.
    result.rows.tables = at.position.scope.tables
    return result
  }

  private static func spelled(_ syntax: Syntax) -> String {
    if case .path(let names) = syntax.kind { names.map(\.text).joined(separator: ".") } else { "value" }
  }

  private func columns(of position: Scope.Position) -> [Resolved] {
    models[position.model].columns.map { .column(alias: position.alias, $0.column) }
  }

  /// In `order by` and `group by`, a number is the position of a shown value, here from 0; nil for anything else.
  private func place(_ syntax: Syntax, among values: [Resolved]) throws(ShellFailure) -> Int? {
    guard case .literal(.integer(let place)) = syntax.kind else { return nil }
    guard values.indices.contains(Int(clamping: place) - 1) else {
      throw ShellFailure("\(place) is not the position of a selected value", at: syntax.range)
    }
    return Int(place) - 1
  }

  private func count(_ syntax: Syntax) throws(ShellFailure) -> Resolved {
    switch syntax.kind {
    case .literal(.integer(let number)) where number >= 0: return .value(.integer(number))
    case .parameter(let name): return .parameter(name)
    default: throw ShellFailure("a limit is a number, 0 or above", at: syntax.range)
    }
  }

  // MARK: The source

  struct Start {
    var position: Scope.Position
    var conditions: [Resolved]
  }

  /// The rows a query begins with: a model's, those of a key, those a relation leads to.
  func source(_ query: ModelQuery) throws(ShellFailure) -> Start {
    let (place, keys) = try beginning(query.source)
    var start = self.start(at: place)
    if let keys { start.conditions.append(try isOne(of: keys.rows, at: start.position, keys.range)) }
    for step in query.steps {
      if let filter = step.filter { start.conditions.append(try value(filter, start.position)) }
      start = try follow(step.relation, from: start)
    }
    return start
  }

  private func start(at place: Int) -> Start {
    let scope = Scope(table: models[place].table, aliases)
    return Start(position: Scope.Position(scope: scope, alias: scope.tables.alias, model: place), conditions: [])
  }

  private func beginning(_ source: ModelQuery.Source) throws(ShellFailure) -> (
    Int, (rows: [[Resolved]], range: Range<Int>)?
  ) {
    switch source {
    case .model(let name, let key):
      let place = try model(name)
      if key.isEmpty { return (place, nil) }
      let range = name.range.lowerBound..<key[key.count - 1].range.upperBound
      return (place, ([try self.key(key, of: place, range)], range))
    case .kept(let row, let range):
      guard let kept else {
        throw ShellFailure("the last answer has no rows of a model to go on from", at: range)
      }
      guard let row else { return (kept.model, (kept.keys.map { $0.map { .value($0) } }, range)) }
      guard kept.keys.indices.contains(row - 1) else {
        throw ShellFailure("the last answer has no row \(row): it has \(kept.keys.count)", at: range)
      }
      return (kept.model, ([kept.keys[row - 1].map { .value($0) }], range))
    }
  }

  private func isOne(of rows: [[Resolved]], at position: Scope.Position, _ range: Range<Int>) throws(ShellFailure)
    -> Resolved
  {
    let columns = models[position.model].keyColumns
    if columns.count == 1, rows.count > 1 {
      return .oneOf(.column(alias: position.alias, columns[0]), rows.map { $0[0] }, isNegated: false)
    }
    let keys = rows.map { row in
      let parts = zip(columns, row).map { Resolved.infix("=", .column(alias: position.alias, $0), $1) }
      return parts.count == 1 ? parts[0] : .all(parts)
    }
    return keys.count == 1 ? keys[0] : .any(keys)
  }

  /// The rows that a relation of the rows so far leads to.
  private func follow(_ step: Name, from start: Start) throws(ShellFailure) -> Start {
    let relation = try relation(step, of: start.position.model)
    var next = self.start(at: relation.target)
    let scope = start.position.scope
    func rows(_ pairs: [Relation.Pair]) -> ResolvedRows {
      ResolvedRows(
        tables: scope.tables, values: pairs.map { .listed($0, of: start.position.alias) }, conditions: start.conditions)
    }
    switch relation.route {
    case .direct(let pairs):
      next.conditions = [
        .within(pairs.map { .other($0, of: next.position.alias) }, rows(pairs), isNegated: false)
      ]
    case .join(let table, let own, let other):
      let between = Scope(table: table, aliases)
      let inner = Resolved.within(
        own.map { .other($0, of: between.tables.alias) }, rows(own), isNegated: false)
      next.conditions = [
        .within(
          other.map { .other($0, of: next.position.alias) },
          ResolvedRows(
            tables: between.tables, values: other.map { .listed($0, of: between.tables.alias) }, conditions: [inner]),
          isNegated: false)
      ]
    }
    return next
  }

  // MARK: Names

  /// Commands that are typed without their period.
  private static let commands = [
    "help": ".help", "exit": ".quit", "quit": ".quit", "models": ".models", "tables": ".tables", "schema": ".schema",
    "relations": ".relations", "indexes": ".indexes", "import": ".import", "open": ".open", "save": ".save",
  ]

  func model(_ name: Name) throws(ShellFailure) -> Int {
    if let place = models.place(of: name.text) { return place }
    if let (message, hint) = models.reason(against: name.text) {
      throw ShellFailure(message, at: name.range, hint: hint)
    }
    let near =
      nearest(to: name.text, among: models.all.flatMap { [$0.name, $0.table] })
      ?? Self.commands[name.text.lowercased()]
    throw ShellFailure(
      "there is no model \(name.text)", at: name.range, hint: near.map { "did you mean \($0)?" })
  }

  func relation(_ name: Name, of place: Int) throws(ShellFailure) -> Relation {
    if let relation = models[place].relation(named: name.text) { return relation }
    if models[place].column(named: name.text) != nil {
      throw ShellFailure("\(models[place].name).\(name.text) leads nowhere: it is a column", at: name.range)
    }
    throw unknown(name, of: place)
  }

  /// The error for a name that a model does not have.
  ///
  /// - Parameters:
  ///   - isAlone: Whether it is not part of a path, so that a name given by `as` may have been meant.
  ///   - mayBeText: Whether text would make sense in its place.
  func unknown(_ name: Name, of place: Int, isAlone: Bool = false, mayBeText: Bool = false) -> ShellFailure {
    let model = models[place]
    // A relation may be called like its column.
    let names = model.names.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let hint: String
    if let near = nearest(to: name.text, among: isAlone ? names + givenNames : names) {
      let target = model.relation(named: near).map { " (→ \(models[$0.target].name))" } ?? ""
      hint = "did you mean \(near)\(target)?"
    } else if isAlone, ListWords.aggregates.contains(name.text.lowercased()) {
      hint = "a function has parentheses: \(name.text)(\(name.text.lowercased() == "count" ? "*" : "…"))"
    } else if isAlone, mayBeText {
      // Without quotes that a word processor has put there.
      hint = "text stands in quotes: \"\(name.text.filter { !"“”„‘’«»".contains($0) })\""
    } else {
      let rest =
        names.count > Self.namesShown ? " and \(names.count - Self.namesShown) more (.schema \(model.name))" : ""
      hint = "it has \(names.prefix(Self.namesShown).joined(separator: ", "))\(rest)"
    }
    return ShellFailure("\(model.name) has no \(name.text)", at: name.range, hint: hint)
  }

  private static let namesShown = 8
}
