import Foundation
import QuireMigration
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// Migrations of a shared store: an entry each, which other nodes run when they are opened.
struct SharedMigrationTests {
  private func file(_ version: Int, _ sql: String) throws -> MigrationFile {
    try MigrationFile(path: "2026010100000\(version)_step.sql", text: sql)
  }

  private func store(_ nodes: TestNodes) -> SharedStore {
    SharedStore("library", on: nodes.log.connection(), as: "unused", patience: .seconds(60))
  }

  private func migrator(_ nodes: TestNodes, _ file: String, _ files: MigrationFile...) -> Migrator {
    var migrator = Migrator(database: file, files: files)
    migrator.shared = store(nodes)
    migrator.wait = .seconds(60)
    return migrator
  }

  /// Node 0 is closed, so that its file can be migrated by itself; node 1 goes on.
  private func nodes(patience: Duration = .seconds(5)) throws -> (TestNodes, first: String, second: String) {
    let nodes = try TestNodes(2, patience: patience)
    for number in 0..<10 { try nodes[0].write("INSERT INTO counter (note) VALUES (?)", [.integer(Int64(number))]) }
    try nodes[1].catchUpInTheEnd()
    return (nodes, nodes[0].database.path, nodes[1].database.path)
  }

  /// Of who writes while a migration has its turn, and is its listener: it waits for the turn's end in vain, three times this.
  private static let shortPatience = Duration.milliseconds(200)

  private static let rebuild = """
    CREATE TABLE tally (id INTEGER PRIMARY KEY, note ANY, size INTEGER NOT NULL DEFAULT 7) STRICT;
    INSERT INTO tally (id, note) SELECT id, note FROM counter ORDER BY id;
    DROP TABLE counter;
    ALTER TABLE loose ADD COLUMN c INTEGER DEFAULT 3;
    -- migrate: undo
    CREATE TABLE counter (id INTEGER PRIMARY KEY AUTOINCREMENT, note ANY) STRICT;
    INSERT INTO counter SELECT id, note FROM tally ORDER BY id;
    DROP TABLE tally;
    ALTER TABLE loose DROP COLUMN c;
    """

  @Test func `a program that runs stops before a migration, and has it when it is started again`() throws {
    let (nodes, first, second) = try nodes()
    var migrator = migrator(nodes, first, try file(1, Self.rebuild))
    migrator.allowsLosses = true
    let applied = try migrator.apply()
    #expect(applied.count == 1)
    #expect(throws: SharedStoreError.stopped(.migrated(at: 11))) { try nodes[1].catchUp() }
    #expect(nodes[1].node.state == .stopped(.migrated(at: 11)))
    #expect(try nodes[1].query("SELECT count(*) FROM counter") == [[10]])
    #expect(throws: SharedStoreError.self) { try nodes[1].write("INSERT INTO loose VALUES (1, 1)") }
    try nodes[1].database.close()
    try StoreNode.prepare(second, for: store(nodes))
    let node = try TestNode(second, nodes.log.connection(), patience: .seconds(60))
    #expect(node.node.state == .current && node.node.position == 11)
    try node.write("INSERT INTO tally (note) VALUES ('new')")
    #expect(try node.query("SELECT count(*), sum(size) FROM tally") == [[11, 77]])
    // The first program is told too, although its own file was migrated by another one.
    #expect(throws: (any Error).self) {
      try GuardBreaker(first).connection.execute("INSERT INTO tally (note) VALUES (0)")
    }
    let contents = try [first, second].map { path in
      try StoreNode.prepare(path, for: store(nodes))
      return try Connection(path: path, access: .readOnly).digest()
    }
    #expect(contents[0] == contents[1])
    #expect(try MigrationHistory.read(from: Connection(path: second, access: .readOnly)) == applied)
  }

  @Test func `a machine without a file joins before it migrates`() throws {
    let (nodes, _, _) = try nodes()
    let path = nodes.scratch.file("new.db")
    var migrator = migrator(nodes, path, try file(1, "CREATE TABLE t (x)"))
    migrator.createsDatabase = true
    try migrator.apply()
    let place = try StoreNode.place(of: path)
    #expect(place.position == 11 && place.node == "unused")
    #expect(try Connection(path: path, access: .readOnly).query("SELECT count(*) FROM counter").first == .integer(10))
  }

  @Test func `an undo is an entry too`() throws {
    let (nodes, first, second) = try nodes()
    try nodes[0].database.close()
    try nodes[1].database.close()
    var migrator = migrator(nodes, first, try file(1, Self.rebuild))
    migrator.allowsLosses = true
    try migrator.apply()
    try migrator.undo(UndoPlan(last: 1, of: migrator.history(), format: .quire))
    try StoreNode.prepare(second, for: store(nodes))
    let connection = try Connection(path: second, access: .readOnly)
    #expect(try NodePlace(sharedOn: connection).position == 12)
    #expect(try connection.digest() == Connection(path: first, access: .readOnly).digest())
    #expect(try SchemaReader(connection).hasTable("counter") && !SchemaReader(connection).hasTable("tally"))
  }

  @Test func `a migration gets its place while others write`() throws {
    let (nodes, first, second) = try nodes()
    try nodes[0].database.close()
    let isDone = Locked(false)
    let group = DispatchGroup()
    let (node, count) = (nodes[1], Locked(0))
    Thread.detachNewThread(in: group) {
      while !isDone.withLock({ $0 }) {
        do {
          try node.write("INSERT INTO loose (a, b) VALUES (1, 1)")
          count.withLock { $0 += 1 }
        } catch { return }  // the migration is there
      }
    }
    try migrator(nodes, first, try file(1, "ALTER TABLE loose ADD COLUMN c INTEGER DEFAULT 3")).apply()
    isDone.withLock { $0 = true }
    group.wait()
    try node.database.close()
    for path in [first, second] { try StoreNode.prepare(path, for: store(nodes)) }
    let rows = try [first, second].map { try Connection(path: $0, access: .readOnly).digest() }
    #expect(rows[0] == rows[1])
    #expect(
      try Connection(path: first, access: .readOnly).query("SELECT count(*) FROM loose").first
        == .integer(Int64(count.withLock { $0 })))
  }

  @Test func `a migration of a shared file is tried on a copy, and what is not shareable is refused there`() throws {
    let (nodes, first, _) = try nodes()
    try nodes[0].database.close()
    let before = try Connection(path: first, access: .readOnly).digest()
    let whole = migrator(nodes, first, try file(1, Self.rebuild))
    let entries = try whole.rehearse().entries
    #expect(entries.count == 1 && entries[0].forgotten.isEmpty)
    #expect(entries[0].rows.map(\.table).contains("tally"))
    #expect(try whole.rehearse(isSchemaOnly: true).entries.count == 1)
    let unrepeatable = migrator(nodes, first, try file(1, "INSERT INTO loose VALUES (random(), 1)"))
    #expect(throws: MigrationError.self) { try unrepeatable.rehearse() }
    #expect(try Connection(path: first, access: .readOnly).digest() == before)
    #expect(nodes.log.last == 10)
  }

  @Test func `an undo gets its place though others were first`() throws {
    let (nodes, first, second) = try nodes()
    try nodes[0].database.close()
    var migrator = migrator(
      nodes, first, try file(1, "ALTER TABLE loose ADD COLUMN c;\n-- migrate: undo\nALTER TABLE loose DROP COLUMN c;"))
    try migrator.apply()
    try nodes[1].database.close()
    try StoreNode.prepare(second, for: store(nodes))
    let node = try TestNode(second, nodes.log.connection(), patience: Self.shortPatience)
    var count = 0
    migrator.backsUp = true
    let undone = try migrator.undo(UndoPlan(last: 1, of: migrator.history(), format: .quire)) {
      guard case .begins = $0, count < 2 else { return }
      count += 1
      try node.write("INSERT INTO loose (a, b) VALUES (1, 1)")
    }
    #expect(undone.count == 1 && count == 2 && nodes.log.last == 14)
    // Of the rows that were there in the end alone.
    let backups = MigrationBackup.all(of: first)
    #expect(backups.count == 1)
    #expect(
      try Connection(path: #require(backups.first).path, access: .readOnly).query("SELECT count(*) FROM loose").first
        == .integer(2))
    #expect(try Connection(path: first, access: .readOnly).query("SELECT count(*) FROM loose").first == .integer(2))
  }

  @Test func `a migration that begins again because others were first reports one backup, and leaves one`() throws {
    let (nodes, first, _) = try nodes(patience: Self.shortPatience)
    try nodes[0].database.close()
    var migrator = migrator(nodes, first, try file(1, "ALTER TABLE loose ADD COLUMN c"))
    migrator.backsUp = true
    let node = nodes[1]
    var (tries, reported) = (0, [String]())
    try migrator.apply {
      switch $0 {
      case .begins:
        tries += 1
        if tries < 3 { try node.write("INSERT INTO loose (a, b) VALUES (1, 1)") }
      case .backedUp(let backup): reported.append(backup.path)
      default: break
      }
    }
    #expect(tries == 3)
    #expect(reported == MigrationBackup.all(of: first).map(\.path) && reported.count == 1)
  }

  @Test func `of two machines that migrate at once one runs it, and the other finds it done`() throws {
    let (nodes, first, second) = try nodes()
    for node in nodes.nodes { try node.database.close() }
    let files = [try file(1, "ALTER TABLE loose ADD COLUMN c"), try file(2, "ALTER TABLE loose ADD COLUMN d")]
    let (here, there) = (
      migrator(nodes, first, files[0], files[1]), migrator(nodes, second, files[0], files[1])
    )
    var others: [AppliedMigration]?
    let applied = try here.apply {
      if case .begins = $0, others == nil { others = try there.apply(to: files[0].version) }
    }
    #expect(others?.map(\.version) == [files[0].version] && applied.map(\.version) == [files[1].version])
    #expect(nodes.log.last == 12)
    try StoreNode.prepare(second, for: store(nodes))
    let digests = try [first, second].map { try Connection(path: $0, access: .readOnly).digest() }
    #expect(digests[0] == digests[1])
  }

  @Test func `a machine runs what it has missed, although the log did not answer at first`() throws {
    let (nodes, first, second) = try nodes()
    for node in nodes.nodes { try node.database.close() }
    let added = try file(1, "ALTER TABLE loose ADD COLUMN c")
    _ = try migrator(nodes, first, added).apply()
    let log = nodes.log.connection()
    log.fail(.status, .unreachable, .unreachable, .unreachable)
    var late = migrator(nodes, second, added)
    late.shared = SharedStore("library", on: log, as: "unused", patience: .seconds(60))
    #expect(try late.apply().isEmpty)
    let digests = try [first, second].map { try Connection(path: $0, access: .readOnly).digest() }
    #expect(digests[0] == digests[1])
  }

  @Test func `a backup does not replace a shared file`() throws {
    let (nodes, first, _) = try nodes()
    let copy = nodes.scratch.file("copy.db")
    try nodes[0].database.close()
    let before = try Connection(path: first, access: .readOnly).digest()
    try FileManager.default.copyItem(atPath: first, toPath: copy)
    _ = try StoreNode.leave(copy)
    #expect(throws: MigrationError.database(.shared(path: first))) { try migrator(nodes, first).checkIsNotShared() }
    try migrator(nodes, copy).checkIsNotShared()
    let error = #expect(throws: MigrationError.self) { try migrator(nodes, first).restore(copy) }
    guard case .database(.shared(path: first))? = error else { throw error! }
    #expect(try Connection(path: first, access: .readOnly).digest() == before)
    // A file that is gone is made of it.
    try migrator(nodes, nodes.scratch.file("new.db")).restore(copy)
  }

  @Test(arguments: ["-- migrate: no-transaction\nVACUUM;", "-- migrate: step fill\n"])
  func `what is not shareable is refused before a backup is made`(text: String) throws {
    let (nodes, first, _) = try nodes()
    try nodes[0].database.close()
    var migrator = migrator(nodes, first, try file(1, text))
    migrator.steps = [MigrationStep("fill") { _ in }]
    migrator.backsUp = true
    var events = 0
    let error = #expect(throws: MigrationError.self) { try migrator.apply { _ in events += 1 } }
    guard case .notShareable? = error else { throw error! }
    #expect(events == 0 && MigrationBackup.all(of: first).isEmpty && nodes.log.last == 10)
  }

  @Test func `what has another outcome elsewhere stops there, and its file stays as it was`() throws {
    let (nodes, first, second) = try nodes()
    try nodes[0].database.close()
    try nodes[1].database.close()
    try GuardBreaker(second).deleteBehindTheGuard("counter")
    try migrator(nodes, first, try file(1, "CREATE TABLE total AS SELECT count(*) AS n FROM counter")).apply()
    #expect(throws: SharedStoreError.self) { try StoreNode.prepare(second, for: store(nodes)) }
    let connection = try Connection(path: second, access: .readOnly)
    #expect(try !SchemaReader(connection).hasTable("total") && NodePlace(sharedOn: connection).position == 10)
  }

  @Test(arguments: [
    "CREATE TABLE t (x); INSERT INTO t VALUES (random())", "INSERT INTO loose VALUES (current_timestamp, 1)",
    "INSERT INTO loose VALUES (datetime('now'), 1)", "INSERT INTO loose VALUES (unixepoch( ), 1)",
    "CREATE TABLE t AS SELECT strftime('%s') AS x", "; UPDATE loose SET b = date(max('now', 'now'), '+1 day')",
    "-- migrate: no-transaction\nVACUUM",
  ])
  func `what other machines cannot repeat is refused, and nothing is there`(sql: String) throws {
    let (nodes, first, _) = try nodes()
    try nodes[0].database.close()
    let before = try Connection(path: first, access: .readOnly).digest()
    let error = #expect(throws: MigrationError.self) { try migrator(nodes, first, try file(1, sql)).apply() }
    #expect(error?.description.contains("Write the value as a literal.") == !sql.hasSuffix("VACUUM"))
    #expect(try Connection(path: first, access: .readOnly).digest() == before)
    #expect(nodes.log.last == 10)
  }

  @Test func `dates of columns are repeated, and the time is kept for later`() throws {
    let (nodes, first, _) = try nodes()
    try nodes[0].database.close()
    let sql = """
      CREATE TABLE t (day, noted TEXT DEFAULT (datetime('now')));
      CREATE VIEW today AS SELECT * FROM t WHERE day = date('now');
      INSERT INTO t SELECT date(1000 * a, 'unixepoch'), strftime('%Y', '2020-01-01') FROM loose;
      INSERT INTO t VALUES ('now', time('12:00', '+1 hour'));
      """
    try migrator(nodes, first, try file(1, sql)).apply()
    #expect(nodes.log.last == 11)
  }

  @Test(.enabled(if: SmallDisk.canBeMade, "needs root, for a small disk"))
  func `a migration that a full disk does not take is said to be in the log, and is there when there is room`() throws {
    let (nodes, first, _) = try nodes()
    let disk = try SmallDisk(in: nodes.scratch)
    let path = disk.folder.appending(path: "small.db").path
    try StoreNode.join(path, to: nodes.log.connection(), named: "library", as: "small")
    let migrator = migrator(nodes, path, try file(1, "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))"))
    let error = #expect(throws: (any Error).self) {
      try migrator.apply { if case .begins = $0 { try disk.fill() } }
    }
    guard case SharedStoreError.committedNotHere(let commit, _)? = error else { throw error! }
    #expect(commit.position == 11 && nodes.log.last == 11)
    #expect(try StoreNode.place(of: path).position == 10)
    #expect(throws: DatabaseError.diskFull(path: path)) { try StoreNode.prepare(path, for: store(nodes)) }
    try disk.empty()
    try nodes[0].database.close()
    let rows = try [path, first].map { path in
      try StoreNode.prepare(path, for: store(nodes))
      return try Connection(path: path, access: .readOnly).digest()
    }
    #expect(rows[0] == rows[1])
    #expect(try migrator.apply().isEmpty && migrator.history().count == 1)
  }

  @Test func `a shared file is not migrated alone`() throws {
    let (nodes, first, _) = try nodes()
    let migrator = Migrator(database: first, files: [try file(1, "CREATE TABLE t (x)")])
    #expect(throws: MigrationError.self) { try migrator.apply() }
    #expect(nodes.log.last == 10)
  }

  @Test func `the bytes of a migration are read as they were written`() throws {
    let migration = SharedMigration(
      enforcesKeys: true,
      steps: [
        .script("SELECT \"x\"", takesQuotedStrings: true), .script("", takesQuotedStrings: false),
        .statement("INSERT INTO t VALUES (?, ?)", [.null, .real(-0.0)]),
      ], digest: [1, 2, 3])
    #expect(try SharedMigration(migration.bytes) == migration)
    for length in 0..<migration.bytes.count {
      #expect(throws: MalformedBytes.self) { try SharedMigration(Array(migration.bytes.prefix(length))) }
    }
  }
}

extension Thread {
  fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    detachNewThread {
      body()
      group.leave()
    }
  }
}
