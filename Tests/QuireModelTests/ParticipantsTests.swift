import QuireRow
import QuireSQLite
import Testing

@testable import QuireModel

/// Who is concerned by which changes, without a store.
@Suite struct ParticipantsTests {
  private let participants = Participants()

  /// One that only says what concerns it.
  private final class Listener: Participant {
    let name: String
    var concerns: [Concern]
    var isFollowing = true
    init(_ name: String, _ concerns: Concern...) {
      self.name = name
      self.concerns = concerns
    }
    var tables: [String] { concerns.map(\.table) }
    func prepare(_ news: News, on connection: Connection) -> Bool { false }
    func announce() {}
    func apply() {}
    func tell() {}
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

  private static func news(_ rows: [RowChange], of table: ChangedTable = book) -> News {
    News(number: 1, tables: [TableChanges(table: table, rows: rows)])
  }

  /// The names of those concerned, in order.
  private func concerned(_ rows: RowChange...) -> String { concerned(by: Self.news(rows)) }

  private func concerned(by news: News) -> String {
    participants.concerned(by: news).compactMap { ($0.participant as? Listener)?.name }.joined(separator: " ")
  }

  private func add(_ name: String, columns: Set<String>?, _ choices: RowExpression.Choice...) -> Listener {
    let listener = Listener(name, Concern("book", columns: columns, choices: choices))
    participants.add(listener)
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
    #expect(concerned(by: Self.news([Self.insert(1)], of: Self.pair)) == "")
    #expect(all.count == 8 && participants.routed > 0)
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
    #expect(concerned(by: Self.news([Self.insert(1, "a", 7)], of: altered)) == "title of7", "no author_id any more")
    var twice = Self.news([Self.update(5, ["a", 9, 1], ["a", 9, 2])])
    twice.tables.append(TableChanges(table: altered, rows: []))
    #expect(concerned(by: twice) == "title of7 key3", "the table comes in two forms")
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
    let found = participants.concerned(by: Self.news(rows))
    #expect(found.map { $0.participant === seven } == [true, false])
    #expect(found[0].news.tables[0].rows == rows.filter { $0.new?[2] == 7 })
    #expect(found[1].news.tables[0].rows == rows)
    let moved = (1...50).map { Self.update(Int64($0), ["a", 6, 1], ["a", $0 % 3 == 0 ? 7 : 6, 1]) }
    #expect(participants.concerned(by: Self.news(moved)).first?.news.tables[0].rows.count == 16)
    let most = (1...50).map { Self.insert(Int64($0), "a", $0 % 3 == 0 ? 6 : 7, 1) }
    #expect(participants.concerned(by: Self.news(most)).first?.news.tables[0].rows == most, "most of them: all")
    #expect(participants.concerned(by: Self.news(Array(rows[..<20]))).first?.news.tables[0].rows.count == 20)
    #expect(all.isFollowing)
  }

  @Test func `who is added again is concerned by what it says now, and keeps its place`() {
    let first = add("first", columns: ["year"], by("author_id", 7))
    let second = add("second", columns: nil)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "second")
    first.concerns = [Concern("book")]
    participants.add(first)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "first second" && participants.count == 2)
    #expect(second.isFollowing)
  }

  @Test func `who could not follow is concerned by every commit of its tables until it can`() {
    let listener = add("7", columns: ["author_id"], by("author_id", 7))
    listener.isFollowing = false
    participants.fellBehind(listener)
    participants.fellBehind(listener)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "7" && concerned(Self.update(1, ["", 1, 1], ["", 1, 2])) == "7")
    #expect(concerned(by: Self.news([], of: Self.pair)) == "")
    participants.add(listener)
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "7")
    listener.isFollowing = true
    #expect(concerned(Self.insert(1, "a", 8, 1)) == "" && concerned(Self.insert(1, "a", 7, 1)) == "7")
  }

  @Test func `another process's commit and a failure concern all, in the order of their making`() {
    let all = (0..<50).map { add("\($0)", columns: ["year"], by("author_id", .integer(Int64($0)))) }
    let names = all.map(\.name).joined(separator: " ")
    #expect(concerned(by: News(number: 1, tables: [], isComparison: true)) == names)
    #expect(concerned(by: News(number: 1, tables: [], failure: .closed(path: ""))) == names)
  }

  @Test func `those that are gone are let go of, a few at every commit, and at once where one concerns them`() {
    var all = (0..<1000).map { add("\($0)", columns: ["year"], by("author_id", .integer(Int64($0)))) }
    all.removeFirst(990)
    all += (2000..<2010).map { add("\($0)", columns: ["title"]) }
    #expect(participants.count > 900)
    #expect(concerned(Self.insert(1, "a", 995, 1)) == "995 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009")
    for _ in 0..<300 { _ = concerned(Self.insert(1, "a", -1, 1)) }
    #expect(participants.count == 20 && !participants.isEmpty)
    all.removeLast(10)
    #expect(concerned(Self.insert(1, "a", -1, 1)) == "" && participants.count == 10)
    all.removeAll()
    #expect(participants.isEmpty && participants.count == 0)
  }
}
