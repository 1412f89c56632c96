import Foundation

/// The program of Tests/OtherWriter as a process of its own: a writer that uses Quire. For tests that depend on its
/// target, which puts it beside their binary.
package final class QuireProgram: OtherProgram {
  package init(_ file: String) throws {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "OtherWriter")
    try super.init(program, [file])
  }

  override func printing(_ word: String) -> String { "print \(word)" }
}
