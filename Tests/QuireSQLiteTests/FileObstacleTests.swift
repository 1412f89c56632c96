import Foundation
import TestSupport
import Testing

@testable import QuireSQLite

/// Files that cannot be opened, and what is said of the reason.
@Suite struct FileObstacleTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private func error(_ path: String, _ access: Access) -> DatabaseError? {
    do throws(DatabaseError) {
      _ = try Connection(path: path, access: access)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [Access.create, .readWrite, .readOnly])
  func `a path that is too long for SQLite is said to be, with the limit`(access: Access) throws {
    var folder = scratch.path
    while folder.utf8.count < 600 { folder += "/" + String(repeating: "f", count: 50) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/library.db"
    if access != .create { try Data("SQLite".utf8).write(to: URL(filePath: path)) }
    let said = "\(try #require(error(path, access)))"
    #expect(
      said.contains(": its path has \(path.utf8.count) bytes, and SQLite opens up to 504; choose a shorter one"),
      "\(said)")
  }

  @Test(.enabled(if: SmallDisk.canBeMade, "needs root, for mounts"))
  func `a file that is mounted alone is refused for writing, and one in a mounted folder is not`() throws {
    let (folder, mounted) = (scratch.file("folder"), scratch.file("mounted"))
    for path in [folder, mounted] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let file = scratch.file("mounted.db")
    try Connection(path: folder + "/library.db", access: .create).execute("CREATE TABLE book (id INTEGER PRIMARY KEY)")
    try Data().write(to: URL(filePath: file))
    try SmallDisk.run("mount", "--bind", folder + "/library.db", file)
    defer { try? SmallDisk.run("umount", "-l", file) }
    try SmallDisk.run("mount", "--bind", folder, mounted)
    defer { try? SmallDisk.run("umount", "-l", mounted) }
    for access in [Access.create, .readWrite] {
      #expect(error(file, access).map { "\($0)" }?.contains("mount the folder. It was not changed") == true)
      #expect(error(mounted + "/library.db", access) == nil)
    }
    #expect(error(file, .readOnly) == nil)
    #expect(throws: DatabaseError.self) {
      try Connection(migrating: file, access: .readWrite, busyTimeout: .seconds(1))
    }
  }

  @Test(
    .enabled(if: SmallDisk.canBeMade && SQLiteShell.isThere, "needs root, for mounts, and the sqlite3 shell"),
    arguments: ["wal", "delete"])
  func `a file that is mounted alone is not read while a program with a log elsewhere has it open`(
    mode: String
  ) throws {
    let (original, file) = (scratch.file("library.db"), scratch.file("mounted.db"))
    try SQLiteShell(original).run("PRAGMA journal_mode = \(mode); CREATE TABLE book (id INTEGER PRIMARY KEY);")
    try Data().write(to: URL(filePath: file))
    try SmallDisk.run("mount", "--bind", original, file)
    defer { try? SmallDisk.run("umount", "-l", file) }
    do {
      let alone = try Connection(path: file, access: .readOnly)
      #expect(try alone.rows("SELECT count(*) FROM book") == [[0]] && alone.isUnlocked == (mode == "wal"))
    }

    let program = try SQLiteShell(original)
    try program.run("INSERT INTO book VALUES (1);")
    defer { withExtendedLifetime(program) {} }
    let refused = error(file, .readOnly)
    if mode == "wal" {
      #expect(refused.map { "\($0)" }?.contains("a program has it open whose latest commits may be in a -wal") == true)
    } else {
      #expect(refused == nil)
      #expect(try Connection(path: file, access: .readOnly).rows("SELECT count(*) FROM book") == [[1]])
    }
    #expect(!FileManager.default.fileExists(atPath: file + "-shm"))
  }

  @Test(.enabled(if: SmallDisk.canBeMade, "needs root, for mounts"), arguments: [Access.create, .readWrite, .readOnly])
  func `a file system that takes no further file is said to be that`(access: Access) throws {
    let folder = scratch.file("few")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Connection(path: scratch.file("library.db"), access: .create).execute(
      "CREATE TABLE book (id INTEGER PRIMARY KEY)")
    try SmallDisk.run("mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=2", "none", folder)
    defer { try? SmallDisk.run("umount", "-l", folder) }
    try SmallDisk.run("cp", scratch.file("library.db"), folder)
    for name in access == .create ? ["library.db", "new.db"] : ["library.db"] {
      let said = "\(try #require(error(folder + "/" + name, access)))"
      #expect(said.contains("no file can be made in its folder \(folder): No space left on device"), "\(said)")
    }
  }

  @Test(.enabled(if: SmallDisk.canBeMade, "needs root, for attributes of files"))
  func `a file that may only be appended to is not said to have been opened for reading`() throws {
    let path = scratch.file("library.db")
    try Connection(path: path, access: .create).execute("CREATE TABLE book (id INTEGER PRIMARY KEY)")
    guard (try? SmallDisk.run("chattr", "+a", path)) != nil else { return }
    defer { try? SmallDisk.run("chattr", "-a", path) }
    let error = try #require(
      throws: SQLiteError.self,
      performing: { try Connection(path: path, access: .readWrite).execute("DELETE FROM book") })
    let said = try #require(DatabaseError(error, path: path, waited: .zero))
    #expect("\(said)".contains("the system opens it for reading only") && said.cause == .storage, "\(said)")
  }

  @Test func `a path just within the limit is opened`() throws {
    var path = scratch.path
    while path.utf8.count < 440 { path += "/" + String(repeating: "f", count: 30) }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    path += "/" + String(repeating: "x", count: 504 - path.utf8.count - 1)
    #expect(error(path, .create) == nil)
    #expect("\(try #require(error(path + "y", .create)))".contains("505 bytes"))
  }

  @Test func `a folder that is missing is named, with the reason`() throws {
    let said = "\(try #require(error(scratch.file("no/library.db"), .create)))"
    #expect(said.hasSuffix("cannot be created: its folder \(scratch.path)/no: No such file or directory"), "\(said)")
  }

  @Test(arguments: [Access.readWrite, .readOnly])
  func `what is in the place of the log is named, when the file is opened and in later statements`(
    access: Access
  ) throws {
    let path = scratch.file()
    do {
      let made = try Connection(path: path, access: .create)
      try made.execute("CREATE TABLE t (a)")
    }
    try FileManager.default.createDirectory(atPath: path + "-wal", withIntermediateDirectories: true)
    let said = "\(try #require(error(path, access)))"
    #expect(said.contains("cannot be opened: \(path)-wal: Is a directory. It was not changed"), "\(said)")
    let raw = SQLiteError(code: 14, message: "unable to open database file", sql: "SELECT 1")
    #expect("\(try #require(raw.databaseError(path: path, waited: .zero)))".contains("\(path)-wal: Is a directory"))
  }

  @Test func `too many open files are said to be so, and a file that a statement names stays its own error`() throws {
    let raw = SQLiteError(code: 14, message: "unable to open database file", systemError: EMFILE)
    let said = "\(try #require(raw.databaseError(path: scratch.file(), waited: .zero)))"
    #expect(said.contains("Too many open files; close some of this program's files, or raise its limit"), "\(said)")
    let failed = SQLiteError(code: 266, message: "disk I/O error", systemError: EIO)
    let told = "\(try #require(failed.databaseError(path: "a.db", waited: .zero)))"
    #expect(
      told.hasPrefix("reading or writing a.db failed (SQLite 266): Input/output error. What was not committed was"),
      "\(told)")
    #expect(DatabaseError.explaining(raw, path: "a.db") is DatabaseError)
    let folder = SQLiteError(code: 6410, message: "disk I/O error")
    #expect("\(try #require(folder.databaseError(path: "a.db", waited: .zero)))".contains("name one in SQLITE_TMPDIR"))
    let named = SQLiteError(code: 14, message: "unable to open database: other.db")
    #expect(named.databaseError(path: scratch.file(), waited: .zero) == nil)
  }
}
