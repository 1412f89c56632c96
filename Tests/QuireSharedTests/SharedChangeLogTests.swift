import Foundation
import Quire
import QuireMigration
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite
@testable import QuireShared

/// The change log of a shared file: the same on all nodes, so that a token of one is good on every other.
@Suite(.fewAtOnce) struct SharedChangeLogTests {
  /// What a node has told since it was asked, as text.
  private final class Told: Sendable {
    private let commits = Locked([ChangeSet]())
    private let subscription = Locked<Subscription?>(nil)

    init(_ node: TestNode) {
      let commits = commits
      let subscribed = node.database.subscribe { changes in commits.withLock { $0.append(changes) } }
      subscription.withLock { $0 = subscribed }
    }

    /// Those that are logged: with rows of the user's tables.
    var all: [ChangeSet] {
      commits.withLock {
        $0.filter { $0.tables.contains { !$0.table.isInternal && !$0.table.name.hasPrefix("found_") } }
      }
    }
  }

  private static func text(_ changes: ChangeSet) -> String {
    let tables = changes.tables.filter { !$0.table.isInternal && !$0.table.name.hasPrefix("found_") }
    let rows = tables.flatMap { table in
      table.rows.map {
        "\(table.table.name) \($0.kind) \($0.key) \($0.old.map { "\($0.values)" } ?? "-") \($0.new.map { "\($0.values)" } ?? "-")"
      }
    }
    let place = changes.token.map { "\($0.place)" } ?? "no place"
    return "\(place) \(changes.author ?? "-")\(changes.rowsUnknown ? " and more" : "")\n"
      + rows.sorted().joined(separator: "\n")
  }

  @Test(arguments: ReplayTests.writes) func `a token of one node is good on every other`(statements: [String]) throws {
    let nodes = try TestNodes(2, keepsLog: true)
    let start = try #require(nodes[0].database.latestToken)
    #expect(nodes[1].database.latestToken == start)
    let told = nodes.nodes.map(Told.init)
    for (number, statement) in statements.enumerated() {
      try nodes[number % 2].catchUp()
      try nodes[number % 2].database.write(author: "author \(number)") { _ = try $0.connection.execute(statement) }
    }
    #expect(try nodes.differences() == [])
    let logged = try nodes.nodes.map { try $0.database.loggedCommits(after: start).commits }
    let texts = logged.map { $0.map(Self.text) }
    #expect(texts[0] == texts[1])
    for (node, told) in zip(nodes.nodes, told) {
      #expect(told.all.map(Self.text) == texts[0])
      #expect(node.database.latestToken == logged[0].last?.token ?? start)
    }
    // From each position on, on the other node, with the numbers that were told there.
    for (place, commit) in logged[0].enumerated() {
      let token = try #require(commit.token)
      let rest = try nodes[1].database.loggedCommits(after: token).commits
      #expect(rest.map(Self.text) == Array(texts[0].dropFirst(place + 1)))
      #expect(rest.map(\.number) == told[1].all.dropFirst(place + 1).map(\.number))
    }
    for commit in logged[1] {
      let number = try #require(commit.author.flatMap { Int($0.dropFirst("author ".count)) })
      #expect(commit.origin == (number % 2 == 0 ? .node("node-0") : .sql))
    }
  }

  @Test func `a node that is started again, and one that joins, go on from a token`() throws {
    let nodes = try TestNodes(2, keepsLog: true)
    for number in 0..<10 { try nodes[number % 2].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    try nodes[0].catchUp()
    let token = try #require(nodes[0].database.latestToken)
    _ = try Snapshot.store(
      of: Connection(path: nodes[0].database.path, access: .readOnly), in: nodes.log.connection(),
      patience: .seconds(60))
    try nodes[1].catchUp()
    try nodes[1].write("UPDATE loose SET b = 1 WHERE a < 3")
    let expected = try nodes[1].database.loggedCommits(after: token).commits
    #expect(expected.count == 1 && expected[0].tables.first?.rows.count == 3)
    #expect(expected[0].tables.first?.rows.first?.old?.values == [.integer(0), .integer(0)])
    try nodes[0].catchUp()
    try nodes[0].database.close()
    let late = nodes.scratch.file("late.db")
    try StoreNode.join(late, to: nodes.log.connection(), named: "library", as: "late")
    for file in [nodes[0].database.path, late] {
      let node = try TestNode(file, nodes.log.connection())
      try node.catchUp()
      let commits = try node.database.loggedCommits(after: token).commits
      #expect(commits.map(Self.text) == expected.map(Self.text))
      #expect(commits.map(\.origin) == [.node("node-1")])
    }
  }

  @Test func `what another process does beside the rows is not a commit`() throws {
    let nodes = try TestNodes(
      1, schema: "CREATE TABLE place (code TEXT PRIMARY KEY, number INTEGER)", keepsLog: true)
    nodes[0].log.holdsNews = true
    let told = Locked([ChangeSet]())
    let subscription = nodes[0].database.subscribe { changes in told.withLock { $0.append(changes) } }
    let other = try TestNode(nodes[0].database.path, nodes.log.connection(), patience: .seconds(60))
    try other.write("INSERT INTO place VALUES ('a', 1)")
    nodes[0].database.lookForForeignCommits()
    _ = try other.node.appendCheck()
    nodes[0].database.lookForForeignCommits()
    _ = try other.node.trim(keeping: .zero)
    nodes[0].database.lookForForeignCommits()
    try other.write("UPDATE place SET number = 2")
    nodes[0].database.lookForForeignCommits()
    #expect(told.withLock { $0.map(\.rowsUnknown) } == [false, false])
    #expect(told.withLock { $0.map(\.number) } == [1, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test func `what one node trims is gone on all`() throws {
    let nodes = try TestNodes(2, keepsLog: true)
    let start = try #require(nodes[0].database.latestToken)
    for number in 0..<5 { try nodes[0].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    let middle = try nodes[0].database.loggedCommits(after: start).commits[2]
    try nodes[0].database.forgetLog(upTo: try #require(middle.token).place)
    #expect(try nodes.differences() == [])
    for node in nodes.nodes {
      #expect(throws: ChangeLogError.self) { try node.database.loggedCommits(after: start) }
      #expect(try node.database.loggedCommits(after: try #require(middle.token)).commits.count >= 2)
    }
  }

  @Test func `a migration goes on with the log on all nodes`() throws {
    let nodes = try TestNodes(2, keepsLog: true)
    try nodes[0].write("INSERT INTO loose VALUES (1, 1)")
    try nodes[1].catchUp()
    let token = try #require(nodes[0].database.latestToken)
    let paths = nodes.nodes.map(\.database.path)
    for node in nodes.nodes { try node.database.close() }
    let store = SharedStore("library", on: nodes.log.connection(), as: "unused", patience: .seconds(60))
    var migrator = Migrator(
      database: paths[0],
      files: [
        try MigrationFile(
          path: "20260101000001_wide.sql",
          text: """
            CREATE TABLE wide (id INTEGER PRIMARY KEY, \((1...30).map { "c\($0)" }.joined(separator: ", ")));
            ALTER TABLE loose ADD COLUMN c DEFAULT 3;
            UPDATE loose SET b = 2;
            ALTER TABLE loose DROP COLUMN a;
            """)
      ])
    (migrator.shared, migrator.wait, migrator.allowsLosses) = (store, .seconds(60), true)
    try migrator.apply()
    var reopened: [TestNode] = []
    for path in paths {
      try StoreNode.prepare(path, for: store)
      reopened.append(try TestNode(path, nodes.log.connection()))
    }
    try reopened[1].write("INSERT INTO wide (c30) VALUES (7)")
    try reopened[0].catchUp()
    try reopened[0].write("UPDATE loose SET b = 5")
    try reopened[1].catchUp()
    #expect(try reopened[0].dump() == reopened[1].dump())
    #expect(
      try Connection(path: paths[0], access: .readOnly).digest()
        == Connection(path: paths[1], access: .readOnly).digest())
    let commits = try reopened.map { try $0.database.loggedCommits(after: token).commits }
    #expect(commits[0].map(Self.text) == commits[1].map(Self.text))
    #expect(commits[0].first?.rowsUnknown == true && commits[0].last?.rowsUnknown == false)
    #expect(commits[0].last?.tables.first?.rows.first?.new?.values == [.integer(5), .integer(3)])
  }

  @Test func `a file that leaves has a change log of its own`() throws {
    let nodes = try TestNodes(1, keepsLog: true)
    let token = try #require(nodes[0].database.latestToken)
    let path = nodes[0].database.path
    try nodes[0].database.close()
    _ = try StoreNode.leave(path)
    let database = try Database(DatabaseConfiguration(.file(path), access: .readWrite))
    #expect(throws: ChangeLogError.otherLog(path: path)) { try database.loggedCommits(after: token) }
    try database.write { _ = try $0.connection.execute("INSERT INTO loose VALUES (1, 1)") }
    #expect(database.latestToken != nil)
  }
}
