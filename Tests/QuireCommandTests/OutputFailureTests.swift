import Foundation
import Testing

/// The program where what it stands on is not as usual.
@Suite struct OutputFailureTests {
  private let quire: Scratch

  init() throws {
    quire = try Scratch()
    try FileManager.default.createDirectory(atPath: quire.path("Migrations"), withIntermediateDirectories: true)
    try quire.write("Migrations/20260101000000_a.sql", "CREATE TABLE a (x);")
    #expect(try quire("migrate", "apply", "-q", "--create", "library.db").status == 0)
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `an answer that cannot be written is an error`() throws {
    for words in ["migrate status --json library.db", "--version", "query library.db 'select 1'"] {
      let ran = try quire.shell("quire \(words) > /dev/full")
      #expect(ran.status == 1, "\(words)")
      #expect(
        ran.error == "error: the answer could not be written: No space left on device. "
          + "Apart from that the command has done its work\n")
    }
    #expect(try quire.shell("quire migrate status library.db >&-").status == 1)
    #expect(try quire.shell("quire migrate status library.db | head -1 > /dev/null").status == 0)
  }

  /// Otherwise that has the number of standard input.
  @Test func `a program that starts with standard input closed does not read a pipe of its own`() throws {
    let ran = try quire.shell(
      "timeout 60 quire library.db <&-; echo $?; timeout 60 quire query library.db - <&-; echo $?")
    #expect(ran.output == "2\n2\n")
    #expect(
      ran.error == "error: standard input cannot be read: Bad file descriptor\nerror: standard input cannot be read\n")
    #expect(try quire.shell("quire query library.db 'select 1 as x' -o x.csv <&- >&- 2>&-").status == 0)
    #expect(try quire.bytes("x.csv") == Data("x\n1\n".utf8))
  }

  @Test func `a script that cannot be read to its end is an error, and a statement cut off by it is not run`() throws {
    let ran = try quire.shell("quire library.db < . ; echo $?; quire library.db --write < . ; echo $?")
    #expect(ran.output == "2\n2\n")
    #expect(ran.error == String(repeating: "error: standard input cannot be read: Is a directory\n", count: 2))
  }

  @Test func `looking at a file with a write-ahead log leaves nothing beside it`() throws {
    #expect(try quire.shell("sqlite3 library.db 'PRAGMA journal_mode = wal'").status == 0)
    for command in ["status", "plan", "log", "check", "diff", "schema --stdout"] {
      _ = try quire.shell("quire migrate \(command) \(command.hasPrefix("diff") ? "-d" : "") library.db")
      #expect(try quire.files == ["Migrations", "library.db"], "\(command)")
    }
  }

  private static let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n;"

  @Test(arguments: [
    "quire query library.db '\(endless)'", "quire query library.db '\(endless)' -f jsonl",
    "echo '\(endless)' | quire library.db",
  ])
  func `a reader that goes ends the query, and the file is closed`(command: String) throws {
    #expect(try quire.shell("sqlite3 library.db 'PRAGMA journal_mode = wal'").status == 0)
    let ran = try quire.shell("(\(command); echo $? > status) | head -1")
    #expect(!ran.output.isEmpty && ran.error.isEmpty, "\(ran)")
    #expect(try quire.bytes("status") == Data("0\n".utf8))
    #expect(try quire.files == ["Migrations", "library.db", "status"])
  }

  @Test func `a reader that goes ends a live answer with the next change`() throws {
    let ran = try quire.shell(
      """
      sqlite3 library.db 'PRAGMA journal_mode = wal; INSERT INTO a VALUES (1)' > /dev/null
      (timeout 3600 quire query library.db --live -f jsonl 'select x from a'; echo $? > status) | head -1 > first &
      while [ ! -s first ]; do sleep 0.05; done
      while [ ! -e status ]; do sqlite3 library.db 'INSERT INTO a VALUES (2)'; sleep 0.1; done
      wait
      """)
    #expect(ran.error.isEmpty, "\(ran)")
    #expect(try quire.bytes("status") == Data("0\n".utf8))
  }

  @Test func `a signal stops the query and closes its file, unless the process ignores it`() throws {
    let ran = try quire.shell(
      """
      sqlite3 library.db 'PRAGMA journal_mode = wal' > /dev/null
      trap '' HUP
      quire query library.db 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n' > rows &
      while [ ! -s rows ]; do sleep 0.05; done
      grep -c 'SigIgn:.*[13579bdf]$' /proc/$!/status; kill -HUP $!; kill -TERM $!; wait $!; echo $?
      rm rows
      """)
    #expect(ran.output == "1\n130\n" && ran.error == "error: stopped\n", "\(ran)")
    #expect(try quire.files == ["Migrations", "library.db"])
  }

  @Test func `what writes is done, even if nobody reads its answer`() throws {
    let ran = try quire.shell(
      "(sleep 0.2; quire query library.db --write 'insert into a values (1) returning x; insert into a values (2)') | true"
    )
    #expect(ran.error == "1 row added\n" || ran.error.hasPrefix("1 row added · "), "\(ran)")
    #expect(try quire("query", "library.db", "--no-header", "select count(*) from a").output == "2\n")
  }

  private static let mayBecomeOther =
    getuid() == 0 && FileManager.default.fileExists(atPath: "/usr/bin/setpriv")

  @Test(.enabled(if: mayBecomeOther))
  func `a database with a write-ahead log is read in a folder that may not be written to`() throws {
    let other = "setpriv --reuid=65534 --regid=65534 --clear-groups quire migrate status library.db"
    let ran = try quire.shell("sqlite3 library.db 'PRAGMA journal_mode = wal' && chmod 755 . && \(other)")
    #expect(ran.status == 0, "\(ran.error)")
    #expect(ran.output.contains("nothing pending"))
  }

  @Test(.enabled(if: mayBecomeOther))
  func `without proc the program says so, and does nothing`() throws {
    let ran = try quire.shell(
      "unshare -m sh -c 'umount -l /proc; exec \(Scratch.binary.path) migrate apply /nowhere.db'")
    #expect(ran.status == 2, "\(ran.error)")
    #expect(ran.error.contains("/proc is not mounted"))
  }
}
