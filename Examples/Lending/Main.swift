import Foundation
import QuireMigration
import QuireTool

/// A program that brings its own database up to date: `lending migrate status`, `lending migrate apply --create lending.db`.
///
/// Its migrations are built in from `Migrations/`, and one of them has a step that is written in Swift.
@main struct Lending {
  static let fillSearchKeys = MigrationStep("FillSearchKeys") { database in
    for row in try database.query("SELECT id, title FROM book") {
      guard case .text(let title) = row[1] else { continue }
      let key = title.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      try database.query("UPDATE book SET search_key = \(key) WHERE id = \(row[0])")
    }
  }

  @MainActor static func main() {
    let migrations = MigrationSource.embedded(embeddedMigrations, steps: [fillSearchKeys])
    let tool = Tool("lending", version: "1.0", "lends books", commands: [.migrate(migrations)])
    tool.main()
  }
}
