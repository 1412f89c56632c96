import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// Files that become shared, join, leave, and are made anew.
struct JoiningTests {
  @Test func `two files are not shared under one name`() throws {
    let scratch = try Scratch()
    let (log, one, two) = (MemoryLog(), scratch.file("a.db"), scratch.file("b.db"))
    for file in [one, two] { _ = try Connection(path: file, access: .create).execute("CREATE TABLE loose (a, b)") }
    try StoreNode.begin(one, on: log.connection(), named: "library", as: "a")
    #expect(throws: SharingError.nameInUse(name: "library")) {
      try StoreNode.share(two, on: log.connection(), named: "library", as: "b")
    }
    #expect(try NodePlace(on: Connection(path: two, access: .readOnly)) == nil)
    // A share that was stopped before others could begin with it does not keep the name; its file does not fit then.
    let (other, three) = (MemoryLog(), scratch.file("c.db"))
    _ = try Connection(path: three, access: .create).execute("CREATE TABLE loose (a, b)")
    try StoreNode.share(two, on: other.connection(), named: "library", as: "b")
    try StoreNode.begin(three, on: other.connection(), named: "library", as: "c")
    let node = try TestNode(two, other.connection())
    #expect(node.node.state == .stopped(.otherLog(other.id)))
    #expect(throws: SharedStoreError.self) { try node.write("INSERT INTO loose VALUES (1, 1)") }
    #expect(other.last == 0)
  }

  @Test func `a share whose request arrives twice is this file's`() throws {
    let scratch = try Scratch()
    let (log, file) = (MemoryLog(), scratch.file("a.db"))
    _ = try Connection(path: file, access: .create).execute("CREATE TABLE loose (a, b)")
    let connection = log.connection()
    connection.fail(.create, .repeated)
    try StoreNode.share(file, on: connection, named: "library", as: "a")
    #expect(try NodePlace(on: Connection(path: file, access: .readOnly))?.log == log.id)
    try TestNode(file, log.connection()).write("INSERT INTO loose VALUES (1, 1)")
    #expect(log.last == 1)
  }

  @Test func `a file that is made anew takes nothing from what an old one has left`() throws {
    let nodes = try TestNodes(1)
    for number in 0..<20 { try nodes[0].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    let (file, log) = (nodes.scratch.file("late.db"), nodes.log.connection())
    try StoreNode.join(file, to: log, named: "library", as: "late")
    // As after a kill: the log stays, and only the file is removed.
    let node = try TestNode(file, log)
    try node.catchUp()
    let left = try Data(contentsOf: URL(filePath: file + "-wal"))
    #expect(!left.isEmpty)
    try node.database.close()
    try FileManager.default.removeItem(atPath: file)
    for end in ["-wal", "-joining", "-joining-wal", "-joining-journal"] {
      try left.write(to: URL(filePath: file + end))
    }
    try StoreNode.join(file, to: log, named: "library", as: "late")
    #expect(try Connection(path: file, access: .readOnly).query("SELECT count(*) FROM loose").first == 0)
    #expect(throws: SharingError.exists(path: file)) {
      try StoreNode.join(file, to: log, named: "library", as: "later")
    }
    #expect(try StoreNode.place(of: file).node == "late")
    let files = try FileManager.default.contentsOfDirectory(atPath: nodes.scratch.path)
    #expect(files.filter { $0.contains("joining") } == [])
  }

  @Test func `two processes that make the same file make it once`() throws {
    let nodes = try TestNodes(1)
    let (file, group) = (nodes.scratch.file("late.db"), DispatchGroup())
    let errors = Locked([String]())
    for number in 0..<8 {
      let store = SharedStore("library", on: nodes.log.connection(), as: "late-\(number)", patience: .seconds(60))
      group.enter()
      Thread.detachNewThread {
        do { try StoreNode.prepare(file, for: store) } catch { errors.withLock { $0.append("\(error)") } }
        group.leave()
      }
    }
    group.wait()
    #expect(errors.withLock(\.self) == [])
    let node = try TestNode(file, nodes.log.connection())
    try node.write("INSERT INTO loose VALUES (1, 1)")
    #expect(try node.query("PRAGMA integrity_check") == [["ok"]])
  }

  @Test func `a file that is replaced keeps its owner and its mode`() throws {
    let nodes = try TestNodes(1)
    let file = nodes.scratch.file("other.db")
    try StoreNode.join(file, to: nodes.log.connection(), named: "library", as: "other")
    chmod(file, 0o640)
    _ = try StoreNode.rejoin(file, to: nodes.log.connection(), patience: .seconds(60))
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o640)
  }

  @Test func `a file that leaves is an ordinary one, and one that joins again begins with the snapshot`() throws {
    let scratch = try Scratch()
    let (log, file, other) = (MemoryLog().connection(), scratch.file("a.db"), scratch.file("b.db"))
    _ = try Connection(path: file, access: .create).execute("CREATE TABLE loose (a, b)")
    try StoreNode.begin(file, on: log, named: "library", as: "a")
    try StoreNode.join(other, to: log, named: "library", as: "b")
    do {
      let node = try TestNode(other, log, patience: .seconds(60))
      try node.write("INSERT INTO loose VALUES (1, 1)")
      #expect(throws: DatabaseError.self) { try StoreNode.leave(other) }  // it is open
      try node.database.close()
    }
    let old = try StoreNode.rejoin(other, to: log, patience: .seconds(60))
    #expect(try Connection(path: old, access: .readOnly).query("SELECT count(*) FROM loose").first == 1)
    #expect(try Connection(path: other, access: .readOnly).query("SELECT count(*) FROM loose").first == 0)
    #expect(throws: SharedStoreError.notShared(path: scratch.file("a.db"))) {
      _ = try StoreNode.leave(file)
      _ = try StoreNode.leave(file)
    }
    let connection = try Connection(path: file, access: .readWrite)
    try connection.execute("INSERT INTO loose VALUES (2, 2)")
    #expect(
      try SchemaReader(connection).objects().filter { $0.name.hasPrefix("_quire") }.map(\.name).sorted() == [
        "_quire_keys"
      ])
  }

  @Test func `a log with entries is not taken for another file`() throws {
    let nodes = try TestNodes(1)
    try nodes[0].write("INSERT INTO loose VALUES (1, 1)")
    let scratch = try Scratch()
    let plain = scratch.file("plain.db")
    _ = try Connection(path: plain, access: .create).execute("CREATE TABLE loose (a, b)")
    #expect(throws: SharingError.nameInUse(name: "library")) {
      try StoreNode.share(plain, on: nodes.log.connection(), named: "library", as: "a")
    }
    #expect(try NodePlace(on: Connection(path: plain, access: .readOnly)) == nil)
  }

  @Test func `a shared file that is opened as if it were not says so at the first write`() throws {
    let nodes = try TestNodes(1)
    let path = nodes[0].database.path
    let database = try Database(DatabaseConfiguration(.file(path), access: .readWrite))
    #expect(throws: DatabaseError.shared(path: path)) {
      try database.write { try $0.connection.execute("INSERT INTO loose VALUES (1, 1)") }
    }
    #expect(throws: DatabaseError.shared(path: path)) {
      try database.write { try $0.connection.execute("CREATE TABLE other (x)") }
    }
    #expect(throws: DatabaseError.shared(path: path)) {
      try RecordingConnection(path: path, busyTimeout: .zero, own: LocalCommits())
    }
    #expect(try nodes[0].query("SELECT count(*) FROM loose") == [[0]])
  }

  @Test func `a machine that joins by itself takes no other machine's name`() throws {
    let nodes = try TestNodes(1)
    let log = nodes.log.connection()
    nodes[0].node.announceNow()
    #expect(try StoreNode.freeName("attic", in: log, patience: .seconds(60)) == "attic")
    let other = try StoreNode.freeName("node-0", in: log, patience: .seconds(60))
    #expect(other.hasPrefix("node-0-") && SharedStore.isUsable(name: other))
    let left = NodeReport(position: 0, state: NodeReport.left, time: Date())
    try log.store(left.bytes, as: Part(.nodes, "node-0"), by: .now + .seconds(60))
    #expect(try StoreNode.freeName("node-0", in: log, patience: .seconds(60)) == "node-0")
  }

  @Test func `two processes of a machine share its file`() throws {
    let nodes = try TestNodes(2)
    let path = nodes[0].database.path
    let second = try TestNode(path, nodes.log.connection(), patience: .seconds(60))
    for number in 0..<30 {
      let node = [nodes[0], second, nodes[1]][number % 3]
      try node.write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))])
    }
    for node in nodes.nodes + [second] { try node.catchUpInTheEnd() }
    #expect(try nodes[0].dump() == nodes[1].dump() && second.dump() == nodes[1].dump())
    #expect(second.node.state == .current && second.node.position == 30)
    #expect(try nodes[1].query("SELECT count(*) FROM loose") == [[30]])
  }
}
