import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireModel

/// Who is concerned by which changes, without a store.
@Suite(.fewAtOnce) struct CommitFollowerTests {
  private let followers = LiveRegistry()

  /// One that only says what concerns it.
  private final class Listener: CommitFollower {
    let name: String
    var filters: [ChangeFilter]
    var isFollowing = true
    init(_ name: String, _ concerns: ChangeFilter...) {
      self.name = name
      self.filters = concerns
    }
    var tables: [String] { filters.map(\.table) }
    func compute(_ batch: CommitBatch, on connection: Connection) -> Bool { false }
    func willChange() {}
    func apply() {}
    func didChange() {}
  }

  private static let book = ChangedTable(name: "book", columns: ["id", "title", "author_id", "year"], keyColumns: [0])
  private static let pair = ChangedTable(name: "pair", columns: ["a", "b"], keyColumns: [0, 1])

  private static func insert(_ key: Int64, _ values: Value?...) -> RowChange {
    RowChange(key: .integer(key), kind: .insert, old: nil, new: .init([.integer(key)] + values))
  }
  private static func delete(_ key: Int64, _ values: Value?...) -> RowChange {
    RowChange(key: .integer(key), kind: .delete, old: .init([.integer(key)] + values), new: nil)
  }
  private static func update(_ key: Int64, _ old: [Value?], _ new: [Value?]) -> RowChange {
    RowChange(key: .integer(key), kind: .update, old: .init([nil] + old), new: .init([nil] + new))
  }

  private static func batch(_ rows: [RowChange], of table: ChangedTable = book) -> CommitBatch {
    CommitBatch(number: 1, tables: [TableChanges(table: table, rows: rows)])
  }

  /// The names of those concerned, in order.
  private func concerned(_ rows: RowChange...) -> String { followers(affectedBy: Self.batch(rows)) }

  private func followers(affectedBy batch: CommitBatch) -> String {
    followers.followers(affectedBy: batch).compactMap { ($0.follower as? Listener)?.name }.joined(separator: " ")
  }

  private func add(_ name: String, columns: Set<String>?, _ choices: RowExpression.Choice...) -> Listener {
    let listener = Listener(name, ChangeFilter("book", columns: columns, choices: choices))
    followers.add(listener)
    return listener
  }

  private func by(_ column: String, _ values: Value...) -> RowExpression.Choice {
    RowExpression.Choice(ColumnPath(column), values)
  }

  @Test func `a change concerns who looks at the columns it changed, and who has a value it had or has`() {
    let all = [
      add("any", columns: nil), add("title", columns: ["title"]),
      add("of7", columns: ["author_id", "title"], by("author_id", 7)),
      add("of8", columns: ["author_id"], by("author_id", 8)),
      add("none", columns: ["author_id"], by("author_id", .null)),
      add("key3", columns: ["id", "year"], by("id", 3)),
      add("both", columns: ["author_id", "year"], by("author_id", 7), by("year", 1999)),
      add("never", columns: ["year"], by("year")),
    ]
    #expect(concerned(Self.insert(1, "a", 7, 2000)) == "any title of7")
    #expect(concerned(Self.insert(3, "a", 7, 1999)) == "any title of7 key3 both")
    #expect(concerned(Self.delete(1, "a", .null, 1)) == "any title none")
    #expect(concerned(Self.update(1, ["a", 7, 1], ["a", 8, 1])) == "any of7 of8")
    #expect(concerned(Self.update(1, ["a", .null, 1], ["a", 8, 1])) == "any of8 none")
    #expect(concerned(Self.update(3, ["a", 9, 1], ["a", 9, 2])) == "any key3")
    #expect(concerned(Self.update(1, ["a", 7, 1999], ["b", 7, 1999])) == "any title of7")
    #expect(concerned(Self.update(1, ["a", 7, 1999], ["a", 9, 2000])) == "any of7 both")
    #expect(concerned(Self.insert(1, "a", 9, 1), Self.insert(2, "b", 8, 1)) == "any title of8")
    #expect(followers(affectedBy: Self.batch([Self.insert(1)], of: Self.pair)) == "")
    #expect(all.count == 8 && followers.routed > 0)
  }

  @Test func `a row whose values were not captured concerns everybody of its table`() {
    let all = [
      add("title", columns: ["title"]), add("of7", columns: ["author_id"], by("author_id", 7)),
      add("key3", columns: ["year"], by("id", 3)),
    ]
    #expect(concerned(Self.update(1, ["a", nil, 1], ["a", 8, 1])) == "of7")
    #expect(concerned(Self.update(1, [nil, 7, nil], ["a", 7, nil])) == "title")
    let bare = RowChange(key: .integer(4), kind: .update, old: .init([]), new: .init([]))
    #expect(concerned(bare) == "title of7")
    let altered = ChangedTable(name: "book", columns: ["id", "title", "year"], keyColumns: [0])
    let inserted = Self.batch([Self.insert(1, "a", 7)], of: altered)
    #expect(followers(affectedBy: inserted) == "title of7", "no author_id any more")
    var twice = Self.batch([Self.update(5, ["a", 9, 1], ["a", 9, 2])])
    twice.tables.append(TableChanges(table: altered, rows: []))
    #expect(followers(affectedBy: twice) == "title of7 key3", "the table comes in two forms")
    #expect(all.count == 3)
  }

  @Test func `values are looked up as SQLite compares them`() {
    let all = [
      add("1", columns: ["year"], by("year", 1)), add("'e'", columns: ["year"], by("year", "\u{E9}")),
      add("2.5", columns: ["year"], by("year", 2.5)), add("'x'", columns: ["year"], by("year", "x")),
    ]
    func of(_ value: Value) -> String { concerned(Self.insert(1, "a", 1, value)) }
    #expect(of(1) == "1" && of(1.0) == "1" && of("1") == "1" && of(" 1.0e0 ") == "1")
    #expect(of("\u{E9}") == "'e'" && of("e\u{301}") == "" && of("X") == "" && of(.null) == "")
    #expect(of(2.5) == "2.5" && of(.blob(.init("x".utf8))) == "")
    #expect(all.count == 4)
  }

  @Test func `of many rows each gets its own, of few all`() throws {
    let seven = add("7", columns: ["author_id"], by("author_id", 7))
    let all = add("all", columns: ["author_id"])
    let rows = (1...100).map { Self.insert(Int64($0), "a", .integer(Int64($0 % 10)), 1) }
    let found = followers.followers(affectedBy: Self.batch(rows))
    #expect(found.map { $0.follower === seven } == [true, false])
    #expect(found[0].batch.tables[0].rows == rows.filter { $0.new?[2] == 7 })
    #expect(found[1].batch.tables[0].rows == rows)
    let moved = (1...50).map { Self.update(Int64($0), ["a", 6, 1], ["a", $0 % 3 == 0 ? 7 : 6, 1]) }
    #expect(followers.followers(affectedBy: Self.batch(moved)).first?.batch.tables[0].rows.count == 16)
    let most = (1...50).map { Self.insert(Int64($0), "a", $0 % 3 == 0 ? 6 : 7, 1) }
    #expect(followers.followers(affectedBy: Self.batch(most)).first?.batch.tables[0].rows == most, "most of them: all")
    #expect(followers.followers(affectedBy: Self.batch(Array(rows[..<20]))).first?.batch.tables[0].rows.count == 20)
    #expect(all.isFollowing)
  }

  @Test func `who is added again is concerned by what it says now, and keeps its place`() {
    let first = add("first", columns: ["year"], by("author_id", 7))
    let second = add("second", columns: nil)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "second")
    first.filters = [ChangeFilter("book")]
    followers.add(first)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "first second" && followers.count == 2)
    #expect(second.isFollowing)
  }

  @Test func `who could not follow is concerned by every commit of its tables until it can`() {
    let listener = add("7", columns: ["author_id"], by("author_id", 7))
    listener.isFollowing = false
    followers.fellBehind(listener)
    followers.fellBehind(listener)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "7" && concerned(Self.update(1, ["", 1, 1], ["", 1, 2])) == "7")
    #expect(followers(affectedBy: Self.batch([], of: Self.pair)) == "")
    followers.add(listener)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "7")
    listener.isFollowing = true
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "" && concerned(Self.insert(1, "a", 7, 1)) == "7")
  }

  @Test func `another process's commit and a failure concern all, in the order of their making`() {
    let all = (0..<50).map { add("\($0)", columns: ["year"], by("author_id", .integer(Int64($0)))) }
    let names = all.map(\.name).joined(separator: " ")
    #expect(followers(affectedBy: CommitBatch(number: 1, tables: [], rowsUnknown: true)) == names)
    #expect(followers(affectedBy: CommitBatch(number: 1, tables: [], failure: .closed(path: ""))) == names)
  }

  @Test func `those that are gone are let go of, a few at every commit, and at once where one concerns them`() {
    var all = (0..<1000).map { add("\($0)", columns: ["year"], by("author_id", .integer(Int64($0)))) }
    all.removeFirst(990)
    all += (2000..<2010).map { add("\($0)", columns: ["title"]) }
    #expect(followers.count > 900)
    #expect(concerned(Self.insert(1, "a", 995, 1)) == "995 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009")
    for _ in 0..<300 { _ = concerned(Self.insert(1, "a", -1, 1)) }
    #expect(followers.count == 20 && !followers.isEmpty)
    all.removeLast(10)
    #expect(concerned(Self.insert(1, "a", -1, 1)) == "" && followers.count == 10)
    all.removeAll()
    #expect(followers.isEmpty && followers.count == 0)
  }
}
