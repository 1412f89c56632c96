import Foundation
import Testing

@Suite struct TestingPageTests {
  @Test(arguments: ["fixture", "shelf-tests", "announced", "failing"])
  func `the page's tests are those that run here`(name: String) throws {
    let file = Readme.root.appending(path: "Tests/ReadmeTests/TestingPage.swift")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex(of: "// begin \(name)"))
    let end = try #require(lines.firstIndex(of: "// end \(name)"))
    let code = lines[(begin + 1)..<end].map { $0 + "\n" }.joined()
    #expect(try Readme.block(name, in: "Documentation/Testing.md") == code)
  }
}
