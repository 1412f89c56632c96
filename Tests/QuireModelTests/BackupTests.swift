import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@Suite(.fewAtOnce) struct BackupTests {
  let file: TemporaryFile
  let store: ModelContainer

  init() throws {
    file = try TemporaryFile()
    var configuration = ModelConfiguration(url: file.url)
    configuration.synchronous = .off
    store = try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    try store.execute("INSERT INTO writer (name) VALUES ('Lem'), ('Tawada')")
    // Some thousand pages, so that a copy takes many steps.
    try store.execute(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO volume (title, year, price, is_in) SELECT hex(zeroblob(2000)), 0, 0, 1 FROM n
      """)
  }

  private var copy: URL { file.url.deletingLastPathComponent().appending(path: "copy 'of' ?it%.db") }
  private var names: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: copy.deletingLastPathComponent().path)) ?? [])
  }

  @Test(.enabled(if: SmallDisk.canBeMade, "needs root, for a small disk"))
  func `a full disk leaves the copy that was there, and nothing beside it`() async throws {
    let disk = try SmallDisk(in: Scratch())
    let copy = disk.folder.appending(path: "copy.db")
    let store = try ModelContainer(for: Writer.self, Volume.self, url: disk.folder.appending(path: "library.db"))
    try await store.backup(to: copy)
    try disk.fill()
    await #expect(throws: StoreBackupError.self) { try await store.backup(to: copy, replacing: true) }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: disk.folder.path).sorted()
        == ["ballast", "copy.db", "library.db", "library.db-shm", "library.db-wal"])
    try disk.empty()
    try await store.backup(to: copy, replacing: true)
  }

  private func rows(_ sql: String, of url: URL) throws -> [[Value]] {
    try Connection(path: url.path(percentEncoded: false), access: .readOnly).query(sql).rows
  }

  /// Counts what a writer has committed; others wait for a number.
  private final class Commits: Sendable {
    private let count = Locked(0)
    private let condition = NSCondition()
    var value: Int { count.withLock { $0 } }

    func add() {
      condition.lock()
      count.withLock { $0 += 1 }
      condition.broadcast()
      condition.unlock()
    }

    func waitForMore(_ more: Int) {
      condition.lock()
      let end = value + more
      while value < end { condition.wait() }
      condition.unlock()
    }
  }

  // The copy waits in each of its steps for commits: if a commit waited for the copy, this would not end.
  @Test(.timeLimit(.minutes(60)))
  func `a copy is at one commit, and no writer waits for it`() async throws {
    let commits = Commits()
    let isDone = Locked(false)
    let first = store.store.database.commitNumber
    let store = store
    let writer = Thread {
      while !isDone.withLock({ $0 }) {
        // Both rows in one commit: their sum is always 0, and one of them counts the commits.
        _ = try? store.execute(
          """
          UPDATE volume SET year = year + CASE id WHEN 1 THEN 1 ELSE -1 END, title = hex(zeroblob(1000))
          WHERE id IN (1, 2000)
          """)
        commits.add()
      }
    }
    writer.start()
    let steps = Locked(0)
    let backup = try await store.backup(to: copy) { progress in
      #expect(progress.completedPages <= progress.totalPages)
      steps.withLock { $0 += 1 }
      commits.waitForMore(300)
    }
    isDone.withLock { $0 = true }
    #expect(steps.withLock { $0 } > 5)
    #expect(commits.value > 1500)
    #expect(try rows("PRAGMA integrity_check", of: copy) == [["ok"]])
    let sums = try rows("SELECT sum(year), max(year), count(*) FROM volume", of: copy)
    #expect(sums == [[0, .integer(backup.commitNumber - first), 2000]])
    #expect(backup.bytes == Int(try copy.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0))
  }

  @Test func `a copy is a store of the same models`() async throws {
    try await store.backup(to: copy)
    #expect(!names.contains { $0.hasPrefix(copy.lastPathComponent) && $0 != copy.lastPathComponent })
    let opened = try ModelContainer(for: Writer.self, Volume.self, url: copy)
    #expect(try ModelContext(opened).fetchCount(FetchDescriptor<Writer>()) == 2)
  }

  @Test func `a store in memory is copied into a file`() async throws {
    let memory = try ModelContainer(
      for: Writer.self, Volume.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    try memory.execute("INSERT INTO writer (name) VALUES ('Lem')")
    try await memory.backup(to: copy)
    #expect(try rows("SELECT name FROM writer", of: copy) == [["Lem"]])
  }

  @Test func `a file that is there is replaced only if asked`() async throws {
    try Data("mine".utf8).write(to: copy)
    await #expect(throws: StoreBackupError.exists(path: copy.path(percentEncoded: false))) {
      try await store.backup(to: copy)
    }
    #expect(try Data(contentsOf: copy) == Data("mine".utf8))
    try await store.backup(to: copy, replacing: true)
    #expect(try rows("SELECT count(*) FROM volume", of: copy) == [[2000]])
  }

  @Test func `the store's own file, a database in use and a missing folder are refused`() async throws {
    let own = file.url.path(percentEncoded: false)
    await #expect(throws: StoreBackupError.sameFile(path: own)) {
      try await store.backup(to: file.url, replacing: true)
    }
    try await store.backup(to: copy)
    let other = try ModelContainer(for: Writer.self, Volume.self, url: copy)
    try other.execute("DELETE FROM volume")
    await #expect {
      try await store.backup(to: copy, replacing: true)
    } throws: {
      if case .inUse? = $0 as? StoreBackupError { true } else { false }
    }
    #expect(try other.query("SELECT count(*) FROM volume").map(\.values) == [[0]])
    await #expect {
      try await store.backup(to: file.url.deletingLastPathComponent().appending(path: "none/copy.db"))
    } throws: {
      if case .cannotCreate? = $0 as? DatabaseError { true } else { false }
    }
  }

  @Test(arguments: ["-wal", "-shm", "-journal"])
  func `what SQLite would take for a database's log is refused as a copy`(end: String) async throws {
    try await store.backup(to: copy)
    for database in [file.url, copy] {
      let path = database.path(percentEncoded: false) + end
      await #expect(throws: StoreBackupError.self) { try await store.backup(to: URL(filePath: path), replacing: true) }
    }
    try store.execute("DELETE FROM volume WHERE id > 1")
    #expect(try rows("SELECT count(*) FROM volume", of: file.url) == [[1]])
    #expect(try rows("SELECT count(*) FROM volume", of: copy) == [[2000]])
    // The ending alone is no reason.
    try await store.backup(to: URL(filePath: copy.path(percentEncoded: false) + ".of" + end))
  }

  @Test func `a URL that is not that of a file is refused, by copies and by stores`() async throws {
    let path = copy.path(percentEncoded: true)
    let url = try #require(URL(string: "https://example.org\(path)"))
    await #expect(throws: StoreBackupError.self) { try await store.backup(to: url) }
    #expect {
      try ModelContainer(for: Writer.self, Volume.self, url: url)
    } throws: {
      if case .unusableSetting("url", _)? = $0 as? ModelError { true } else { false }
    }
    #expect(!FileManager.default.fileExists(atPath: copy.path(percentEncoded: false)))
    try await store.backup(to: try #require(URL(string: path)))
  }

  @Test func `a copy that is cancelled leaves nothing`() async throws {
    let before = names
    let store = store
    let copy = copy
    let task = Locked<Task<Void, any Error>?>(nil)
    let isMade = DispatchSemaphore(value: 0)
    let made = Task {
      try await store.backup(to: copy) { _ in
        isMade.wait()
        isMade.signal()
        task.withLock { $0?.cancel() }
      }
      return
    }
    task.withLock { $0 = made }
    isMade.signal()
    await #expect(throws: CancellationError.self) { try await made.value }
    #expect(names == before)
    // The store is as before, and can be copied.
    try await store.backup(to: copy)
    #expect(try rows("SELECT count(*) FROM volume", of: copy) == [[2000]])
  }

  @Test func `what a killed copy has left is removed by the next`() async throws {
    let left = URL(filePath: copy.path(percentEncoded: false) + ".unfinished-2147483646")
    try Data("left".utf8).write(to: left)
    try await store.backup(to: copy)
    #expect(!FileManager.default.fileExists(atPath: left.path(percentEncoded: false)))
  }
}
