import Foundation
import Quire
import Testing

@MainActor @Suite struct ViewModelsTests {
  @Test func `the page's code is the code that is compiled here`() throws {
    let source = try String(
      contentsOf: Readme.root.appending(path: "Tests/ReadmeTests/ViewModels.swift"), encoding: .utf8)
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex(of: "// begin"))
    let end = try #require(lines.firstIndex(of: "// end"))
    let body = lines[(begin + 1)..<end].map { $0 + "\n" }.joined()
    #expect(try Readme.block("view-models", in: "Documentation/ViewModels.md") == body)
  }

  @Test(.timeLimit(.minutes(60))) func `the page's code does what the page says`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-view-models-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = try Program(file: folder.appending(path: "library.db").path)
    let mails = try sendMails(for: program)
    let tokens = try withEnvironment(program) { [try show(), try show()] }
    #expect(program.screen == ["Welcome: ; 0 to lend", "Welcome: ; 0 to lend"])
    let context = program.store.mainContext
    try context.transaction {
      context.insert(Book(title: "Solaris"))
      context.insert(Book(title: "Eden"))
    }
    try await until { program.mails.count == 1 && program.screen.count == 4 }
    #expect(program.screen.last == "Welcome: ‘Eden’, ‘Solaris’; 2 to lend")
    try program.desk.get().greeting.value = "Hello"
    try await until { program.screen.count == 6 }
    #expect(program.screen.last == "Hello: ‘Eden’, ‘Solaris’; 2 to lend")
    #expect(program.mails == ["2 changed"] && tokens.allSatisfy { $0.runs == 3 })
    mails.cancel()
    try program.store.close()
  }

  private func until(_ condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    for _ in 0..<20 { await Task.yield() }
  }
}
