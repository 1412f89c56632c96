import Catalog
import Foundation
import Quire
import QuireTool

@main struct Main {
  @MainActor static func main() {
    signal(SIGXFSZ, SIG_IGN)  // at a file size limit a write fails with an error, instead of ending the process
    let source = MigrationSource().models {
      try ModelContainer.schemaSQL(for: Book.self, Author.self, Library.self)
    }
    let models: [any PersistentModel.Type] = [Author.self, Book.self, Library.self]
    let tool = Tool(
      "quire", version: "0.1.0", "keeps live model objects in SQLite",
      commands: [
        .migrate(source), .query(models: models), .repl(models: models), .backup, .node, .importCatalog, .demo,
      ], defaultCommand: "repl")
    tool.main()
  }
}
