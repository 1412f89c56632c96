import QuireRow
import QuireSQLite

/// The effects of the file's triggers on a save's statements. Additional rows that triggers write are captured and
/// followed. If a trigger suppresses a write or changes a new object's key, the save throws an error.
extension Writing {
  static func ignored(_ what: String) -> ModelError {
    .changedByTrigger(
      "\(what): a trigger of its table, or an ON CONFLICT IGNORE in it, has ignored it. Nothing was saved.")
  }

  func isThere(_ entity: Entity, _ key: Int64, _ connection: Connection) throws -> Bool {
    let table = try quoted(identifier: entity.table)
    let column = try quoted(identifier: entity.keyColumn)
    return try !connection.query("SELECT 1 FROM \(table) WHERE \(column) = ?", [.integer(key)]).rows.isEmpty
  }

  func isThere(_ pair: JoinEdits.Pair, in join: JoinTable, _ connection: Connection) throws -> Bool {
    let (first, second) = (try quoted(identifier: join.first.name), try quoted(identifier: join.second.name))
    return try !connection.query(
      "SELECT 1 FROM \(try quoted(identifier: join.name)) WHERE \(first) = ? AND \(second) = ?",
      [.integer(saved(pair.first)), .integer(saved(pair.second))]
    ).rows.isEmpty
  }

  /// Where triggers or cascades have changed rows: every new object must still have its row, which no other statement
  /// can have made, because its key was given just now.
  func requireInserted(_ connection: Connection) throws {
    for (index, places) in places.enumerated() {
      guard let first = places.first, let last = places.last else { continue }
      let entity = store.entities[index]
      let column = try quoted(identifier: entity.keyColumn)
      let count = try connection.query(
        "SELECT count(*) FROM \(try quoted(identifier: entity.table)) WHERE \(column) BETWEEN ? AND ?",
        [.integer(newKeys[first]), .integer(newKeys[last])]
      ).first
      if count != .integer(Int64(places.count)) {
        throw ModelError.changedByTrigger(
          "a trigger has deleted the row of a new \(entity.name), or given it another key, which its object cannot follow. "
            + "Nothing was saved.")
      }
    }
  }
}
