import QuireRow

/// A trigger that the models need, for a rule that no foreign key can express.
struct SchemaTrigger {
  let name: String
  /// The table that it belongs to.
  let table: String
  let event: String
  let statements: String

  var sql: String {
    get throws { "CREATE TRIGGER \(try quoted(identifier: name)) \(event) BEGIN \(statements) END" }
  }
}

extension SchemaSQL {
  /// All of them, in the order of the models.
  func triggers() throws -> [SchemaTrigger] {
    try entities.flatMap { entity in
      try entity.properties.compactMap { try rule($0, of: entity) }
        + (try entity.fullText?.triggers(for: entity) ?? [])
    }
  }

  /// The delete rule of a property of the deleted object, if the foreign key is not on the other side.
  ///
  /// In SQLite a trigger does not fire itself, so a rule that leads from a model to itself takes one step if rows are
  /// deleted by SQL; deletion of objects takes all steps.
  private func rule(_ property: Property, of entity: Entity) throws -> SchemaTrigger? {
    let table = try quoted(identifier: entity.table)
    if let side = property.toOne, let column = property.column {
      let target = entities[side.target]
      let (other, otherKey) = (try quoted(identifier: target.table), try quoted(identifier: target.keyColumn))
      let reference = "OLD.\(try quoted(identifier: column))"
      switch side.deleteRule {
      case .cascade:
        return SchemaTrigger(
          name: "\(entity.table)_\(column)_cascade", table: entity.table,
          event: "AFTER DELETE ON \(table) WHEN \(reference) IS NOT NULL",
          statements: "DELETE FROM \(other) WHERE \(otherKey) = \(reference);")
      case .deny:
        let text = DeniedDelete.text(entity.name, property.name)
        return SchemaTrigger(
          name: "\(entity.table)_\(column)_deny", table: entity.table,
          event: "BEFORE DELETE ON \(table) WHEN EXISTS (SELECT 1 FROM \(other) WHERE \(otherKey) = \(reference))",
          statements: "SELECT RAISE(ABORT, '\(text.replacing("'", with: "''"))');")
      case .nullify, .noAction: return nil
      }
    }
    guard let side = property.toMany, side.deleteRule == .cascade, case .join(let join, let own) = side.via else {
      return nil
    }
    let target = entities[side.target]
    let otherKey = try quoted(identifier: target.keyColumn)
    let key = "OLD.\(try quoted(identifier: entity.keyColumn))"
    // The row itself is deleted anyway, and must not be deleted twice.
    let others = target.index == entity.index ? " AND \(otherKey) <> \(key)" : ""
    return SchemaTrigger(
      name: "\(entity.table)_\(Naming.snakeCase(property.name))_cascade", table: entity.table,
      event: "BEFORE DELETE ON \(table)",
      statements: """
        DELETE FROM \(try quoted(identifier: target.table)) WHERE \(otherKey) IN \
        (SELECT \(try quoted(identifier: join.other(own).name)) FROM \(try quoted(identifier: join.name)) \
        WHERE \(try quoted(identifier: join.own(own).name)) = \(key))\(others);
        """)
  }
}

/// The file's message if a row may not be deleted.
enum DeniedDelete {
  private static let end = " leads somewhere, and its delete rule is .deny"

  static func text(_ model: String, _ property: String) -> String { "\(model).\(property)\(end)" }
  static func isOne(_ message: String) -> Bool { message.hasSuffix(end) }
}
