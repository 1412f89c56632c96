import Foundation

/// The built `quire`, run in a folder of its own as a user runs it.
///
/// SwiftPM builds it before these tests, which depend on its target, and puts it beside their binary.
final class Scratch: Sendable {
  let folder: URL
  static let binary = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "quire")

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-command-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// What one run came to.
  struct Ran {
    let status: Int32
    let output: String
    let error: String

    /// How often the word that begins a message stands at the start of a line.
    var messages: Int { error.split(separator: "\n").count { $0.hasPrefix("error: ") || $0.hasPrefix("refused: ") } }
    var firstLine: String { error.split(separator: "\n").first.map(String.init) ?? "" }
  }

  /// Runs `quire` with these words.
  func callAsFunction(_ words: String...) throws -> Ran {
    try Scratch.run(Scratch.binary.path, words, in: folder)
  }

  /// Runs a shell script in which `quire` is on PATH.
  func shell(_ script: String, environment: [String: String] = [:]) throws -> Ran {
    try Scratch.run("/bin/sh", ["-c", script], in: folder, environment: environment)
  }

  /// `quire`, or another program, to be started: it ignores no signals, though who runs the tests may.
  func process(_ words: [String], program: String = binary.path) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["--default-signal", program] + words
    process.currentDirectoryURL = folder
    return process
  }

  private static func run(
    _ program: String, _ words: [String], in folder: URL, environment: [String: String] = [:]
  ) throws -> Ran {
    // Into files: a pipe that nobody empties would stop the program.
    let said = FileManager.default.temporaryDirectory.appending(path: "quire-said-\(UUID())")
    try FileManager.default.createDirectory(at: said, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: said) }
    func file(_ name: String) throws -> FileHandle {
      let path = said.appending(path: name)
      try Data().write(to: path)
      return try FileHandle(forWritingTo: path)
    }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = words
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try file("output")
    process.standardError = try file("error")
    var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("QUIRE_") }
    all["PATH"] = binary.deletingLastPathComponent().path + ":" + (all["PATH"] ?? "/usr/bin:/bin")
    process.environment = all.merging(environment) { _, new in new }
    try process.run()
    process.waitUntilExit()
    return Ran(
      status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
      output: try String(contentsOf: said.appending(path: "output"), encoding: .utf8),
      error: try String(contentsOf: said.appending(path: "error"), encoding: .utf8))
  }

  // MARK: Files

  func path(_ name: String) -> String { folder.appending(path: name).path }

  @discardableResult func write(_ name: String, _ lines: String...) throws -> String {
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: folder.appending(path: name))
    return name
  }

  /// The names of what is in the folder.
  var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() } }

  func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

  /// A file of books in Quire's own form.
  @discardableResult func books(_ name: String = "books.csv", _ records: String...) throws -> String {
    let records = records.isEmpty ? ["Solaris,Stanisław Lem,1961,pol", "Eden,Stanisław Lem,1959,pol"] : records
    return try write(name, (["title,authors,year,language"] + records).joined(separator: "\n"))
  }

  /// A file of so many different books by 500 authors.
  @discardableResult func manyBooks(_ count: Int) throws -> String {
    let records = (0..<count).map { "Book \($0) of a long shelf of books,Author \($0 % 500),\(1900 + $0 % 100),eng" }
    return try write("many.csv", (["title,authors,year,language"] + records).joined(separator: "\n"))
  }

  /// A catalog with the two books of ``books(_:_:)``.
  @discardableResult func catalog(_ name: String = "library.db") throws -> String {
    _ = try self("import", name, "--create", "--books", try books())
    return name
  }
}
