import Foundation
import Testing

/// `quire backup` as a user runs it.
@Suite struct BackupCommandTests {
  private let quire: Scratch

  init() throws {
    quire = try Scratch()
    let made = try quire.shell(
      "sqlite3 library.db 'PRAGMA journal_mode = wal; CREATE TABLE n (a); INSERT INTO n VALUES (7)'")
    try #require(made.status == 0, "the sqlite3 shell is needed: \(made.error)")
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: quire.folder.path)) ?? []).sorted()
  }

  @Test func `it copies, says so, and does not replace by itself`() throws {
    let made = try quire("backup", "library.db", "copy.db")
    #expect(made.status == 0 && made.output == "library.db is copied to copy.db (8.2 kB)\n", "\(made)")
    #expect(try quire.shell("sqlite3 copy.db 'SELECT a FROM n'").output == "7\n")
    let again = try quire("backup", "library.db", "copy.db")
    #expect(again.status == 5 && again.messages == 1)
    #expect(
      again.firstLine == "refused: there is a file at copy.db; it was not changed. Give another path, or --replace")
    let json = try quire("backup", "--replace", "--json", "library.db", "copy.db")
    #expect(json.output == #"{"v":1,"database":"library.db","backup":"copy.db","bytes":8192}"# + "\n")
    #expect(try quire("backup", "-q", "library.db", "other.db").output.isEmpty)
  }

  @Test(arguments: ["library.db", "plain.db"])
  func `too few descriptors are the reason that is given, whichever file cannot be opened`(file: String) throws {
    #expect(try quire.shell("sqlite3 plain.db 'CREATE TABLE n (a)'").status == 0)
    let before = names
    var refusals = 0
    for limit in 8...24 {
      let ran = try quire.shell("ulimit -n \(limit); exec quire backup \(file) copy.db")
      if ran.status == 0 { return #expect(refusals > 0) }
      refusals += 1
      #expect(ran.firstLine.contains("Too many open files; close some of this program's files"), "\(limit): \(ran)")
      #expect(names == before)
    }
    Issue.record("a backup needs less than 24 descriptors")
  }

  @Test func `a limit on file sizes is the reason that is given`() throws {
    try #require(try quire.shell("sqlite3 library.db 'INSERT INTO n VALUES (zeroblob(200000))'").status == 0)
    let before = names
    let ran = try quire.shell("ulimit -f 100; exec quire backup library.db copy.db")  // blocks of 512 bytes, or of 1024
    #expect(ran.status == 1 && ran.firstLine.contains("copy.db: File too large; raise this program's limit"), "\(ran)")
    #expect(names == before)
  }

  @Test func `a file that a crash has left half written is said to be that, where it cannot be rolled back`() throws {
    let made = try quire.shell(
      """
      sqlite3 plain.db 'PRAGMA cache_size = 1; CREATE TABLE t (x);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) INSERT INTO t SELECT hex(randomblob(100)) FROM n;
        BEGIN; UPDATE t SET x = upper(x) || 1;' '.shell cp plain.db half.db; cp plain.db-journal half.db-journal'
      """)
    try #require(made.status == 0, "\(made)")
    let ran = try quire.shell("ulimit -f 20; exec quire backup half.db copy.db")
    #expect(
      ran.status == 2 && ran.firstLine.contains("half.db cannot be opened: a program that wrote to it ended"), "\(ran)")
    #expect(!names.contains("copy.db"))
    #expect(try quire("backup", "half.db", "copy.db").status == 0)
    #expect(try quire.shell("sqlite3 copy.db 'SELECT count(*) FROM t WHERE length(x) = 200'").output == "999\n")
  }

  @Test(arguments: ["delete", "wal"])
  func `a file that a program writes to is not replaced, and one that is read is`(mode: String) throws {
    func replace(_ sql: String) throws -> Scratch.Ran {
      try quire.shell(
        """
        rm -f open input; mkfifo input; sqlite3 copy.db < input &
        exec 3> input; printf '\(sql)\n.shell touch open\n' >&3
        while [ ! -e open ]; do sleep 0.05; done
        quire backup --replace library.db copy.db; status=$?
        exec 3>&-; wait; rm open input; exit $status
        """)
    }
    #expect(try quire.shell("sqlite3 copy.db 'PRAGMA journal_mode = \(mode); CREATE TABLE mine (a)'").status == 0)
    let before = names
    for sql in ["PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;", "BEGIN IMMEDIATE;"] {
      let ran = try replace(sql)
      #expect(
        ran.status == 5 && ran.firstLine.hasPrefix("refused: copy.db is being written to by another program"), "\(ran)")
      #expect(names == before)
      #expect(try quire.shell("sqlite3 copy.db 'SELECT count(*) FROM mine'").output == "0\n")
    }
    #expect(try replace("BEGIN; SELECT * FROM mine;").status == 0)
    #expect(try quire.shell("sqlite3 copy.db 'SELECT a FROM n'").output == "7\n")
  }

  @Test func `a file that another program keeps locked is said to be that, and what helps`() throws {
    let before = names
    let ran = try quire.shell(
      """
      mkfifo input; sqlite3 library.db < input &
      exec 3> input; printf 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;\n.shell touch open\n' >&3
      while [ ! -e open ]; do sleep 0.05; done
      quire backup library.db copy.db --wait 0; status=$?
      exec 3>&-; wait; rm open input; exit $status
      """)
    #expect(ran.status == 6 && ran.firstLine.hasPrefix("error: another program has kept library.db locked for "))
    #expect(
      ran.error.hasSuffix(
        """
        , so it was not copied; nothing was written
            --wait SECONDS waits longer. A program that keeps its file locked until it ends, as browsers do, has to end first

        """), "\(ran)")
    #expect(names == before)
  }

  @Test func `wrong words and wrong places are refused, and nothing is made`() throws {
    let before = names
    #expect(try quire("backup", "library.db").status == 2)
    #expect(try quire("backup", "none.db", "copy.db").status == 2)
    #expect(try quire("backup", "library.db", "none/copy.db").status == 2)
    #expect(try quire("backup", "library.db", ".").status == 2)
    #expect(try quire("backup", "library.db", "-").firstLine.contains("cannot go to a pipe"))
    let own = try quire("backup", "--replace", "library.db", "./library.db")
    #expect(
      own.status == 2 && own.firstLine == "error: ./library.db is the database itself; give another path for the copy")
    #expect(names == before)
  }

  @Test(arguments: ["file:copy?mode=memory", "-copy", "a\nb.db", "'; DROP TABLE n; --", "%41.db"])
  func `a hostile name is a name`(name: String) throws {
    let made = try quire("backup", "--", "library.db", name)
    #expect(made.status == 0, "\(made)")
    #expect(names.contains(name))
    #expect(!made.output.dropLast().contains("\n"))
  }

  @Test(.enabled(if: FaultLibrary.path != nil)) func `a disk that is full at any step leaves what was there`() throws {
    try quire.write("copy.db", "mine")
    let before = names
    var said: Set<String> = []
    for step in 1...100 {
      let ran = try quire.shell(
        "quire backup --replace library.db copy.db",
        environment: ["LD_PRELOAD": FaultLibrary.path ?? "", "FULL_AT": "\(step)"])
      if ran.status == 0 { break }
      #expect(ran.status == 1 && ran.messages == 1, "\(step): \(ran)")
      // A full disk can keep SQLite from closing the database in order; whoever opens it next takes its log in.
      #expect(try quire.shell("sqlite3 library.db 'SELECT a FROM n'").output == "7\n")
      #expect(names == before, "\(step): \(ran)")
      #expect(try quire.bytes("copy.db") == Data("mine\n".utf8))
      said.insert(ran.firstLine)
    }
    #expect(said.contains { $0.contains("no copy was made") && $0.contains("the disk is full") }, "\(said)")
    #expect(try quire.shell("sqlite3 copy.db 'SELECT a FROM n'").output == "7\n")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal to stop leaves nothing`(number: Int32) throws {
    #expect(
      try quire.shell(
        """
        sqlite3 library.db 'WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 60000)
          INSERT INTO n SELECT zeroblob(4000) FROM c'
        """
      ).status == 0)
    let process = quire.process(["backup", "library.db", "copy.db"])
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    while process.isRunning, !names.contains(where: { $0.contains("unfinished") }) {}
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    // It may have been through by then.
    #expect(process.terminationStatus == (names.contains("copy.db") ? 0 : 130))
    #expect(!names.contains { $0.contains("unfinished") })
  }
}
