import QuireMigration
import QuireRow

/// The tables that names are looked up in, while a query is being resolved; joins are added as paths need them.
final class Scope {
  var tables: ResolvedTables
  /// What ties it to the query around it.
  var links: [Resolved] = []
  /// By the alias and relation a path took: the alias it led to.
  private var known: [String: String] = [:]
  let aliases: Aliases

  init(table: String, _ aliases: Aliases) {
    self.aliases = aliases
    tables = ResolvedTables(table: table, alias: aliases.make(for: table))
  }

  /// A table in it, as a model.
  struct Position {
    let scope: Scope
    let alias: String
    let model: Int
  }

  /// Goes along a relation to one row; those that have none stay.
  func follow(_ relation: Relation, from alias: String, in models: FileModels) -> String {
    let key = alias + "\0" + relation.name
    if let alias = known[key] { return alias }
    let made = join(relation, from: alias, in: models, isOptional: true)
    known[key] = made
    return made
  }

  /// Joins the relation's rows.
  func join(_ relation: Relation, from alias: String, in models: FileModels, isOptional: Bool) -> String {
    switch relation.route {
    case .direct(let pairs):
      return add(models[relation.target].table, pairs, from: alias, isOptional)
    case .join(let table, let own, let other) where relation.repeatsLinks:
      let made = aliases.make(for: models[relation.target].table)
      let link = Scope.isLinked(made, to: alias, by: table, own, other, aliases)
      tables.joins.append(
        ResolvedTables.Join(
          table: models[relation.target].table, alias: made, conditions: [link], isOptional: isOptional))
      return made
    case .join(let table, let own, let other):
      let between = add(table, own, from: alias, isOptional)
      return add(models[relation.target].table, other, from: between, isOptional)
    }
  }

  func add(_ table: String, _ pairs: [Relation.Pair], from alias: String, _ isOptional: Bool) -> String {
    let made = aliases.make(for: table)
    tables.joins.append(
      ResolvedTables.Join(
        table: table, alias: made, conditions: Scope.equal(pairs, alias, made), isOptional: isOptional))
    return made
  }

  /// Must be called after each step of a path.
  ///
  /// - Throws: If there are more tables than SQLite can join.
  func requireRoom(_ name: Name) throws(ShellFailure) {
    if tables.joins.count > 63 {
      throw ShellFailure("the path is too long: one query joins 64 tables at most", at: name.range)
    }
  }

  static func equal(_ pairs: [Relation.Pair], _ own: String, _ other: String) -> [Resolved] {
    pairs.flatMap { pair -> [Resolved] in
      var unconverted = pair
      unconverted.converted = nil
      let found = Resolved.infix("=", .column(alias: other, pair.other), .own(unconverted, of: own))
      if pair.converted == nil { return [found] }
      // The first finds rows by an index of the key's column, the second says which of them are right.
      return (pair.isFoundUnconverted ? [found] : []) + [.infix("=", .other(pair, of: other), .own(pair, of: own))]
    }
  }

  /// Whether a table has a link between two rows, be it once or several times.
  static func isLinked(
    _ row: String, to alias: String, by table: String, _ own: [Relation.Pair], _ other: [Relation.Pair],
    _ aliases: Aliases
  ) -> Resolved {
    let tables = ResolvedTables(table: table, alias: aliases.make(for: table))
    let links = ResolvedRows(
      tables: tables, values: other.map { .listed($0, of: tables.alias) },
      conditions: equal(own, alias, tables.alias))
    return .within(other.map { .other($0, of: row) }, links, isNegated: false)
  }
}

/// Gives each table of a statement a short alias: `b`, `a`, `b2`.
final class Aliases {
  private var counts: [String: Int] = [:]

  func make(for table: String) -> String {
    let first = table.lowercased().unicodeScalars.first { (97...122).contains($0.value) }
    let letter = first.map { String($0) } ?? "t"
    counts[letter, default: 0] += 1
    let count = counts[letter] ?? 1
    return count == 1 ? letter : "\(letter)\(count)"
  }
}
