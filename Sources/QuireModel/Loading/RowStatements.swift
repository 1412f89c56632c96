import QuireRow
import QuireSQLite

// The statements that read rows by their keys, bound and ready to be stepped. Most calls have one key, which is bound as it is:
// a list of keys is bound as JSON text, which costs more to read than a row.

extension Entity {
  /// Reads the row with this key.
  func row(_ key: Int64, on connection: Connection) throws -> Statement {
    let statement = try connection.statement(
      find,
      "SELECT \(try columnList()) FROM \(try quoted(identifier: table)) WHERE \(try quoted(identifier: keyColumn)) = ?")
    statement.bind(key, at: 1)
    return statement
  }

  /// Reads the rows with these keys.
  func rows(_ keys: [Int64], on connection: Connection) throws -> Statement {
    if keys.count == 1 { return try row(keys[0], on: connection) }
    let statement = try connection.statement(
      findMany,
      """
      SELECT \(try columnList(prefix: "t.")) FROM json_each(?) AS k \
      CROSS JOIN \(try quoted(identifier: table)) AS t ON t.\(try quoted(identifier: keyColumn)) = k.value
      """)
    statement.bind(KeyList.json(keys), at: 1)
    return statement
  }
}

extension ToManySide {
  /// Reads the rows of the lists of the objects with these keys, each row behind the key of the object that has it in its
  /// list: one list after the other, in the order of `keys`, because a CROSS JOIN's tables are read in the order written.
  func lists(of keys: [Int64], _ target: Entity, on connection: Connection) throws -> Statement {
    if keys.count == 1 {
      let statement = try connection.statement(list, try listSQL(target, isOne: true))
      statement.bind(keys[0], at: 1)
      return statement
    }
    let statement = try connection.statement(lists, try listSQL(target, isOne: false))
    statement.bind(KeyList.json(keys), at: 1)
    return statement
  }

  private func listSQL(_ target: Entity, isOne: Bool) throws -> String {
    let columns = try target.columnList(prefix: "t.")
    let table = try quoted(identifier: target.table)
    let key = "t." + (try quoted(identifier: target.keyColumn))
    let select = isOne ? "SELECT ?1, \(columns) FROM" : "SELECT k.value, \(columns) FROM json_each(?1) AS k CROSS JOIN"
    let owner = isOne ? "?1" : "k.value"
    switch via {
    case .foreignKey(let foreignKey):
      let column = try quoted(identifier: target.properties[foreignKey].column ?? "")
      return "\(select) \(table) AS t WHERE t.\(column) = \(owner)"
    case .join(let join, let own):
      let ownColumn = try quoted(identifier: join.own(own).name)
      let otherColumn = try quoted(identifier: join.other(own).name)
      return """
        \(select) \(try quoted(identifier: join.name)) AS j CROSS JOIN \(table) AS t ON \(key) = j.\(otherColumn) \
        WHERE j.\(ownColumn) = \(owner)
        """
    }
  }
}
