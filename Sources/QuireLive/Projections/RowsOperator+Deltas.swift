import QuireModel
import QuireRow
import QuireSQLite

/// Computes deltas: what is read to get from the shown rows to the next, and what listeners receive.
extension RowsOperator {
  /// The delta for shown rows whose values may have changed, by key with their indices, and for the window's step.
  func followed(_ touched: [Int64: Int], _ moved: WindowDelta?, on connection: Connection) throws -> Delta {
    let delta = Delta(window: moved)
    let difference = moved?.difference ?? KeyDifference()
    if touched.isEmpty, !difference.changesList { return delta }
    var staying = touched
    for (key, _) in difference.deletes { staying[key] = nil }
    let rows = try read(staying.map(\.key), and: difference.inserts, isReplaced: moved?.state != nil, on: connection)
    for (key, at) in difference.deletes {
      // A row that was pushed out at the end moves up again before those behind it.
      let isBehind = moved?.state == nil && window.state.isBehind(key)
      let isSpare = touched[key] == nil && isBehind && spare.add(values[at], key)
      if !isSpare { affected.forget(key) }
    }
    affected.take(rows.ends)

    var edits = try ValueEdits(difference) { key, from in
      try from.flatMap { rows.find(key) ?? values[$0] } ?? rows.row(key)
    }
    let others = Set(difference.moves.map(\.key))
    let updates = staying.filter { !others.contains($0.key) }
      .map { (key: $0.key, from: $0.value, to: edits.place(after: $0.value)) }.sorted { $0.to < $1.to }
    edits.updates = try updates.map { ($0.to, try rows.row($0.key)) }
    delta.changes = changes(difference, updates) { rows.find($0) }
    delta.edits = edits
    return delta
  }

  /// Reads changed rows, and rows that came and are not in the look-ahead. If the last shown row is among these, some
  /// rows behind it are read too, unless a field is an aggregate, which may be of many rows.
  private func read(_ keys: [Int64], and came: [(key: Int64, at: Int)], isReplaced: Bool, on connection: Connection)
    throws
    -> RowReader<Row>.Rows
  {
    let missing = came.filter { !spare.holds($0.key) }
    let count = window.state.shownCount
    let isEnd = !isReplaced && missing.last?.at == count - 1
    let most = SpareRows<Row>.most
    let ahead =
      isEnd && affected.columns.related.isEmpty ? Array(window.state.shown(from: count, to: count + most)) : []
    var rows = try reader.rows((keys + missing.map(\.key) + ahead).sorted(), on: connection)
    for (key, _) in came { if let row = spare.take(key) { rows.add(row, key) } }
    if !ahead.isEmpty {
      forgetSpare()
      spare.fill(Dictionary(ahead.compactMap { key in rows.take(key).map { (key, $0) } }) { first, _ in first })
    }
    return rows
  }

  /// The delta from whatever is shown to the window's new rows, all of them read.
  func refilled(_ moved: WindowDelta, isStart: Bool, on connection: Connection) throws -> Delta {
    var after = keys
    after.replaceSubrange(moved.replaced, with: moved.keys)
    let rows = try reader.rows(after, on: connection)
    let values = try after.map { try rows.row($0) }
    forgetSpare()
    affected.forgetAll()
    affected.take(rows.ends)
    let delta = Delta(window: moved, whole: values)
    if isStart { return delta }
    let difference = KeyDifference.between(keys[...], after[...], touched: Set(keys).union(after))
    let places = Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let others = Set(difference.inserts.map(\.key) + difference.moves.map(\.key))
    let updates = after.enumerated().compactMap { to, key -> (key: Int64, from: Int, to: Int)? in
      others.contains(key) ? nil : places[key].map { (key, $0, to) }
    }
    delta.changes = changes(difference, updates) { rows.find($0) }
    return delta
  }

  /// - Parameter row: The row read for a key; nil if the row is unchanged.
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
