extension ChangeSet {
  /// Several commits combined into net changes: each row from its first old to its last new state, in the order in
  /// which rows were first changed. A single commit is returned unchanged.
  package static func folded(_ commits: [ChangeSet]) -> [TableChanges] {
    guard commits.count > 1 else { return commits.first?.tables ?? [] }
    var order: [String] = []
    var parts: [String: [TableChanges]] = [:]
    for commit in commits {
      for changes in commit.tables {
        if parts[changes.table.name] == nil { order.append(changes.table.name) }
        parts[changes.table.name, default: []].append(changes)
      }
    }
    return order.compactMap { name in
      guard let parts = parts[name], let last = parts.last else { return nil }
      var rows = last.rows
      if parts.count > 1 {
        var fold = RowFold()
        for part in parts { part.rows.forEach { fold.add($0) } }
        rows = fold.rows
      }
      // A table altered in between has other columns: its later description is used.
      return rows.isEmpty ? nil : TableChanges(table: last.table, rows: rows)
    }
  }
}

/// Combines changes of the same rows.
package struct RowFold {
  private var order: [RowKey] = []
  private var changes: [RowKey: RowChange?] = [:]
  /// Of rows with a NULL in their key, which does not tell them apart: their values do.
  private var unkeyed: [RowChange] = []

  package init() {}

  package mutating func add(_ next: RowChange) {
    if case .composite(let values) = next.key, values.contains(.null) { return addUnkeyed(next) }
    guard let known = changes[next.key] else {
      order.append(next.key)
      changes[next.key] = .some(next)
      return
    }
    changes[next.key] = .some(known.map { RowFold.compose($0, next) } ?? next)
  }

  private mutating func addUnkeyed(_ next: RowChange) {
    guard let old = next.old, let place = unkeyed.lastIndex(where: { $0.new == old }) else {
      return unkeyed.append(next)
    }
    if let change = RowFold.compose(unkeyed[place], next) {
      unkeyed[place] = change
    } else {
      unkeyed.remove(at: place)
    }
  }

  /// `first` followed by `second`, of one row; nil if the row ends as it began: inserted and deleted again.
  static func compose(_ first: RowChange, _ second: RowChange) -> RowChange? {
    switch (first.kind, second.kind) {
    case (.insert, .delete): nil
    case (.insert, _): RowChange(key: first.key, kind: .insert, old: nil, new: second.new)
    case (_, .delete): RowChange(key: first.key, kind: .delete, old: first.old, new: nil)
    case (_, _): RowChange(key: first.key, kind: .update, old: first.old, new: second.new)
    }
  }

  package var rows: [RowChange] { order.compactMap { changes[$0] ?? nil } + unkeyed }
}
