import Foundation
import QuireTool

@main struct Main {
  static func main() async {
    signal(SIGXFSZ, SIG_IGN)  // at a limit on file sizes a write fails and is told, instead of ending the process
    let tool = Tool(
      "quire", version: "0.1.0", "keeps live model objects in SQLite",
      commands: [.migrate, .query, .importCatalogue, .demo])
    exit(await tool.run(Array(CommandLine.arguments.dropFirst())))
  }
}
