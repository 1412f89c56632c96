import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// A copy of the file that was put back, and has gone on with other commits under the places of those that are lost.
@Suite(.timeLimit(.minutes(60))) struct RestoredLogTests {
  let log: LoggedFile
  let copy: String

  init() throws {
    log = try LoggedFile()
    copy = log.scratch.file("copy.db")
  }

  private func insert(_ numbers: ClosedRange<Int>, into database: Database, author: String? = nil) throws {
    for number in numbers { try log.run(database, "INSERT INTO t VALUES (\(number), \(number))", author: author) }
  }

  private func copied(_ database: Database) throws {
    try database.read { try $0.copy(to: Connection(path: copy, access: .create)) }
  }

  @Test func `tokens of commits that it does not have are refused, and those of earlier ones are good`() throws {
    let first = try log.open(.on())
    try log.run(first, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let heard = ForeignTests.Heard(first)
    let start = try #require(first.latestToken)
    try insert(1...3, into: first)
    try copied(first)
    try insert(4...6, into: first)
    let other = try log.open()
    try insert(7...7, into: other)
    first.lookForForeignCommits()
    let lost = heard.all.suffix(4).compactMap(\.token)
    let kept = heard.all.dropLast(4).compactMap(\.token)
    #expect(lost.count == 4 && kept.count == 3 && lost.last == first.latestToken && lost.last == other.latestToken)
    #expect(try first.loggedCommits(after: start).commits.compactMap(\.token) == kept + lost)
    try first.close()
    try other.close()
    let reopened = try log.open()
    #expect(reopened.latestToken == lost.last)
    try reopened.close()

    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: log.file + suffix) }
    try FileManager.default.moveItem(atPath: copy, toPath: log.file)
    let second = try log.open()
    try insert(14...24, into: second, author: "later")
    for token in lost {
      #expect(throws: ChangeLogError.otherLog(path: second.path)) { try log.logged(second, after: token) }
    }
    for (place, token) in kept.enumerated() {
      #expect(try log.logged(second, after: token).count == 2 - place + 11)
    }
    // A token passes through any program that keeps numbers of 53 bits; one of an earlier version has no commit.
    let written = try JSONEncoder().encode(lost[0])
    #expect(try JSONDecoder().decode(CommitToken.self, from: written) == lost[0])
    #expect(lost.compactMap(\.commit).allSatisfy { (0..<1 << 53).contains($0) })
    let early = Data(#"{"log":"\#(lost[0].log)","place":\#(lost[0].place)}"#.utf8)
    #expect(try JSONDecoder().decode(CommitToken.self, from: early).commit == nil)
  }

  @Test func `a running store is told that rows are not known where a longer copy is put over its file`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    try insert(1...3, into: database)
    try copied(database)
    try insert(4...5, into: database)
    var configuration = DatabaseConfiguration(.file(copy), access: .readWrite)
    configuration.synchronous = .off
    let elsewhere = try Database(configuration)
    try insert(14...24, into: elsewhere)
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    try elsewhere.read { try $0.copy(to: Connection(path: log.file, access: .readWrite)) }
    database.lookForForeignCommits()
    #expect(heard.all.map(log.line) == ["?"])
    try insert(25...25, into: database)
    #expect(heard.all.dropFirst().map(log.line) == ["+ t 25 (25, 25)"])
    _ = interest
  }
}
