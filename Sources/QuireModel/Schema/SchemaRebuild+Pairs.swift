import QuireRow
import QuireSQLite

/// The two columns that pair the objects of a relationship: a table's key and a foreign key, or those of a join table.
private struct PairColumns {
  struct End {
    let column: String
    let entity: Entity
    /// The side's property; nil if only the other side has one.
    let property: Property?
  }

  let table: String
  let first: End
  let second: End
  /// Nil for a foreign key, which is the column of the second end; then the first end's property is the one with it.
  let join: JoinTable?
  /// Whether an object of the second end has one of the first, not many.
  let isOneToOne: Bool

  static func all(_ entities: [Entity], _ joins: [JoinTable]) -> [PairColumns] {
    let keys = entities.flatMap { entity in
      entity.properties.compactMap { property -> PairColumns? in
        guard let side = property.toOne, let column = property.column else { return nil }
        let target = entities[side.target]
        return PairColumns(
          table: entity.table, first: End(column: entity.keyColumn, entity: entity, property: property),
          second: End(column: column, entity: target, property: side.inverse.map { target.properties[$0] }),
          join: nil, isOneToOne: side.isOneToOne)
      }
    }
    return keys
      + joins.map { join in
        func end(_ side: JoinSide) -> End {
          End(
            column: join.own(side).name, entity: entities[join.own(side).entity],
            property: SchemaRebuild.property(of: join, side, in: entities))
        }
        return PairColumns(
          table: join.name, first: end(.first), second: end(.second), join: join, isOneToOne: false)
      }
  }
}

/// Relationships that the newer version stores elsewhere, which keep their pairs: a foreign key that became a join
/// table, or that is a column of the other table, or has another name that only the other side tells.
extension SchemaRebuild {
  /// A relationship's pairs on their way from the old tables to the new ones.
  struct MovedPairs {
    /// A table of the columns `own` and `other`.
    let table: String
    /// Run when the new tables are there.
    let filling: String
  }

  /// Takes the pairs out of the old tables, before any of these is made again.
  func takePairs() throws -> [MovedPairs] {
    let before = PairColumns.all(old.entities, old.joins).filter { $0.join == nil }
    var result: [MovedPairs] = []
    for pairs in PairColumns.all(new.entities, new.joins) where try isNew(pairs) {
      for former in before {
        guard let isCrossed = isSame(pairs, former), try !isKept(former) else { continue }
        result.append(try take(former, for: pairs, isCrossed, named: "_quire_pairs_\(result.count)"))
        break
      }
    }
    return result
  }

  func fill(_ moved: [MovedPairs]) throws {
    for pairs in moved {
      try connection.executeInMigration(pairs.filling)
      try connection.executeInMigration("DROP TABLE \(pairs.table)")
    }
  }

  private func take(
    _ former: PairColumns, for pairs: PairColumns, _ isCrossed: Bool, named name: String
  ) throws -> MovedPairs {
    let (own, other) = isCrossed ? (former.second, former.first) : (former.first, former.second)
    let (table, target) = try (present(former.first.entity), present(former.second.entity))
    try connection.executeInMigration(
      "CREATE TABLE \(name) (own INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (own, other)) STRICT")
    // References to rows that are not there stay behind.
    try connection.executeInMigration(
      """
      INSERT OR IGNORE INTO \(name) SELECT \(try quoted(identifier: own.column)), \(try quoted(identifier: other.column))
      FROM \(try quoted(identifier: table)) WHERE \(try quoted(identifier: former.second.column)) IN
      (SELECT \(try quoted(identifier: former.second.entity.keyColumn)) FROM \(try quoted(identifier: target)))
      """)
    let (into, first, second) = try (
      quoted(identifier: pairs.table), quoted(identifier: pairs.first.column), quoted(identifier: pairs.second.column)
    )
    let filling =
      pairs.join == nil
      ? "UPDATE \(into) SET \(second) = (SELECT min(other) FROM \(name) WHERE own = \(first)) "
        + "WHERE \(first) IN (SELECT own FROM \(name))"
      : "INSERT INTO \(into) (\(first), \(second)) SELECT own, other FROM \(name)"
    return MovedPairs(table: name, filling: filling)
  }

  /// Whether the newer version's columns have no pairs yet.
  private func isNew(_ pairs: PairColumns) throws -> Bool {
    if let join = pairs.join { return try sql(of: join.name) == nil && former(of: join) == nil }
    guard let property = pairs.first.property, property.isNullable else { return false }
    return try source(of: property, in: pairs.first.entity) == nil
  }

  /// Whether the foreign key's column stays that of a property.
  private func isKept(_ former: PairColumns) throws -> Bool {
    guard let entity = new.entities.first(where: { isSame($0, former.first.entity) }) else { return false }
    return try entity.properties.contains { property in
      try source(of: property, in: entity).map { SQLName($0) == SQLName(former.second.column) } ?? false
    }
  }

  /// Whether it is the same relationship, by its classes and the name of one of its properties, and whether its ends
  /// have changed places. Nil if it is another one, or if the newer one has no room for all pairs of the older.
  private func isSame(_ pairs: PairColumns, _ former: PairColumns) -> Bool? {
    func isSame(_ end: PairColumns.End, _ other: PairColumns.End) -> Bool { self.isSame(end.entity, other.entity) }
    func isNamed(_ end: PairColumns.End, _ other: PairColumns.End) -> Bool {
      guard let property = end.property, let before = other.property else { return false }
      return before.name == property.formerName || before.name == property.name
    }
    if isSame(pairs.first, former.first), isSame(pairs.second, former.second),
      isNamed(pairs.first, former.first) || isNamed(pairs.second, former.second)
    {
      return false
    }
    if pairs.join != nil || former.isOneToOne, isSame(pairs.first, former.second), isSame(pairs.second, former.first),
      isNamed(pairs.first, former.second) || isNamed(pairs.second, former.first)
    {
      return true
    }
    return nil
  }

  /// The table that has an older version's rows by now.
  private func present(_ entity: Entity) throws -> String {
    if try sql(of: entity.table) != nil { return entity.table }
    return new.entities.first { isSame($0, entity) }?.table ?? entity.table
  }

  private func source(of property: Property, in entity: Entity) throws -> String? {
    let columns = try reader.columns(of: entity.table)
    return source(of: property, in: entity, Set(columns.filter { $0.keyPlace == 0 }.map { SQLName($0.name) }))
  }
}
