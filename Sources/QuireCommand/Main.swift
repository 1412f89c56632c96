import Foundation
import QuireTool

@main struct Main {
  static func main() async {
    let tool = Tool(
      "quire", version: "0.1.0", "keeps live model objects in SQLite",
      commands: [.migrate, .importCatalogue, .demo])
    exit(await tool.run(Array(CommandLine.arguments.dropFirst())))
  }
}
