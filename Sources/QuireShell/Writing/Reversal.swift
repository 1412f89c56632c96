import QuireRow
import QuireSQLite

/// Undoes or redoes a write, row by row; refused if a row is no longer as it was left.
///
/// Triggers and foreign keys' actions are off meanwhile, because their effects are already among the changes.
struct Reversal {
  let recording: RecordingConnection
  let models: FileModels
  /// Whether rows may have come since that would point nowhere.
  let checksKeys: Bool
  private var connection: Connection { recording.connection }

  /// - Parameter isForward: Whether to do it again.
  func apply(_ tables: [TableChanges], isForward: Bool) throws {
    let changes = isForward ? tables : ChangeSet.inverse(of: tables)
    let refusal = isForward ? "cannot redo" : "cannot undo"
    try recording.withoutTriggers(savepoint: "quire_undo") {
      let before = checksKeys ? try brokenKeys(tables) : 0
      do {
        try ChangeWriter(changes, on: connection).replace()
      } catch let obstacle as ChangeWriter.Obstacle {
        throw failure(obstacle, refusal)
      }
      if checksKeys, try brokenKeys(tables) > before {
        throw ShellFailure("\(refusal): rows that came since would point nowhere. Nothing was changed")
      }
    }
  }

  private func failure(_ obstacle: ChangeWriter.Obstacle, _ refusal: String) -> ShellFailure {
    switch obstacle {
    case .incomplete(let table), .altered(let table), .referenced(_, let table, _, _):
      return ShellFailure("the table \(table.name) is not as it was. Nothing was changed")
    case .row(let key, let table, let expected, let found):
      let model = models.all.first { $0.table == table.name }
      // Users know a row by its key. The row id, by which it was recorded, is not shown anywhere.
      let known = model?.keyColumns.compactMap { column in
        table.columns.firstIndex(of: column).flatMap { place in (expected ?? found)?[place] }
      }
      let values = known.flatMap { $0.isEmpty ? nil : $0 } ?? key.values
      let row = "\(model?.name ?? table.name) \(values.map { ShownCell($0).text }.joined(separator: ", "))"
      return ShellFailure(
        "\(refusal): \(row) \(Self.difference(expected, found, table)). Nothing was changed", .refused)
    }
  }

  /// What is other than expected, in words.
  private static func difference(_ expected: [Value]?, _ found: [Value]?, _ table: ChangedTable) -> String {
    guard let found else { return "was deleted since" }
    guard let expected, let place = found.indices.first(where: { expected[$0] != found[$0] }) else {
      return "is there again"
    }
    let (known, value) = (ShownCell(expected[place]).text, ShownCell(found[place]).text)
    return "was changed since (\(table.columns[place]): \(known) → \(value))"
  }

  /// How many rows of these tables, and of those that point to them, point nowhere; looked at only if rows come or go.
  private func brokenKeys(_ tables: [TableChanges]) throws -> Int {
    let moved = tables.filter { changes in
      changes.rows.contains { row in
        row.kind != .update
          || models.all.first { $0.table == changes.table.name }.map { keysDiffer(row, $0, changes.table) } ?? true
      }
    }
    var names = Set(moved.map(\.table.name))
    for model in models.all {
      if model.relations.contains(where: { !$0.ownColumns.isEmpty && names.contains(models[$0.target].table) }) {
        names.insert(model.table)
      }
    }
    var count = 0
    for name in names.sorted() {
      let found = try connection.query("SELECT count(*) FROM pragma_foreign_key_check(?)", [.text(name)]).first
      if case .integer(let number)? = found { count += Int(number) }
    }
    return count
  }

  private func keysDiffer(_ row: RowChange, _ model: FileModel, _ table: ChangedTable) -> Bool {
    table.columns.indices.contains { place in
      guard row.old?[place] != row.new?[place] else { return false }
      let name = table.columns[place]
      return model.relations.contains { relation in
        guard case .direct(let pairs) = relation.route else { return false }
        return pairs.contains { $0.own == name }
      }
    }
  }
}
