import QuireMigration
import QuireRow
import QuireSQLite
import Testing

/// A suite that changes schemas.
protocol SchemaChanging {}

extension SchemaChanging {
  func change(
    _ old: [String], _ new: [String], renames: String..., keeping kept: KeptNames = .none, rebuilding: Set<SQLName> = []
  ) throws -> SchemaChange {
    try SchemaChange(
      from: DatabaseSchema(madeBy: old), to: DatabaseSchema(madeBy: new),
      renames: renames.map { try #require(SchemaRename($0)) }, keeping: kept, rebuilding: rebuilding)
  }

  /// Runs the change as a migration on a file made by `old`, and gives the rows that `question` asks for.
  func rows(_ question: String, after change: SchemaChange, on old: [String]) throws -> [[Value]] {
    let fixture = try Fixture()
    try fixture.sqlite { for statement in old { try $0.rows(statement) } }
    try fixture.write(change.sql, as: "20260101000000_change.sql")
    try fixture.migrator(losing: true).apply()
    return try fixture.sqlite { try $0.rows(question) }
  }
}
