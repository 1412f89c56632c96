import Foundation

/// The program of Tests/OtherWriter as a process of its own: a writer that uses Quire. For tests that depend on its
/// target, which puts it beside their binary.
package final class QuireProgram: OtherProgram {
  package static var path: String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path + "/OtherWriter"
  }

  package init(_ file: String, _ arguments: String...) throws {
    try super.init(URL(filePath: QuireProgram.path), [file] + arguments)
  }

  override func printing(_ word: String) -> String { "print \(word)" }
}
