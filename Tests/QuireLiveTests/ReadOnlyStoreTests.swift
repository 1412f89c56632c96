import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// A store that is opened for reading only: what it leaves, and where it can be.
@MainActor @Suite(.fewOnMainActor) struct ReadOnlyStoreTests {
  private let scratch: Scratch
  private let file: URL

  init() throws {
    scratch = try Scratch()
    file = URL(filePath: scratch.path).appending(path: "library.db")
    let store = try ModelContainer(for: Ticket.self, url: file)
    try store.execute("INSERT INTO ticket (text) VALUES ('Lem'), ('Tawada')")
    try store.close()
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()) ?? [] }

  private var program: String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "OtherWriter").path
  }

  private func reading() throws -> ModelContainer {
    try ModelContainer(
      for: Ticket.self, configurations: ModelConfiguration(url: file, allowsSave: false))
  }

  @Test(arguments: [false, true]) func `nothing is left beside the file, closed or released`(closes: Bool) async throws
  {
    let bytes = try Data(contentsOf: file)
    do {
      let store = try reading()
      let context = ModelContext(store, isolation: nil)
      #expect(try context.fetch(FetchDescriptor<Ticket>()).count == 2)
      #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Ticket>()) } == 2)
      #expect(throws: (any Error).self) { try store.execute("DELETE FROM ticket") }
      if closes { try store.close() }
    }
    #expect(names == ["library.db"])
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test func `what another program has open stays, and its commits are seen`() throws {
    let writer = try ModelContainer(for: Ticket.self, url: file)
    let store = try reading()
    let context = ModelContext(store, isolation: nil)
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 2)
    try writer.execute("INSERT INTO ticket (text) VALUES ('Homer')")
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 3)
    try store.close()
    try writer.execute("INSERT INTO ticket (text) VALUES ('Ada')")
    #expect(names.contains("library.db-wal"))
    try writer.close()
    #expect(names == ["library.db"])
  }

  @Test func `a file of other models is refused, and nothing is left beside it`() throws {
    for allowsSave in [true, false] {
      #expect(throws: SchemaError.self) {
        try ModelContainer(
          for: Item.self, configurations: ModelConfiguration(url: file, allowsSave: allowsSave))
      }
      #expect(names == ["library.db"])
    }
  }

  @Model final class Item {
    var name = ""
    init() {}
  }

  nonisolated static let canBeNobody = getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

  nonisolated enum Place: CaseIterable, Sendable { case file, folder, both, mount }

  @Test(
    .enabled(if: canBeNobody, "needs root, setpriv and unshare, for places that cannot be written to"),
    arguments: Place.allCases)
  func `it is read where it cannot be written, and nothing is left`(place: Place) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.path)
    let read = "'\(program)' '\(file.path)' read"
    let script: String
    switch place {
    case .file: script = "chmod 444 '\(file.path)'; exec setpriv --reuid 65534 --clear-groups \(read)"
    case .folder: script = "chmod 755 '\(scratch.path)'; exec setpriv --reuid 65534 --clear-groups \(read)"
    case .both:
      script =
        "chmod 444 '\(file.path)'; chmod 555 '\(scratch.path)'; exec setpriv --reuid 65534 --clear-groups \(read)"
    case .mount:
      script =
        "exec unshare -m sh -c \"mount --bind '\(scratch.path)' '\(scratch.path)' && mount -o remount,ro,bind '\(scratch.path)' && \(read)\""
    }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script]
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(said == "Lem Tawada\n" && process.terminationStatus == 0, "\(place)")
    #expect(names == ["library.db"], "\(place)")
  }

  @Test(.enabled(if: canBeNobody, "needs root and setpriv, to become somebody who may not write the file"))
  func `one that is read without locks follows what a program with more rights commits`() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.path)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    process.arguments = ["--reuid", "65534", "--clear-groups", program, file.path, "read"]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    func said() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }
    #expect(said() == "Lem Tawada\n")
    let store = try ModelContainer(for: Ticket.self, url: file)
    for name in ["Homer", "Ada"] {
      try store.execute("INSERT INTO ticket (text) VALUES (\(name))")
      try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
      #expect(said().hasSuffix("\(name)\n"))
    }
    try store.close()
    try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    #expect(said() == "Lem Tawada Homer Ada\n")
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
