import Foundation

/// Checks small sources with the toolchain's own compiler and the modules and the macro plugin of this very build.
///
/// A macro target can't be imported by a test, and what counts is what a user sees: the compiler's diagnostics.
struct Compiler {
  struct Failed: Error, CustomStringConvertible { let description: String }

  let swiftc: URL
  /// Where this test's executable, the modules and the plugin were built.
  let products: URL

  /// Nil where the toolchain or the plugin is not where Linux builds have them.
  static let shared: Compiler? = {
    guard let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
      // Not `String(contentsOfFile:)`, which reads one page of a file in /proc and takes it for all.
      let maps = try? FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps")).readToEnd(),
      let line = String(decoding: maps, as: UTF8.self).split(separator: "\n").first(where: {
        $0.hasSuffix("/lib/swift/linux/libswiftCore.so")
      }),
      let start = line.firstIndex(of: "/")
    else { return nil }
    let core = URL(filePath: String(line[start...]))
    let usr = (0..<4).reduce(core) { url, _ in url.deletingLastPathComponent() }
    let compiler = Compiler(
      swiftc: usr.appending(path: "bin/swiftc"), products: URL(filePath: executable).deletingLastPathComponent())
    let files = [compiler.swiftc, compiler.plugin].map(\.path)
    return files.allSatisfy(FileManager.default.isExecutableFile) ? compiler : nil
  }()

  private var plugin: URL { products.appending(path: "QuireMacros-tool") }

  /// Type-checks the sources as one module and gives the diagnostics of each, in order.
  func check(_ sources: [String], _ options: [String] = []) async throws -> [[Diagnosis]] {
    try await checkWithExpansions(sources, options).own
  }

  /// As ``check(_:_:)``, with the errors that are not at a line of the sources, but in what macros have written.
  func checkWithExpansions(_ sources: [String], _ options: [String] = []) async throws
    -> (own: [[Diagnosis]], generated: [String])
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-macros-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var paths: [String] = []
    for (number, source) in sources.enumerated() {
      let file = folder.appending(path: "case\(number).swift")
      try Data(source.utf8).write(to: file)
      paths.append(file.path)
    }
    let text = try await run(paths, options, in: folder)
    let lines = text.split(separator: "\n")
    let generated = lines.filter { $0.contains("@__swiftmacro_") && $0.contains(": error: ") }.map(String.init)
    return (paths.map { path in lines.compactMap { Diagnosis($0, in: path) } }, generated)
  }

  /// How many ways the type checker tries for a source that compiles: what its time goes with, however busy the machine is.
  func attempts(_ source: String) async throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-statistics-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let found = try await check([source], ["-stats-output-dir", folder.path])[0]
    if !found.isEmpty { throw Failed(description: "\(found)") }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.contains("frontend") {
      let data = try Data(contentsOf: folder.appending(path: name))
      let numbers = try JSONSerialization.jsonObject(with: data) as? [String: Any]
      if let count = numbers?["Sema.NumConstraintScopes"] as? Int { return count }
    }
    throw Failed(description: "the compiler keeps no statistics")
  }

  /// What the compiler says of a source that says itself what is expected, fix-its and all: nothing where it is so.
  func verify(_ source: String) async throws -> String {
    try await check([source], ["-Xfrontend", "-verify"])[0].map { "\($0)" }.joined(separator: "\n")
  }

  /// Suspends while the compiler runs, so that other tests have the thread.
  func run(_ paths: [String], _ options: [String], in folder: URL) async throws -> String {
    let process = Process()
    process.executableURL = swiftc
    process.currentDirectoryURL = folder
    let maps = try FileManager.default.contentsOfDirectory(atPath: products.path).sorted()
      .filter { $0.hasSuffix(".build") }.map { products.appending(path: "\($0)/module.modulemap").path }
      .filter(FileManager.default.fileExists)
    // Where values go from isolation to isolation is looked at behind the types.
    let mode = options.contains { $0.hasPrefix("-emit") } ? [] : ["-typecheck"]
    process.arguments =
      mode + [
        "-wmo", "-swift-version", "6", "-module-name", "Cases", "-diagnostic-style", "llvm",
        "-I", products.appending(path: "Modules").path,
        "-load-plugin-executable", "\(plugin.path)#QuireMacros",
      ] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + options + paths
    let output = folder.appending(path: "output")
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    process.standardError = handle
    process.standardOutput = handle
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    let text = try String(contentsOf: output, encoding: .utf8)
    // A diagnostic without a place is about the command, not about a source.
    if text.contains("<unknown>:0: error") || process.terminationReason != .exit { throw Failed(description: text) }
    return text
  }
}

/// One error, warning or note, at its line of a source.
struct Diagnosis: CustomStringConvertible {
  let line: Int
  let column: Int
  let severity: String
  let text: String

  /// - Parameter output: A line of the compiler's output, such as `case0.swift:3:7: error: …`.
  init?(_ output: Substring, in path: String) {
    guard output.hasPrefix(path + ":") else { return nil }
    let parts = output.dropFirst(path.count + 1).split(separator: ":", maxSplits: 3)
    guard parts.count == 4, let line = Int(parts[0]), let column = Int(parts[1]) else { return nil }
    self.line = line
    self.column = column
    severity = String(parts[2].dropFirst())
    text = String(parts[3].dropFirst())
  }

  var description: String { "\(line):\(column): \(severity): \(text)" }
}
