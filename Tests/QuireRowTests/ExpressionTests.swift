import Foundation
import QuireRow
import TestSupport
import Testing

@Suite struct ExpressionTests {
  static let schema = """
    CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT, size INTEGER) STRICT;
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, alive INTEGER, country_id INTEGER) STRICT;
    CREATE TABLE book (id INTEGER PRIMARY KEY, i INTEGER, j INTEGER NOT NULL, r REAL, s TEXT, t TEXT NOT NULL,
      flag INTEGER, done INTEGER NOT NULL, d BLOB, x ANY, author_id INTEGER) STRICT;
    """

  /// A database of random rows, references to nothing among them.
  static func fill(_ generator: inout RandomExpression, rows: Int = 40) throws -> TestDatabase {
    let database = try TestDatabase(schema)
    func maybe(_ value: Value, _ generator: inout RandomExpression) -> Value {
      generator.random.chance(1, in: 4) ? .null : value
    }
    for id in 1...3 {
      try database.rows(
        "INSERT INTO country VALUES (?, ?, ?)",
        [.integer(Int64(id)), maybe(generator.text(), &generator), maybe(generator.integer(), &generator)])
    }
    for id in 1...6 {
      try database.rows(
        "INSERT INTO author VALUES (?, ?, ?, ?, ?)",
        [
          .integer(Int64(id)), maybe(generator.text(), &generator), maybe(generator.integer(), &generator),
          maybe(generator.random.pick([0, 1]), &generator), generator.random.pick([.null, 1, 2, 3, 9]),
        ])
    }
    for id in 1...rows {
      let anything = [generator.integer(), generator.real(), generator.text(), generator.blob(), .null]
      try database.rows(
        "INSERT INTO book VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
          .integer(Int64(id)), maybe(generator.integer(), &generator), generator.integer(),
          maybe(generator.real(), &generator), maybe(generator.text(), &generator), generator.text(),
          maybe(generator.random.pick([0, 1]), &generator), generator.random.pick([0, 1]),
          maybe(generator.blob(), &generator), generator.random.pick(anything),
          generator.random.pick([.null, 1, 2, 3, 4, 5, 6, 99]),
        ])
    }
    return database
  }

  static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8, extraSeed]

  @Test(arguments: seeds) func `what SQL narrows by and what is asked afterwards are the whole condition`(seed: UInt64)
    throws
  {
    var generator = RandomExpression(random: SeededGenerator(seed))
    var narrowed = 0
    for _ in 0..<1500 {
      let condition = generator.computedCondition(Int.random(in: 1...4, using: &generator.random))
      let (necessary, beyond) = (condition.necessary, condition.beyondNecessary)
      #expect(!necessary.needsObject)
      if condition.needsObject, necessary != .true { narrowed += 1 }
      for _ in 0..<8 {
        let columns = Dictionary(
          uniqueKeysWithValues: condition.columns.map { path in
            (path, generator.random.pick([.null, 0, 1, generator.integer(), generator.text()]))
          })
        let values = (0..<4).map { _ in generator.random.pick([Value.null, 0, 1]) }
        func accepts(_ condition: RowExpression) -> Bool {
          condition.accepts({ columns[$0] ?? .null }, related: { _ in nil }, computed: { values[$0.number] })
        }
        let both = accepts(necessary) && (!condition.needsObject || accepts(beyond))
        #expect(both == accepts(condition), "seed \(seed): \(condition) narrowed by \(necessary)")
      }
    }
    #expect(narrowed > 100)
  }

  @Test func `what only Swift can tell is no SQL`() {
    let loud = RowExpression.compare(.equal, .computed(ComputedValue(0, words: "$0.loud")), .literal("A"))
    #expect(throws: QueryError.computed("$0.loud")) { try loud.sql() }
  }

  @Test(arguments: seeds) func `an expression means the same in memory as in SQLite`(seed: UInt64) throws {
    var generator = RandomExpression(random: SeededGenerator(seed))
    let database = try Self.fill(&generator)
    let all =
      RandomExpression.numbers + RandomExpression.texts + RandomExpression.flags + RandomExpression.blobs
      + RandomExpression.anything
    let rows = try database.rows(SelectQuery(from: "book", columns: all).statement())
    let columns = Dictionary(uniqueKeysWithValues: zip(all, all.indices))
    for round in 0..<1500 {
      let depth = Int.random(in: 0...4, using: &generator.random)
      let expression =
        switch round % 3 {
        case 0: generator.number(depth)
        case 1: generator.text(depth)
        default: generator.condition(depth)
        }
      let (value, joins) = try expression.sql()
      let values = try database.rows(
        SQLText("SELECT \(value.text) FROM book AS t0\(joins) ORDER BY t0.id", value.bindings))
      for (row, found) in zip(rows, values) {
        let evaluated = expression.evaluate { row[columns[$0] ?? 0] }
        guard evaluated == found[0] else {
          Issue.record(
            "seed \(seed), row \(row): \(evaluated) in memory, \(found[0]) in SQLite: \(value)\n\(expression)".visible)
          return
        }
      }
      guard round % 3 == 2 else { continue }
      let query = SelectQuery(from: "book", columns: ["id"], where: expression)
      let accepted = try database.rows(query.statement()).map { $0[0] }
      let expected = rows.filter { row in expression.accepts { row[columns[$0] ?? 0] } }.map { $0[0] }
      if accepted != expected {
        Issue.record(
          "seed \(seed): \(expected) in memory, \(accepted) in SQLite: \(try query.statement())\n\(expression)".visible)
        return
      }
      for choice in expression.choices {
        for row in rows where expression.accepts({ row[columns[$0] ?? 0] }) {
          let value = row[columns[choice.path] ?? 0]
          #expect(choice.values.contains { $0.compare(to: value) == 0 }, "seed \(seed): \(expression)")
        }
      }
      let folded = expression.isNull { if case .column(let path) = $0 { !path.steps.isEmpty } else { false } }
      if folded {
        for row in rows {
          let value = expression.evaluate { $0.steps.isEmpty ? row[columns[$0] ?? 0] : .null }
          #expect(value == .null, "seed \(seed): \(expression)")
        }
      }
    }
  }

  @Test func `malformed text is compared byte by byte, as SQLite does`() throws {
    let database = try TestDatabase("CREATE TABLE book (id INTEGER PRIMARY KEY, s TEXT)")
    let malformed = Value.malformedText(Data([0x61, 0xFF, 0x62]))
    try database.rows("INSERT INTO book VALUES (1, ?)", [malformed])
    for expression: RowExpression in [
      .text(.contains, .column("s"), .literal("b")), .text(.startsWith, .column("s"), .literal("a")),
      .text(.endsWith, .column("s"), .literal("b")), .text(.containsFolded, .column("s"), .literal("A")),
      .count(.column("s")), .compare(.greater, .column("s"), .literal("a")),
    ] {
      let (value, _) = try expression.sql()
      let found = try database.rows(SQLText("SELECT \(value.text) FROM book AS t0", value.bindings))
      #expect(expression.evaluate { _ in malformed } == found[0][0])
    }
  }

  @Test func `nil equals nil and differs from all else`() {
    let year = RowExpression.column("year")
    #expect(RowExpression.compare(.equal, year, .null).evaluate { _ in .null } == 1)
    #expect(RowExpression.compare(.unequal, year, .literal(3)).accepts { _ in .null })
    #expect(!RowExpression.compare(.less, year, .literal(3)).accepts { _ in .null })
  }

  @Test func `names are quoted and values bound`() throws {
    let step = ColumnPath.Step("a\"b", to: "or\"der", key: "k")
    let expression = RowExpression.compare(.equal, .column(ColumnPath([step], "x; DROP")), .literal("'; --"))
    let (value, joins) = try expression.conditionSQL()
    #expect(value.text == "(t1.\"x; DROP\" = ?)")
    #expect(value.bindings == ["'; --"])
    #expect(joins == " LEFT JOIN \"or\"\"der\" AS t1 ON t1.\"k\" = t0.\"a\"\"b\"")
    #expect(try RowExpression.column("").sql().value.text == "t0.\"\"")
    #expect(throws: QueryError.self) { try RowExpression.column("a\0b").sql() }
  }

  @Test func `a Boolean column is compared with 1, and its negation with 0`() throws {
    let flag = RowExpression.column("is_available")
    #expect(try flag.conditionSQL().condition.text == "(t0.\"is_available\" = 1)")
    #expect(try (!flag).conditionSQL().condition.text == "(t0.\"is_available\" = 0)")
    #expect(flag.choices == [.init("is_available", [1])] && (!flag).choices == [.init("is_available", [0])])
  }

  @Test func `conjunctions absorb what is known`() {
    let title = RowExpression.text(.contains, .column("title"), .literal("x"))
    #expect(RowExpression.any([.true, title]) == .true)
    #expect(RowExpression.any([.false, title]) == title)
    #expect(
      RowExpression.all([.true, .all([title, .column("a")]), .column("b")])
        == .and([title, .column("a"), .column("b")]))
    #expect(RowExpression.all([]) == .true)
  }

  @Test func `a thousand terms are one statement`() throws {
    let database = try TestDatabase(
      "CREATE TABLE book (id INTEGER PRIMARY KEY, i INTEGER); INSERT INTO book VALUES (1, 4999)")
    let terms = (0..<5000).map { RowExpression.compare(.equal, .column("i"), .literal(.integer($0))) }
    let query = SelectQuery(from: "book", columns: ["id"], where: .any(terms))
    #expect(try database.rows(query.statement()) == [[1]])
  }

  @Test func `a long list is one parameter and keeps the index`() throws {
    let database = try TestDatabase(
      "CREATE TABLE book (id INTEGER PRIMARY KEY, s TEXT, r REAL) STRICT; CREATE INDEX by_s ON book(s);")
    let texts = RandomExpression.someTexts.filter { !$0.utf8.contains(0) }
    for text in texts { try database.rows("INSERT INTO book(s, r) VALUES (?, 1.5)", [.text(text)]) }
    let listed = SelectQuery(from: "book", columns: ["s"], where: .contains(texts.map { .text($0) }, .column("s")))
    let statement = try listed.statement()
    #expect(statement.bindings.count == 1)
    #expect(try database.rows(statement).count == texts.count)
    #expect(try database.plan(statement).contains("SEARCH t0 USING COVERING INDEX by_s (s=?)"))
    let reals = (0..<40_000).map { Value.real(Double($0) + 0.5) }
    let tooMany = SelectQuery(from: "book", columns: ["id"], where: .contains(reals, .column("r")))
    #expect(throws: QueryError.tooManyValues(40_000)) { try tooMany.statement() }
    let wholes = (0..<40_000).map { Value.integer($0) } + [.integer(.max), .integer(.min)]
    let many = SelectQuery(from: "book", columns: ["id"], where: .contains(wholes, .column("id")))
    #expect(try database.rows(many.statement()).count == texts.count)
  }

  @Test func `a prefix is searched in the index`() throws {
    let database = try TestDatabase(
      "CREATE TABLE book (id INTEGER PRIMARY KEY, s TEXT) STRICT; CREATE INDEX by_s ON book(s);")
    let query = SelectQuery(from: "book", columns: ["s"], where: .text(.startsWith, .column("s"), .literal("Ab")))
    #expect(try database.plan(query.statement()).contains("SEARCH t0 USING COVERING INDEX by_s (s>? AND s<?)"))
  }
}

extension String {
  /// With NULs and other controls to be seen, so that a failure can be read and typed again.
  fileprivate var visible: Comment { Comment(rawValue: unicodeScalars.map { $0.escaped(asASCII: false) }.joined()) }
}
