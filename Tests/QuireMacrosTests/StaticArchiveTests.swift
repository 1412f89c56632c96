import Foundation
import TestSupport
import Testing

private let archiver = ["/usr/bin/ar", "/usr/bin/llvm-ar"].first(where: FileManager.default.isExecutableFile)

/// A program that is linked with a static library of ours, of which the linker takes what is referred to.
@Suite(.enabled(if: Compiler.shared != nil && archiver != nil), .fewCompilers) struct StaticArchiveTests {
  @Test func `predicates of every kind are translated, and errors have their texts`() async throws {
    let compiler = try #require(Compiler.shared)
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-archive-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    let modules = ["CSQLite", "QuireRow", "QuireSQLite", "QuireShared", "QuireModel", "QuireLive", "Quire"]
    let objects = try modules.flatMap { module in
      let built = compiler.products.appending(path: "\(module).build").path
      return try FileManager.default.subpathsOfDirectory(atPath: built).filter { $0.hasSuffix(".o") }
        .map { "\(built)/\($0)" }
    }
    let archiver = try #require(archiver)
    let archived = try output(of: archiver, ["rcs", folder.appending(path: "libarchived.a").path] + objects)
    #expect(archived == "")

    let source = folder.appending(path: "main.swift")
    try Data(Self.program.utf8).write(to: source)
    let program = folder.appending(path: "program").path
    let options = ["-L", folder.path, "-larchived", "-lsqlite3", "-lswiftSynchronization"]
    let linked = try await compiler.run([source.path], ["-emit-executable", "-o", program] + options, in: folder)
    #expect(linked == "")
    #expect(try output(of: program, []) == "1 1 1 1 1 1 1 1\ntrue true true true\n")
  }

  private static let program = """
    import Quire

    @Model final class Item {
      var name = "ab"
      var count = 3
      var other: Int?
      var date = Date(timeIntervalSince1970: 0)
      init() {}
    }

    let store = try ModelContainer(
      for: Item.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    context.insert(Item())
    try context.save()
    let (numbers, epoch, path) = ([3], Date(timeIntervalSince1970: 0), \\Item.count as any KeyPath<Item, Int> & Sendable)
    let keys = ["ab": 1].keys
    let conditions: [Predicate<Item>] = [
      #Predicate { $0.count + $0.count == 6 }, #Predicate { numbers.contains($0.count) },
      #Predicate { $0.name.hasSuffix("b") }, #Predicate { $0.name.localizedStandardContains("A") },
      #Predicate { $0.date < epoch + 60 }, #Predicate { $0[keyPath: path] == 3 },
      #Predicate { keys.contains($0.name) }, #Predicate { ($0.other ?? 3) == $0.count },
    ]
    let counts = try conditions.map { try context.fetchCount(FetchDescriptor(predicate: $0)) }
    print(counts.map { "\\($0)" }.joined(separator: " "))
    let errors: [any Error] = [
      ModelError.readOnly, ChangeLogError.off(path: "a"), StoreBackupError.exists(path: "a"),
      ModelEnvironmentError.missing(type: "Item"),
    ]
    let texts = errors.map { $0 is any QuireError && $0.localizedDescription == String(describing: $0) }
    print(texts.map(String.init).joined(separator: " "))
    """

  private func output(of path: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
