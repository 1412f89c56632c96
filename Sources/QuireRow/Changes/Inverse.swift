extension ChangeSet {
  /// The changes that undo a commit: the rows in the opposite order, each from its last state to its first.
  package static func inverse(of tables: [TableChanges]) -> [TableChanges] {
    tables.reversed().map { TableChanges(table: $0.table, rows: $0.rows.reversed().map(\.inverse)) }
  }
}

extension RowChange {
  var inverse: RowChange {
    let kind: Kind =
      switch self.kind {
      case .insert: .delete
      case .update: .update
      case .delete: .insert
      }
    return RowChange(key: key, kind: kind, old: new, new: old)
  }
}
