import QuireRow
import QuireSQLite

/// Compares what a file's tables enforce with the rules of the models that rest on it: unique values, and what becomes of
/// objects whose target is deleted. Columns that are missing are differences by themselves, see ``SchemaCheck``.
struct EnforcedRules {
  let entities: [Entity]

  func missing(of entity: Entity, _ columns: [SQLName: SchemaReader.Column], in connection: Connection) throws
    -> [SchemaCheck.Difference]
  {
    try uniques(of: entity, columns, in: connection) + deleteRules(of: entity, in: connection)
  }

  /// What the model says is unique, and the file lets be there twice.
  private func uniques(
    of entity: Entity, _ columns: [SQLName: SchemaReader.Column], in connection: Connection
  ) throws -> [SchemaCheck.Difference] {
    let single = entity.properties.filter(\.isUnique).compactMap(\.column).map { [$0] }
    let wanted = (single + entity.uniques).filter { $0.allSatisfy { columns[SQLName($0)] != nil } }
    if wanted.isEmpty { return [] }
    let kept = try SchemaReader(connection).indexes(of: entity.table).filter { $0.isUnique && !$0.isPartial }
      .map { index in index.columns.map { $0.name.map { SQLName($0) } } }
    return try wanted.compactMap { wanted in
      let names = Set(wanted.map { SQLName($0) })
      if kept.contains(where: { $0.allSatisfy { $0.map(names.contains) == true } }) { return nil }
      let index = try quoted(identifier: "\(entity.table)_\(wanted.joined(separator: "_"))_unique")
      let list = try wanted.map { try quoted(identifier: $0) }.joined(separator: ", ")
      let place = wanted.count == 1 ? ".\(wanted[0])" : " (\(wanted.joined(separator: ", ")))"
      return SchemaCheck.Difference(
        "\(entity.table)\(place) is not UNIQUE in the file, and \(entity.name) says it is",
        "CREATE UNIQUE INDEX \(index) ON \(try quoted(identifier: entity.table)) (\(list))")
    }
  }

  /// Where a model says that objects go with another, or prevent its deletion, and the file's foreign key changes them in
  /// another way, in silence. One that prevents the deletion says so, and other tools make tables without any.
  private func deleteRules(of entity: Entity, in connection: Connection) throws -> [SchemaCheck.Difference] {
    let ruled = entity.properties.filter { property in
      property.toOne.map { $0.whenTargetGoes == .cascade || $0.whenTargetGoes == .deny } == true
    }
    if ruled.isEmpty { return [] }
    let keys = try SchemaReader(connection).foreignKeys(of: entity.table)
    return ruled.compactMap { property in
      guard let side = property.toOne, let column = property.column else { return nil }
      let others = ["SET NULL", "SET DEFAULT"] + (side.whenTargetGoes == .deny ? ["CASCADE"] : [])
      guard let action = keys.onDelete(of: column), others.contains(action) else { return nil }
      let target = entities[side.target]
      let rule = "\(target.name)\(side.inverse.map { ".\(target.properties[$0].name)" } ?? "")"
      return SchemaCheck.Difference(
        "\(entity.table).\(column) has ON DELETE \(action) in the file, and the delete rule of \(rule) is "
          + ".\(side.whenTargetGoes)")
    }
  }
}
