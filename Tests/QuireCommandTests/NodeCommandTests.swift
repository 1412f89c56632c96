import Foundation
import LocalEtcd
import Testing

/// `quire node` where there is no etcd.
@Suite struct NodeCommandErrorTests {
  private let quire: Scratch

  init() throws {
    quire = try Scratch()
    #expect(try quire.shell("sqlite3 library.db 'CREATE TABLE a (x INTEGER PRIMARY KEY)'").status == 0)
  }

  @Test(arguments: [
    ("node share library.db", 2, "which store?"),
    ("node share --as library", 2, "FILE"),
    ("node share library.db --as a/b", 2, "cannot be the name"),
    ("node share library.db --as library --at localhost", 2, "--at takes HOST:PORT"),
    ("node share library.db --as library --at 127.0.0.1:x", 2, "--at takes HOST:PORT"),
    ("node share missing.db --as library", 2, "there is no database at missing.db"),
    ("node share library.db --as library --at 127.0.0.1:1 --wait 1", 6, "the log cannot be reached: 127.0.0.1:1"),
    ("node join other.db --as library --at 127.0.0.1:1 --wait 1", 6, "the log cannot be reached"),
    ("node status library.db", 5, "library.db is not shared"),
    ("node rejoin library.db", 5, "library.db is not shared"),
    ("node leave library.db", 5, "library.db is not shared"),
    ("node check library.db", 5, "library.db is not shared"),
    ("node trim library.db --keeping x", 2, "--keeping takes a whole number"),
    ("node cluster a b", 2, "3, 5 or 7 machines"),
    ("node cluster a b a", 2, "given twice"),
    ("node shore library.db", 2, "share"),
  ])
  func `what is wrong is said once, with a status, and nothing is changed`(words: String, status: Int, message: String)
    throws
  {
    let before = try quire.bytes("library.db")
    let ran = try quire.shell("quire \(words)")
    #expect(ran.status == status && ran.error.contains(message) && ran.messages == 1, "\(ran)")
    #expect(try quire.bytes("library.db") == before && quire.files == ["library.db"])
    #expect(try quire.shell("sqlite3 library.db 'PRAGMA journal_mode = wal'; quire \(words)").status == status)
    #expect(try quire.files == ["library.db"])
  }

  @Test(arguments: [
    ("node --json frobnicate", 2), ("node share library.db --json", 2), ("node status library.db --json --bogus", 2),
    ("node share library.db --as a/b --json", 2), ("node cluster a b --json", 2), ("node leave library.db --json", 5),
    ("node join other.db --as library --at 127.0.0.1:1 --wait 1 --json", 6), ("backup library.db --json", 2),
    ("backup none.db copy.db --json", 2), ("backup --json library.db library.db", 2),
    ("backup --json library.db none/copy.db", 2), ("query --json library.db", 2),
    ("query library.db 'SELECT 1 FROM nowhere' --json", 1), ("import --json library.db", 2),
    ("import --json library.db --books none.csv", 2), ("migrate status --json none.db", 2),
  ])
  func `with --json an error is a document, too`(words: String, status: Int) throws {
    let ran = try quire.shell("quire \(words)")
    let object = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any]
    let error = object?["error"] as? [String: Any]
    #expect(ran.status == status && error?["status"] as? Int == status && object?["v"] as? Int == 1, "\(ran)")
    let message = error?["message"] as? String ?? "none"
    #expect(ran.messages == 1 && ran.error.hasSuffix(": \(message)\n"), "\(ran)")
    #expect(try quire.shell("quire \(words.replacing("--json", with: ""))").output.isEmpty)
  }

  @Test func `an answer that had begun is not followed by a second document`() throws {
    let ran = try quire.shell(
      "quire query library.db 'SELECT 1 AS a UNION ALL SELECT abs(-9223372036854775808)' -f json")
    let same = try quire.shell(
      "quire query library.db 'SELECT 1 AS a UNION ALL SELECT abs(-9223372036854775808)' --json")
    #expect(ran.status == 1 && same.output == ran.output && ran.output.hasPrefix("[{\"a\":1}"), "\(same)")
  }

  @Test func `the settings of a cluster are one document with --json`() throws {
    let ran = try quire("node", "cluster", "--json", "attic", "cellar", "porch")
    let object = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any]
    let machines = object?["machines"] as? [[String: Any]] ?? []
    #expect(machines.map { $0["host"] as? String } == ["attic", "cellar", "porch"], "\(ran)")
    #expect((machines.last?["settings"] as? [String: String])?["ETCD_NAME"] == "porch")
  }

  @Test func `the settings of a cluster name each machine`() throws {
    let ran = try quire("node", "cluster", "attic", "cellar", "porch")
    #expect(ran.status == 0)
    #expect(ran.output.components(separatedBy: "# /etc/default/etcd on ").count == 4)
    #expect(ran.output.contains("ETCD_INITIAL_CLUSTER=attic=https://attic:2380,cellar=https://cellar:2380,porch="))
  }
}

/// `quire node` with an etcd of one member.
@Suite(.serialized, .enabled(if: EtcdCluster.isThere, "etcd-server is not installed: Scripts/setup --etcd"))
struct NodeCommandTests {
  private let quire: Scratch
  private let etcd: EtcdCluster

  init() throws {
    quire = try Scratch()
    etcd = try EtcdCluster(1)
    try etcd.waitForLeader()
    #expect(try quire.shell("sqlite3 a.db 'CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)'").status == 0)
  }

  private func node(_ words: String) throws -> Scratch.Ran {
    try quire.shell("quire node \(words)", environment: ["QUIRE_ETCD": etcd.addresses[0]])
  }

  @Test func `a file is shared, joined, compared, made anew, and left`() throws {
    var ran = try node("join b.db --as library --node cellar")
    #expect(ran.status == 1 && ran.error.contains("there is no store library in this etcd"), "\(ran)")
    ran = try node("share a.db --as library --node attic")
    #expect(ran.status == 0 && ran.output.hasPrefix("a.db is shared as library; this machine is attic\n"), "\(ran)")
    ran = try node("share a.db --as library --node attic")
    #expect(ran.status == 5 && ran.error.contains("a.db is shared already"), "\(ran)")
    ran = try node("join b.db --as library --node attic")
    #expect(ran.status == 5 && ran.error.contains("there is a machine attic already"), "\(ran)")
    #expect(try !quire.files.contains("b.db"))
    ran = try node("join b.db --as library --node cellar")
    #expect(ran.status == 0 && ran.output == "b.db has library up to 0; this machine is cellar\n", "\(ran)")
    // Nobody else may write, and everybody read.
    ran = try quire.shell("sqlite3 a.db \"INSERT INTO book VALUES (1, 'Solaris')\"")
    #expect(ran.status != 0 && ran.error.contains("_quire_shared"))
    ran = try quire.shell("quire query a.db --write \"insert into book values (1, 'Solaris')\"")
    #expect(ran.status == 5 && ran.error.contains("a.db is shared with other machines"), "\(ran)")
    #expect(try quire.shell("sqlite3 a.db 'SELECT count(*) FROM book'").output == "0\n")
    // A migration changes no machine alone.
    try FileManager.default.createDirectory(atPath: quire.path("Migrations"), withIntermediateDirectories: true)
    try quire.write("Migrations/20260101000000_a.sql", "CREATE TABLE a (x);")
    ran = try quire.shell("QUIRE_ETCD=127.0.0.1:1 quire migrate apply a.db --no-backup --wait 1")
    #expect(ran.status == 6 && ran.error.contains("the log cannot be reached"), "\(ran)")
    #expect(ran.error.contains("QUIRE_ETCD, where etcd is, is 127.0.0.1:1"), "\(ran)")
    ran = try quire.shell("quire node status a.db --at 127.0.0.1:1 --wait 1 --json")
    let document = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any]
    #expect((document?["error"] as? [String: Any])?["status"] as? Int == 6 && document?["log"] is NSNull, "\(ran)")
    #expect(ran.status == 6 && document?["node"] as? String == "attic" && document?["position"] as? Int == 0, "\(ran)")
    #expect(try quire.shell("sqlite3 a.db .schema").output.contains("TABLE a ") == false)
    ran = try node("check a.db --wait 1")
    #expect(
      ran.status == 6 && ran.output.contains("attic   this machine") && ran.output.contains("cellar  no answer"),
      "\(ran)")
    ran = try node("log a.db --json")
    #expect(ran.output.contains("\"position\":1,\"node\":\"attic\",\"kind\":\"check\""), "\(ran)")
    ran = try node("snapshot a.db")
    #expect(ran.status == 0 && ran.output.hasPrefix("library has a snapshot at 1"), "\(ran)")
    ran = try node("status b.db --json")
    #expect(ran.output.contains("\"node\":\"cellar\",\"position\":0") && ran.output.contains("\"last\":1"), "\(ran)")
    ran = try node("rejoin b.db")
    #expect(
      ran.status == 0
        && ran.output == "b.db is a copy of the newest snapshot now, at 1; the old file is b.db.before-rejoin-0\n",
      "\(ran)")
    ran = try quire.shell("quire migrate apply a.db --no-backup", environment: ["QUIRE_ETCD": etcd.addresses[0]])
    #expect(ran.status == 0, "\(ran)")
    #expect(try node("log a.db --last 1").output.contains("attic  migration"))
    #expect(try !quire.files.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
    ran = try node("leave b.db")
    #expect(ran.status == 0, "\(ran)")
    ran = try node("join b.db --as library --node cellar")
    #expect(ran.status == 5 && ran.error.contains("there is a file b.db already"), "\(ran)")
    #expect(try quire.shell("sqlite3 b.db \"INSERT INTO book VALUES (1, 'Solaris')\"").status == 0)
    #expect(try node("status a.db").output.contains("left"))
  }

  @Test func `a file that a program has open is not shared`() throws {
    let open = try quire.shell(
      """
      sqlite3 a.db 'PRAGMA journal_mode = wal' > /dev/null
      mkfifo input; sqlite3 a.db < input &
      exec 3> input; printf 'SELECT * FROM book;\n.shell touch open\n' >&3
      while [ ! -e open ]; do sleep 0.05; done
      quire node share a.db --as library; echo $? > status
      exec 3>&-; wait
      """, environment: ["QUIRE_ETCD": etcd.addresses[0]])
    #expect(try quire.bytes("status") == Data("6\n".utf8), "\(open)")
    #expect(open.error.contains("a program has the file open"))
  }
}
