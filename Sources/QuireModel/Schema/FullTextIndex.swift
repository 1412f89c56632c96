import QuireRow

/// A model's full-text index: an FTS5 table that stores the words of its columns but not the text.
///
/// Triggers keep it up to date for the writes of every program. A row that REPLACE deletes without firing triggers
/// leaves its words behind; they lead to no row, and `rebuild` removes them.
struct FullTextIndex: Sendable {
  let table: String
  let columns: [String]
  let words: FullTextWords

  /// The name of the index of a model's table.
  static func name(for table: String) -> String { table + "_search" }

  func creation(for entity: Entity) throws -> String {
    let options = [
      "content = \(literal(entity.table))", "content_rowid = \(literal(entity.keyColumn))",
      "tokenize = \(literal(words.rawValue))",
    ]
    let parts = try columns.map { try quoted(identifier: $0) } + options
    return "CREATE VIRTUAL TABLE \(try quoted(identifier: table)) USING fts5(\(parts.joined(separator: ", ")))"
  }

  /// Reads all words again.
  func rebuilding() throws -> String {
    let name = try quoted(identifier: table)
    return "INSERT INTO \(name)(\(name)) VALUES ('rebuild')"
  }

  func triggers(for entity: Entity) throws -> [SchemaTrigger] {
    let (index, content) = (try quoted(identifier: table), try quoted(identifier: entity.table))
    let names = try columns.map { try quoted(identifier: $0) }
    let key = try quoted(identifier: entity.keyColumn)
    func values(_ side: String) -> String { ([key] + names).map { "\(side).\($0)" }.joined(separator: ", ") }
    let list = names.joined(separator: ", ")
    let adding = "INSERT INTO \(index)(rowid, \(list)) VALUES (\(values("NEW")));"
    let removing = "INSERT INTO \(index)(\(index), rowid, \(list)) VALUES ('delete', \(values("OLD")));"
    let differs = ([key] + names).map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
    return [
      SchemaTrigger(
        name: table + "_insert", table: entity.table, event: "AFTER INSERT ON \(content)", statements: adding),
      SchemaTrigger(
        name: table + "_update", table: entity.table, event: "AFTER UPDATE ON \(content) WHEN \(differs)",
        statements: "\(removing) \(adding)"),
      SchemaTrigger(
        name: table + "_delete", table: entity.table, event: "AFTER DELETE ON \(content)", statements: removing),
    ]
  }

  private func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
