/// The models of a file as boxes and lines: what `.schema --diagram` shows, before it is text or a picture.
///
/// A foreign key is a line between two models. A join table that has nothing but its two keys is one line between the
/// models it joins; any other table is a box.
struct ModelDiagram {
  var boxes: [Box] = []
  var lines: [Line] = []

  struct Box {
    let name: String
    /// `view` or `virtual`; empty for a table.
    let kind: String
    var columns: [Column]
  }

  struct Column {
    let name: String
    let type: String
    let isKey: Bool
    var isReference = false
    let isRequired: Bool
  }

  /// A relation, seen from both ends.
  struct Line {
    /// The box that holds the key, or the first of two that a table joins.
    let from: Int
    let to: Int
    let fromEnd: End
    let toEnd: End
    /// The names of the relation on both sides, such as `author / books`.
    let label: String
    /// Where it leaves and arrives: places in the columns of both boxes; nil for a join table.
    let columns: (from: Int, to: Int)?
    /// False where only a column's name says so.
    let isDeclared: Bool
  }

  /// How many rows a line can have at one end.
  enum End { case one, zeroOrOne, many }

  /// - Parameter name: The one model to show, with those that it leads to; nil for all.
  init(_ models: FileModels, around name: Int? = nil) {
    let joins = Self.pureJoins(models)
    var shown = Set(models.all.indices).subtracting(joins)
    if let name {
      let near = models.all[name].relations.map(\.target).filter { !joins.contains($0) }
      shown = Set([name] + near)
    }
    var places: [Int: Int] = [:]
    for place in models.all.indices where shown.contains(place) {
      places[place] = boxes.count
      boxes.append(Self.box(models[place]))
    }
    for place in models.all.indices {
      guard let from = places[place] else { continue }
      for relation in models[place].relations {
        guard let to = places[relation.target], name == nil || place == name || relation.target == name else {
          continue
        }
        switch relation.route {
        case .direct(let pairs) where relation.holdsKey:
          addKey(models, place, relation, pairs, from: from, to: to)
        case .join(let table, _, _) where Self.isFirst(models, place, relation, table, joins):
          addJoin(models, place, relation, table, from: from, to: to)
        default: break
        }
      }
    }
  }

  private mutating func addKey(
    _ models: FileModels, _ place: Int, _ relation: Relation, _ pairs: [Relation.Pair], from: Int, to: Int
  ) {
    for pair in pairs {
      guard let column = models[place].columns.firstIndex(where: { $0.column == pair.own }) else { continue }
      boxes[from].columns[column].isReference = true
    }
    let inverse = models[relation.target].relations.first {
      guard $0.target == place, !$0.holdsKey, case .direct(let back) = $0.route else { return false }
      return back.map(\.other) == pairs.map(\.own)
    }
    let isRequired = pairs.allSatisfy { pair in
      models[place].columns.contains { $0.column == pair.own && ($0.isRequired || $0.keyPlace > 0) }
    }
    let own = models[place].columns.firstIndex { $0.column == pairs.first?.own } ?? 0
    let other = models[relation.target].columns.firstIndex { $0.column == pairs.first?.other } ?? 0
    lines.append(
      Line(
        from: from, to: to, fromEnd: inverse?.isToMany == false ? .zeroOrOne : .many,
        toEnd: relation.isToMany ? .many : isRequired ? .one : .zeroOrOne,
        label: relation.name + (inverse.map { " / \($0.name)" } ?? ""), columns: (own, other),
        isDeclared: relation.isDeclared))
  }

  private mutating func addJoin(
    _ models: FileModels, _ place: Int, _ relation: Relation, _ table: String, from: Int, to: Int
  ) {
    let inverse = models[relation.target].relations.first {
      guard $0.target == place, case .join(table, _, _) = $0.route else { return false }
      return $0.name != relation.name || relation.target != place
    }
    lines.append(
      Line(
        from: from, to: to, fromEnd: .many, toEnd: .many,
        label: relation.name + (inverse.map { " / \($0.name)" } ?? ""), columns: nil,
        isDeclared: relation.isDeclared))
  }

  /// Tables that are nothing but a relation between two others, and that no other table leads to.
  private static func pureJoins(_ models: FileModels) -> Set<Int> {
    var joining: Set<String> = []
    for relation in models.all.flatMap(\.relations) {
      if case .join(let table, _, _) = relation.route { joining.insert(table) }
    }
    let led = Set(models.all.flatMap { model in model.relations.filter(\.holdsKey).map(\.target) })
    return Set(
      models.all.indices.filter { place in
        let model = models[place]
        let linked = Set(model.relations.flatMap(\.ownColumns))
        return joining.contains(model.table) && !led.contains(place)
          && model.columns.allSatisfy { linked.contains($0.column) }
      })
  }

  /// Whether a relation through a join table that is no box is to be drawn here, and not at its other side.
  private static func isFirst(
    _ models: FileModels, _ place: Int, _ relation: Relation, _ table: String, _ joins: Set<Int>
  ) -> Bool {
    guard let join = models.all.firstIndex(where: { $0.table == table }), joins.contains(join) else { return false }
    if relation.target != place { return place < relation.target }
    let same = models[place].relations.first { if case .join(table, _, _) = $0.route { true } else { false } }
    return same?.name == relation.name
  }

  private static func box(_ model: FileModel) -> Box {
    Box(
      name: model.name, kind: model.kind == .table ? "" : model.kind == .view ? "view" : "virtual",
      columns: model.columns.map { column in
        Column(
          name: column.name, type: column.type.lowercased(), isKey: column.keyPlace > 0, isRequired: column.isRequired)
      })
  }
}
