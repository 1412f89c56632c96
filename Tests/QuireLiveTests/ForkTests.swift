import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireSQLite

/// A program that forks, or starts others, while it has a store open.
@Suite(.fewAtOnce) struct ForkTests {
  private let scratch: Scratch
  private var file: String { scratch.file() }

  init() throws { scratch = try Scratch() }

  /// What the program prints; its child may go on behind its end, and has the pipe, too.
  private func lines(_ mode: String) throws -> [String] {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: QuireProgram.path)
    process.arguments = [file, "fork", mode]
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test(arguments: [
    ("child", "parent has 2 1"), ("daemon", nil), ("write", "parent has 3 1"),
  ]) func `the child cannot use the store, and the parent goes on`(mode: String, parent: String?) throws {
    let lines = try lines(mode)
    for use in ["fetch", "new context", "save", "SQL", "open", "open to read", "memory"] {
      let answer = try #require(lines.first { $0.hasPrefix("\(use): ") }, "\(lines)")
      #expect(answer.contains("was open when this process was forked"), "\(answer)")
    }
    #expect(lines.contains("other file: done"), "\(lines)")
    #expect(lines.contains("end of child"), "\(lines)")
    if let parent { #expect(lines.last == parent) }
    if mode == "write" { #expect(lines.count { $0 == "write: done" } == 1, "\(lines)") }
    let connection = try Connection(path: file, access: .readWrite)
    #expect(try connection.rows("SELECT count(*) FROM ticket WHERE text = 'child'") == [[.integer(0)]])
    #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test func `programs that it starts get no descriptor of the store`() throws {
    let store = try ModelContainer(
      for: Ticket.self, configurations: ModelConfiguration(url: URL(filePath: file), changeLog: .on()))
    try store.execute("INSERT INTO ticket (text) VALUES ('Lem')")
    let context = ModelContext(store, isolation: nil)
    let tickets = try context.live(Ticket.self)
    let list = scratch.file("descriptors")
    // Not by `Process`, which closes all descriptors.
    let words = ["sh", "-c", "ls -l /proc/self/fd > '\(list)'"]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for word in arguments { free(word) } }
    var process: pid_t = 0
    #expect(posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0)
    waitpid(process, nil, 0)
    let descriptors = try String(contentsOfFile: list, encoding: .utf8)
    #expect(descriptors.contains("descriptors"))
    #expect(!descriptors.contains("library.db"), "\(descriptors)")
    try store.execute("INSERT INTO ticket (text) VALUES ('Tawada')")
    try context.refresh()
    #expect(tickets.count == 2)
  }
}
