import Foundation
import Testing

@Suite struct EmbedTests {
  private let page = "Documentation/QuickStart.md"

  @Test func `the quick start's code is the code that is compiled here`() throws {
    let source = try String(contentsOf: Readme.root.appending(path: "Tests/ReadmeTests/Embed.swift"), encoding: .utf8)
    let parts = source.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(parts.firstIndex(of: "// begin"))
    let end = try #require(parts.firstIndex(of: "// end"))
    let body = parts[(begin + 1)..<end].map { $0 + "\n" }.joined()
    #expect(try Readme.block("embed", in: page) == body)
    #expect(parts[(begin + 1)..<end].count { !$0.isEmpty } <= 30)
  }

  @Test(.timeLimit(.minutes(60))) @MainActor func `the quick start's code prints what the page says`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-readme-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await lend(from: folder.appending(path: "library.db").path)
    let printed = said.withLock { $0 }
    #expect(try Readme.block("embed-output", in: page) == printed)
  }

  @Test func `every path the README links to is there`() throws {
    for page in [
      "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Documentation/Tables.md", "Documentation/Decisions/README.md",
    ] {
      let file = Readme.root.appending(path: page)
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: /\]\((?<path>[^)#:]+)(#[^)]*)?\)/) {
        let target = file.deletingLastPathComponent().appending(path: String(match.path))
        #expect(FileManager.default.fileExists(atPath: target.path), "\(page) links to \(match.path)")
      }
    }
  }
}
