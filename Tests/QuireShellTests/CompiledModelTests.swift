import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireShell

@Model private final class Writer {
  var name: String
  var novels: [Novel] = []
  init(_ name: String) { self.name = name }
}

@Model private final class Novel {
  var title: String
  var isAvailable = true
  var author: Writer?
  @Relationship(inverse: \Motif.novels) var motifs: [Motif] = []
  init(_ title: String, _ author: Writer? = nil) { (self.title, self.author) = (title, author) }
}

@Model private final class Motif {
  var name: String
  var novels: [Novel] = []
  init(_ name: String) { self.name = name }
}

/// Classes compiled into the program, in the place of what a file's tables would be called.
@Suite(.fewAtOnce) struct CompiledModelTests {
  private let folder: URL
  private var file: URL { folder.appending(path: "novels.db") }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-compiled-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = try ModelContainer(for: Writer.self, Novel.self, Motif.self, url: file)
    let context = ModelContext(store, isolation: nil)
    let lem = Writer("Lem")
    let motif = Motif("ocean")
    for title in ["Solaris", "Eden"] {
      let novel = Novel(title, lem)
      novel.isAvailable = title == "Eden"
      context.insert(novel)
      if title == "Solaris" { novel.motifs.append(motif) }
    }
    try context.save()
    try store.execute("CREATE TABLE extra (id INTEGER PRIMARY KEY, novel_id INTEGER REFERENCES novel)")
    try store.execute("INSERT INTO extra VALUES (1, 1), (2, 1)")
  }

  private func session() throws -> ShellSession {
    var options = ShellOptions()
    options.models = [Writer.self, Novel.self, Motif.self]
    return try ShellSession(opening: file, options: options)
  }

  private func rows(_ session: ShellSession, _ text: String) async throws -> [[Value]] {
    let found = Locked<[[Value]]>([])
    try await session.run(text) { reply in
      if case .answer(let answer) = reply { found.withLock { $0 = answer.rows } }
    }
    return found.withLock { $0 }
  }

  private func alter(_ sql: String) throws {
    let connection = try Connection(path: file.path, access: .readWrite)
    try connection.execute(sql)
  }

  @Test func `their names, properties and relations count, beside those of the tables`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let session = try session()
    #expect(
      session.banner[1] == "Motif, Novel, Writer as this program knows them; the others are made from tables and keys")
    #expect(try await rows(session, "Novel where isAvailable select title") == [["Eden"]])
    #expect(try await rows(session, "Novel where is_available and author.name = 'Lem' select title") == [["Eden"]])
    #expect(try await rows(session, "Writer where count(novels where not isAvailable) = 1 select name") == [["Lem"]])
    #expect(try await rows(session, "Novel where any(motifs where name = 'ocean') select title") == [["Solaris"]])
    #expect(try await rows(session, "Motif where any(novels where title like 's%') select name") == [["ocean"]])
    // What only the file knows is there too.
    #expect(try await rows(session, "Novel where count(extras) = 2 select title") == [["Solaris"]])
    let plan = try await session.livePlan("Novel where isAvailable and any(motifs where name = 'x')")
    #expect(!plan.manner(knowsRows: true).isRunAgain)
  }

  @Test(arguments: [
    "ALTER TABLE novel DROP COLUMN is_available",
    "ALTER TABLE novel ADD COLUMN note TEXT; ALTER TABLE novel RENAME COLUMN title TO heading",
  ])
  func `one whose columns are not there is not taken`(sql: String) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try alter(sql)
    let session = try session()
    #expect(session.banner[1].hasPrefix("Motif, Writer as this program knows them"))
    // The table is still asked, by the name it has.
    #expect(try await rows(session, "novel where author.name = 'Lem' order by id").count == 2)
    #expect(session.models.model(named: "novel")?.isCompiled == false)
  }

  @Test func `a file without any of their tables is as it is`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try alter("DROP TABLE extra; ALTER TABLE writer RENAME TO author; ALTER TABLE novel RENAME TO work")
    let session = try session()
    #expect(session.models.all.allSatisfy { !$0.isCompiled || $0.table == "motif" })
    #expect(try await rows(session, "Work where author.name = 'Lem'").count == 2)
  }
}
