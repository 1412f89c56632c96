import QuireModel
import QuireRow
import QuireSQLite

/// The effect of a commit on a query.
extension WindowOperator {
  struct Effect {
    /// Keys of rows that may have entered, left or moved.
    var touched: Set<Int64> = []
    /// Those of them that belong to the result now.
    var rows: [Entry] = []
    /// Held rows with changes in any of their own columns: collected if there are listeners.
    var updated: [Int64] = []
    var isEmpty: Bool { touched.isEmpty && updated.isEmpty }
  }

  func effect(of batch: CommitBatch, on connection: Connection) throws -> Effect {
    var effect = Effect()
    let isHeard = rowForm != nil
    let columns = state.columns
    var unknown: Set<Int64> = []
    if let changes = batch[columns.table] {
      let places = self.places(0, columns.own, key: columns.key, in: changes.table)
      for place in changes.rows.indices {
        guard case .integer(let key) = changes.rows[place].key else { continue }
        switch changes.rows[place].kind {
        case .delete:
          if holds(key) { effect.touched.insert(key) }
          continue
        case .update:
          if isHeard, holds(key), !changes.rows[place].isSame { effect.updated.append(key) }
          if places.areSame(in: changes.rows[place]) { continue }
        case .insert: break
        }
        if columns.isOwn, let new = changes.rows[place].new, places.areKnown(in: new) {
          judge(key, new, places, into: &effect)
        } else {
          unknown.insert(key)
        }
      }
    }
    for (slot, reached) in columns.reached.enumerated() {
      guard let table = reached.steps.last?.table, let changes = batch[table] else { continue }
      let places = self.places(1 + slot, reached.columns, key: nil, in: changes.table)
      let ends = changes.rows.compactMap { change -> Int64? in
        guard case .integer(let key) = change.key, !places.areSame(in: change) else { return nil }
        return key
      }
      if !ends.isEmpty { unknown.formUnion(try keys(reaching: ends, by: reached.steps, on: connection)) }
    }
    unknown.formUnion(try keys(relatedIn: batch, on: connection))
    if !unknown.isEmpty {
      effect.rows += try entries(keys: unknown.sorted(), on: connection)
      let accepted = Set(effect.rows.map(\.key))
      effect.touched.formUnion(unknown.filter { accepted.contains($0) || holds($0) })
    }
    return effect
  }
}

extension RowChange {
  /// An update that, over several combined commits, ends with the values it began with.
  var isSame: Bool {
    guard kind == .update, let old, let new, !old.values.isEmpty else { return false }
    return old.values == new.values && !old.values.contains(nil)
  }
}
