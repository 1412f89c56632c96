import QuireRow
import QuireSQLite

/// Makes models of tables: names them, and turns foreign keys into relations, on both sides.
///
///     book.author_id → author            Book.author     Author.books
///     book.editor_id → author            Book.editor     Author.books_as_editor
///     category.parent_id → category      Category.parent Category.children
///     book_tag(book_id, tag_id)          Book.tags       Tag.books
///     profile.user_id UNIQUE → user      Profile.user    User.profile
///     loan.isbn → book.isbn, repeated    Loan.books      Book.loans
///
/// A column that only looks like a key (`author_id`, if there is a table `author` or `authors`) counts as one if the
/// file declares none for it. It leads to a UNIQUE column of the same name or to the other table's key, whichever
/// contains its values; if neither does, it is not a key. So does a column of integers with the very name of a table
/// (`visits.url`, if there is a table `urls`) if the other's key contains all of them.
struct ModelInference {
  private var models: [FileModel]
  private var keys: [ModelReader.ForeignKey]
  private let uniques: [String: [Set<String>]]
  private let collations: [SQLName: [SQLName: String]]
  private let matches: Matches
  /// Where the model of a table is.
  private let places: [SQLName: Int]
  /// The names of each model's relations, in lower case.
  private var relationNames: [Set<String>]
  /// How many keys lead from one table to another.
  private var siblings: [[String]: Int] = [:]

  /// How many values of the first column are in the second, and how many were looked at; nil if one of them has no values.
  typealias Matches = (_ own: (table: String, column: String), _ other: (table: String, column: String)) -> (
    found: Int, of: Int
  )?

  static func models(_ found: ModelReader.Found, _ matches: Matches) -> [FileModel] {
    withoutActuallyEscaping(matches) { models(found, escaping: $0) }
  }

  private static func models(_ found: ModelReader.Found, escaping matches: @escaping Matches) -> [FileModel] {
    var inference = ModelInference(
      models: found.models, keys: found.keys, uniques: found.uniques, collations: found.collations, matches: matches)
    inference.name()
    inference.complete()
    inference.guess()
    inference.relate()
    return inference.models
  }

  private init(
    models: [FileModel], keys: [ModelReader.ForeignKey], uniques: [String: [Set<String>]],
    collations: [SQLName: [SQLName: String]], matches: @escaping Matches
  ) {
    self.collations = collations
    self.models = models
    self.keys = keys
    self.uniques = uniques
    self.matches = matches
    places = Dictionary(
      models.enumerated().map { (SQLName($0.element.table), $0.offset) }, uniquingKeysWith: { first, _ in first })
    relationNames = Array(repeating: [], count: models.count)
  }

  /// A name that two tables would share stays each one's own.
  private mutating func name() {
    let wanted = models.map { ModelNames.model(ofTable: $0.table) }
    let counts = Dictionary(wanted.map { ($0.lowercased(), 1) }, uniquingKeysWith: +)
    let tables = Set(models.map { $0.table.lowercased() })
    for place in models.indices {
      let name = wanted[place]
      let isTaken = tables.contains(name.lowercased()) && name.lowercased() != models[place].table.lowercased()
      if counts[name.lowercased()] == 1, !isTaken { models[place].name = name }
    }
  }

  private func place(ofTable table: String) -> Int? { places[SQLName(table)] }

  /// Puts in what a foreign key leaves to the schema, and drops those that lead nowhere.
  private mutating func complete() {
    keys = keys.compactMap { key in
      guard let own = place(ofTable: key.table), let target = place(ofTable: key.target) else { return nil }
      var pairs: [Relation.Pair] = []
      for (place, pair) in key.pairs.enumerated() {
        let primary = models[target].keyColumns
        let named = pair.other.isEmpty ? (primary.indices.contains(place) ? primary[place] : nil) : pair.other
        guard let from = models[own].column(named: pair.own)?.column, let named,
          let to = models[target].column(named: named)?.column
        else { return nil }
        pairs.append(keyPair(from, of: models[own], to, of: models[target], isOneOfSeveral: key.pairs.count > 1))
      }
      return ModelReader.ForeignKey(
        table: models[own].table, target: models[target].table, pairs: pairs, isDeclared: true)
    }
  }

  /// The collation by which a column's values are compared with the parent's; nil if by their bytes.
  private func collation(_ own: FileModel, _ parent: FileModel, _ column: String) -> String? {
    if own.comparesBytes, parent.comparesBytes { return nil }
    // Row ids are never text, nor are integers of a table that is STRICT.
    if parent.rowID == column || parent.isStrict && parent.column(named: column)?.affinity == .integer { return nil }
    let found = collations[SQLName(parent.table)]?[SQLName(column)] ?? "BINARY"
    return own.comparesBytes && found == "BINARY" ? nil : found
  }

  /// A column that holds a key, and the column it leads to.
  private func keyPair(
    _ column: String, of own: FileModel, _ key: String, of parent: FileModel, isOneOfSeveral: Bool = false
  ) -> Relation.Pair {
    let (from, to) = (own.kind(of: column), parent.kind(of: key))
    // Of two columns a comparison converts the one that does not hold numbers, if only one does, and none otherwise. Of
    // several in a row, SQLite 3.40 looks all up in an index as it may look up the first.
    let isConverted =
      from == .number && to != .number || from == .anything && to == .text || isOneOfSeveral && from != to
    var pair = Relation.Pair(
      own: column, other: key, collation: collation(own, parent, key), converted: isConverted ? .own : nil)
    pair.isFoundUnconverted = from != .anything || to != .text
    return pair
  }

  private mutating func guess() {
    let declared = Set(keys.flatMap { key in key.pairs.map { key.table + "\0" + $0.own } })
    let named = placesByName
    for model in models where model.kind != .virtual {
      for column in model.columns where !declared.contains(model.table + "\0" + column.column) {
        let name = ModelNames.relation(ofColumn: column.column)
        guard model.keyColumns != [column.column],
          let target = named[(name ?? column.column).lowercased()].map({ models[$0] }),
          let other = name == nil
            ? key(named: column, of: model, in: target) : meant(by: column.column, of: model, in: target)
        else { continue }
        let pair = keyPair(column.column, of: model, other, of: target)
        keys.append(
          ModelReader.ForeignKey(table: model.table, target: target.table, pairs: [pair], isDeclared: false))
      }
    }
  }

  /// The key to which a column leads that has the other table's name.
  private func key(named column: FileModel.Column, of model: FileModel, in target: FileModel) -> String? {
    guard model.kind == .table, target.table != model.table, column.affinity == .integer,
      case .columns(let key) = target.key, key.count == 1, target.column(named: key[0])?.affinity == .integer,
      let matching = matches((model.table, column.column), (target.table, key[0])), matching.found == matching.of
    else { return nil }
    return key[0]
  }

  /// The column that a column named like a key leads to.
  private func meant(by column: String, of model: FileModel, in target: FileModel) -> String? {
    var candidates: [String] = []
    if isUnique([column], in: target), let same = target.column(named: column)?.column {
      // A number that the row has itself, as a user's `user_id` beside the key.
      if target.table == model.table { return nil }
      candidates.append(same)
    }
    if case .columns(let key) = target.key, key.count == 1, !candidates.contains(key[0]) { candidates.append(key[0]) }
    // Rows of a view may take long to be read.
    let counts = candidates.map {
      model.kind == .table ? matches((model.table, column), (target.table, $0))?.found : nil
    }
    guard let most = counts.compactMap({ $0 }).max() else { return candidates.first }
    return most == 0 ? nil : zip(candidates, counts).first { $0.1 == most }?.0
  }

  /// Whether no two rows have the same values in these columns.
  private func isUnique(_ columns: some Sequence<String>, in model: FileModel) -> Bool {
    let columns = Set(columns.map { $0.lowercased() })
    return Set(model.keyColumns.map { $0.lowercased() }).isSubset(of: columns) && !model.keyColumns.isEmpty
      || (uniques[model.table] ?? []).contains { $0.isSubset(of: columns) }
  }

  /// The first table of each name, in lower case: its own, its model's, or the singular of its own.
  private var placesByName: [String: Int] {
    var places: [String: Int] = [:]
    for (place, model) in models.enumerated() where model.kind == .table {
      for name in [model.table, model.name, ModelNames.singular(model.table)] {
        if places[name.lowercased()] == nil { places[name.lowercased()] = place }
      }
    }
    return places
  }

  // MARK: Relations

  private mutating func relate() {
    var joins: [(ModelReader.ForeignKey, ModelReader.ForeignKey)] = []
    var pure: Set<String> = []
    let ofTable = Dictionary(grouping: keys, by: \.table)
    for model in models {
      let own = ofTable[model.table] ?? []
      let linked = Set(own.flatMap { $0.pairs.map(\.own) })
      guard own.count == 2,
        own.allSatisfy(\.isDeclared) || !model.columns.contains(where: { $0.keyPlace == 0 })
          || isUnique(linked, in: model)
      else { continue }
      let rest = model.columns.filter { !linked.contains($0.column) }
      let isPure = rest.allSatisfy { $0.keyPlace > 0 && model.keyColumns.count == 1 }
      if isPure || Set(model.keyColumns) == linked { joins.append((own[0], own[1])) }
      if rest.isEmpty { pure.insert(model.table) }
    }
    siblings = keys.reduce(into: [:]) { $0[[$1.table, $1.target], default: 0] += 1 }
    var names: [String] = []
    for key in keys { names.append(addForward(key)) }
    for (key, name) in zip(keys, names) where !pure.contains(key.table) { addInverse(key, name) }
    for (first, second) in joins {
      addJoin(first, second)
      addJoin(second, first)
    }
  }

  /// To the row that a key leads to; to a list if several rows may have what it holds, as SQLite checks that only when
  /// keys are.
  private mutating func addForward(_ key: ModelReader.ForeignKey) -> String {
    guard let own = place(ofTable: key.table), let target = place(ofTable: key.target) else { return "" }
    let isSingle = isUnique(key.pairs.map(\.other), in: models[target])
    let fallback = ModelNames.lowered(models[target].name)
    var name = key.pairs.count == 1 ? ModelNames.relation(ofColumn: key.pairs[0].own) ?? key.pairs[0].own : fallback
    // A row's own key, which is the other's too.
    if ["id", "_id"].contains(name.lowercased()) { name = free(fallback, in: own) }
    if !isSingle {
      name = free(ModelNames.plural(fallback), in: own)
    } else if isTaken(name, in: own, besides: key.pairs.map(\.own)) {
      name = free(fallback, in: own)
    }
    add(
      to: own,
      Relation(
        name: name, target: target, isToMany: !isSingle, holdsKey: true, route: .direct(key.pairs),
        isDeclared: key.isDeclared))
    return name
  }

  private mutating func addInverse(_ key: ModelReader.ForeignKey, _ forward: String) {
    guard let own = place(ofTable: key.table), let target = place(ofTable: key.target) else { return }
    let isSingle = isDistinct([key], in: models[own])
    let base = ModelNames.lowered(models[own].name)
    let plain = isSingle ? base : ModelNames.plural(base)
    var name = plain
    if own == target {
      name = forward == "parent" && !isSingle ? "children" : "\(plain)_as_\(forward)"
    } else if siblings[[key.table, key.target]] ?? 0 > 1,
      forward.lowercased() != ModelNames.lowered(models[target].name).lowercased()
    {
      name = "\(plain)_as_\(forward)"
    }
    let pairs = key.pairs.map(\.reversed)
    add(
      to: target,
      Relation(
        name: free(name, in: target), target: own, isToMany: !isSingle, holdsKey: false, route: .direct(pairs),
        isDeclared: key.isDeclared))
  }

  /// From the target of `first` to the target of `second`.
  private mutating func addJoin(_ first: ModelReader.ForeignKey, _ second: ModelReader.ForeignKey) {
    guard let own = place(ofTable: first.target), let target = place(ofTable: second.target) else { return }
    var name = ModelNames.plural(ModelNames.lowered(models[target].name))
    // `book_coauthors` gives the name on the book's side.
    let table = first.table.lowercased()
    for prefix in [models[own].table.lowercased(), ModelNames.singular(models[own].table).lowercased()]
    where table.hasPrefix(prefix + "_") && second.pairs.count == 1 {
      let rest = String(first.table.dropFirst(prefix.count + 1))
      // `books_authors_link` says no more than that it links them.
      let other = ModelNames.singular(models[target].table).lowercased()
      if rest.lowercased().hasPrefix(other),
        ["_", "s_"].contains(where: rest.lowercased().dropFirst(other.count).hasPrefix)
      {
        break
      }
      if ModelNames.plural(rest).lowercased() != name.lowercased() { name = rest }
      break
    }
    if own == target, let column = second.pairs.first?.own {
      name = ModelNames.plural(ModelNames.relation(ofColumn: column) ?? column)
    }
    if isTaken(name, in: own, besides: []) { name = free("\(name)_via_\(first.table)", in: own) }
    add(
      to: own,
      Relation(
        name: name, target: target, isToMany: true, holdsKey: false,
        route: .join(
          table: first.table, own: first.pairs.map(\.reversed),
          other: second.pairs), isDeclared: first.isDeclared && second.isDeclared,
        repeatsLinks: place(ofTable: first.table).map { !isDistinct([first, second], in: models[$0]) } ?? true))
  }

  /// Whether no two rows of a table lead to the same rows by these keys of it.
  private func isDistinct(_ keys: [ModelReader.ForeignKey], in model: FileModel) -> Bool {
    var columns: [String] = []
    for key in keys {
      guard let target = place(ofTable: key.target) else { continue }
      // Values that are different in the table may be the same for the column they lead to.
      for pair in key.pairs where model.kind(of: pair.own) == models[target].kind(of: pair.other) {
        let collation = pair.collation ?? "BINARY"
        if collation == "BINARY" || collations[SQLName(model.table)]?[SQLName(pair.own)] == collation {
          columns.append(pair.own)
        }
      }
    }
    return isUnique(columns, in: model)
  }

  private mutating func add(to place: Int, _ relation: Relation) {
    models[place].relations.append(relation)
    relationNames[place].insert(relation.name.lowercased())
  }

  private func isTaken(_ name: String, in place: Int, besides columns: [String]) -> Bool {
    let name = name.lowercased()
    return relationNames[place].contains(name)
      || models[place].columns.contains { $0.column.lowercased() == name && !columns.contains($0.column) }
  }

  private func free(_ name: String, in place: Int) -> String {
    var result = name
    var number = 2
    while isTaken(result, in: place, besides: []) {
      result = "\(name)_\(number)"
      number += 1
    }
    return result
  }
}
