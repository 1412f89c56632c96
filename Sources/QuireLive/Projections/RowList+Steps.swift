import QuireModel
import QuireRow
import QuireSQLite

/// From the rows shown to those that will be: what is read for it, and how it is told.
extension RowList {
  /// The step from the rows that may be others now, by key with their places.
  func followed(_ touched: [Int64: Int], _ number: Int64, on connection: Connection) throws -> Step {
    let difference = list.next?.difference ?? KeyDifference()
    var step = Step(number: number)
    if touched.isEmpty, !difference.changesList { return step }
    var staying = touched
    for (key, _) in difference.deletes { staying[key] = nil }
    let rows = try read(staying.map(\.key), and: difference.inserts, on: connection)
    for (key, at) in difference.deletes {
      // What was pushed out at the end comes back before what is behind it.
      let isSpare = touched[key] == nil && list.isBehind(key) && spare.add(values[at], key)
      if !isSpare { affected.forget(key) }
    }
    affected.take(rows.ends)

    var edits = try ValueEdits(difference) { key, from in
      try from.flatMap { rows.find(key) ?? values[$0] } ?? rows.row(key)
    }
    let moved = Set(difference.moves.map(\.key))
    let updates = staying.filter { !moved.contains($0.key) }
      .map { (key: $0.key, from: $0.value, to: edits.place(after: $0.value)) }.sorted { $0.to < $1.to }
    edits.updates = try updates.map { ($0.to, try rows.row($0.key)) }
    step.changes = changes(difference, updates) { rows.find($0) }
    step.edits = edits
    return step
  }

  /// Reads rows anew, and those that came and are not there to spare. Where the last one shown is among these, some of
  /// those behind it are read along: not where a field is an aggregate, of which each may be of many rows.
  private func read(_ keys: [Int64], and came: [(key: Int64, at: Int)], on connection: Connection) throws
    -> RowReader<Row>.Rows
  {
    let missing = came.filter { !spare.holds($0.key) }
    let isEnd = list.next?.other == nil && missing.last?.at == list.shownCount - 1
    let ahead = isEnd && affected.columns.related.isEmpty ? list.behind(SpareRows<Row>.most) : []
    var rows = try reader.rows((keys + missing.map(\.key) + ahead).sorted(), on: connection)
    for (key, _) in came { if let row = spare.take(key) { rows.add(row, key) } }
    if !ahead.isEmpty {
      forgetSpare()
      spare.fill(Dictionary(ahead.compactMap { key in rows.take(key).map { (key, $0) } }) { first, _ in first })
    }
    return rows
  }

  /// The step from whatever is shown to what the list will be, all of it read.
  func refilled(_ number: Int64, on connection: Connection) throws -> Step {
    var after = list.keys
    if let step = list.next { after.replaceSubrange(step.replaced, with: step.keys) }
    let rows = try reader.rows(after, on: connection)
    let values = try after.map { try rows.row($0) }
    forgetSpare()
    affected.forgetAll()
    affected.take(rows.ends)
    let difference = KeyDifference.between(keys[...], after[...], touched: Set(keys).union(after))
    let places = Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let others = Set(difference.inserts.map(\.key) + difference.moves.map(\.key))
    let updates = after.enumerated().compactMap { to, key -> (key: Int64, from: Int, to: Int)? in
      others.contains(key) ? nil : places[key].map { (key, $0, to) }
    }
    return Step(number: number, whole: values, changes: changes(difference, updates) { rows.find($0) })
  }

  /// - Parameter row: What was read of a key; what was not is as it was.
  private func changes(
    _ difference: KeyDifference, _ updates: [(key: Int64, from: Int, to: Int)], read row: (Int64) -> Row?
  ) -> [Difference<Row>.Change] {
    var changes: [Difference<Row>.Change] = []
    for (_, at) in difference.deletes { changes.append(.delete(at: at, old: values[at])) }
    for (key, from, to) in difference.moves {
      changes.append(.move(from: from, to: to, old: values[from], new: row(key) ?? values[from]))
    }
    for (key, at) in difference.inserts { if let new = row(key) { changes.append(.insert(at: at, new: new)) } }
    for (key, from, to) in updates {
      if let new = row(key), !reader.form.areIdentical(values[from], new) {
        changes.append(.update(at: to, old: values[from], new: new))
      }
    }
    return changes
  }
}
