import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel
@testable import QuireSQLite

/// A write-ahead log that somebody truncates while the file is open.
@Suite(.fewAtOnce) struct TruncatedLogTests {
  private let file: TemporaryFile
  private var log: String { file.url.path + "-wal" }

  init() throws {
    file = try TemporaryFile()
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    try store.execute("INSERT INTO writer (name) VALUES ('Lem')")
  }  // closed: all of it is in the database

  private func titles() throws -> [String] {
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    return try ModelContext(store).all(Writer.self).map(\.name).sorted()
  }

  @Test(arguments: [0, 100, 8000]) func `nothing more is written, and the database is whole`(length: Int) async throws {
    try await useTruncated(length)
    // What is whole of the log can be recovered.
    let titles = try titles()
    #expect(titles.contains("Lem") && !titles.contains("lost"), "\(titles)")
  }

  private func useTruncated(_ length: Int) async throws {
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let context = ModelContext(store, isolation: nil)
    for name in ["Dick", "Le Guin"] {
      context.insert(Writer(name: name))
      try context.save()
    }
    #expect(truncate(log, length) == 0)
    context.insert(Writer(name: "lost"))
    let refusal = #expect(throws: DatabaseError.self) { try context.save() }
    #expect(refusal == .fileReplaced(path: store.store.database.path))
    #expect("\(refusal, default: "")".contains("or the -wal truncated"))
    await #expect(throws: DatabaseError.self) { try await store.write { $0.insert(Writer(name: "lost")) } }
  }

  @Test func `closing it right after that leaves the database, too`() throws {
    do {
      let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
      let context = ModelContext(store)
      context.insert(Writer(name: "Dick"))
      try context.save()
      _ = try ModelContext(store).all(Writer.self)
      #expect(truncate(log, 0) == 0)
    }
    #expect(try titles() == ["Lem"])
  }

  @Test(arguments: [0, 100, 20_000])
  func `reading what is not there any longer is an error of the file`(length: Int) async throws {
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    try store.execute("UPDATE writer SET name = 'Dick'")
    for number in 0..<400 {
      let title = "\(number)"
      try store.execute("INSERT INTO volume (title, price, is_in) VALUES (\(title), 0, 1)")
    }
    #expect(truncate(log, length) == 0)
    var refusals = 0
    for _ in 0..<3 {
      do {
        let names = try await store.read { try $0.all(Writer.self).map(\.name) + $0.all(Volume.self).map(\.title) }
        #expect(names.first == "Dick" || names.first == "Lem")  // of pages that a connection still has
      } catch {
        refusals += 1
        #expect(error as? DatabaseError == .fileReplaced(path: store.store.database.path), "\(error)")
        #expect("\(error)".contains("or the -wal truncated"))
      }
      do {
        _ = try store.query("SELECT count(*) FROM writer, volume WHERE title > '3'")
      } catch {
        refusals += 1
        #expect(error as? DatabaseError == .fileReplaced(path: store.store.database.path), "\(error)")
      }
    }
    #expect(refusals > 0)
  }

  @Test func `a backup of what is not there any longer is an error of the file, not of the copy`() async throws {
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    for number in 0..<400 {
      let title = "\(number)"
      try store.execute("INSERT INTO volume (title, price, is_in) VALUES (\(title), 0, 1)")
    }
    #expect(truncate(log, 100) == 0)
    let path = store.store.database.path
    await #expect(throws: DatabaseError.fileReplaced(path: path)) {
      try await store.backup(to: URL(filePath: path + ".copy"))
    }
    #expect(!FileManager.default.fileExists(atPath: path + ".copy"))
  }

  @Test func `a log that is checkpointed and started over is not taken for a truncated one`() throws {
    let store = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    let other = try ModelContainer(for: Writer.self, Volume.self, url: file.url)
    for round in 0..<30 {
      for store in [store, other] {
        try store.execute("UPDATE writer SET name = 'round ' || \(round)")
        let database = store.store.database
        try database.write { _ in }
        #expect(database.writer.map { !$0.writeAheadLog.isFoundCut && !$0.connection.isLogCut } ?? false)
        database.writer?.writeAheadLog.checkpoint([round % 2 == 0 ? .truncating : .passive])
        #expect(database.writer.map { !$0.writeAheadLog.isFoundCut && !$0.connection.isLogCut } ?? false)
      }
    }
  }
}
