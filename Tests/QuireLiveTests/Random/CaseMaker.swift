import Foundation
import TestSupport

/// Makes random cases: the same for the same seed.
struct CaseMaker {
  private var random: Random
  private var made = RandomCase()
  /// Columns that hold another table's keys.
  private var references: [(table: String, column: String, target: String)] = []
  private var pairs: [(table: String, a: String, b: String)] = []

  private typealias Table = RandomCase.Table
  private typealias Column = RandomCase.Column
  private typealias Kind = RandomCase.Kind
  private typealias Literal = RandomCase.Literal

  init(seed: UInt64) { random = Random(seed: seed &* 31 &+ 7) }

  mutating func make(questions: Int, transactions: Int) -> RandomCase {
    let count = 2 + random.below(2)
    for number in 0..<count { addTable(number) }
    addPairs()
    addExtras()
    for table in made.tables where table.constraint == nil {
      for key in 1...(table.name == "t0" ? 45 : 12) { made.rows.append(row(Int64(key), in: table)) }
    }
    for pair in pairs {
      var known: Set<[Int]> = []
      for _ in 0..<15 {
        let (a, b) = (1 + random.below(20), 1 + random.below(12))
        guard known.insert([a, b]).inserted else { continue }
        made.rows.append(.init(table: pair.table, values: ["a": .integer(Int64(a)), "b": .integer(Int64(b))]))
      }
    }
    for number in 0..<questions { made.questions.append(question(number)) }
    for _ in 0..<transactions { made.transactions.append(transaction()) }
    return made
  }

  // MARK: Tables and rows

  private mutating func addTable(_ number: Int) {
    let name = "t\(number)"
    var columns = [Column(name: "id", type: .integer, rest: "PRIMARY KEY")]
    for place in 0..<2 + random.below(3) {
      let kind = random.pick([Kind.integer, .integer, .real, .text, .text, .blob, .any])
      columns.append(Column(name: "c\(place)", type: kind))
    }
    // What another row may be replaced for.
    if !random.chance(3) { columns.append(Column(name: "u", type: .integer, rest: "UNIQUE")) }
    if number > 0 || random.chance(4) {
      let target = number == 0 ? "t0" : "t\(random.below(number))"
      let action = random.pick(["CASCADE", "CASCADE", "SET NULL"])
      let deferred = random.chance(4) ? " DEFERRABLE INITIALLY DEFERRED" : ""
      columns.append(
        Column(
          name: "r", type: .integer, rest: "REFERENCES \(target) ON DELETE \(action) ON UPDATE CASCADE\(deferred)"))
      references.append((name, "r", target))
    }
    if number < 2, random.chance(2) {
      // Forward too: a row of the first table may lead to the second. Nothing watches over it, so it may lead nowhere.
      columns.append(Column(name: "s", type: .integer))
      references.append((name, "s", number == 0 ? "t1" : "t0"))
    }
    // Only STRICT tables keep what they are given in a column of any type.
    let isStrict = columns.contains { $0.type == .any } || !random.chance(4)
    made.tables.append(Table(name: name, columns: columns, ending: isStrict ? "STRICT" : ""))
  }

  private mutating func addPairs() {
    guard random.chance(2) else { return }
    made.tables.append(
      Table(
        name: "p",
        columns: [
          Column(name: "a", type: .integer, rest: "NOT NULL REFERENCES t0 ON DELETE CASCADE ON UPDATE CASCADE"),
          Column(name: "b", type: .integer, rest: "NOT NULL REFERENCES t1 ON DELETE CASCADE ON UPDATE CASCADE"),
        ], constraint: "PRIMARY KEY (a, b)", ending: "STRICT, WITHOUT ROWID"))
    pairs.append(("p", "t0", "t1"))
  }

  private mutating func addExtras() {
    for reference in references where random.chance(2) {
      made.extras.append(
        "CREATE INDEX i_\(reference.table)_\(reference.column) ON \(reference.table) (\(reference.column))")
    }
    if random.chance(3) {
      let column = value(in: made.tables[1])
      made.extras.append(
        """
        CREATE TRIGGER follow AFTER UPDATE OF c0 ON t0 BEGIN
          UPDATE t1 SET \(column.name) = \(literal(column.type).sql) WHERE id = new.id % 10; END
        """)
    }
  }

  private mutating func row(_ key: Int64, in table: Table) -> RandomCase.Row {
    var values: [String: Literal] = ["id": .integer(key)]
    for column in table.columns.dropFirst() {
      values[column.name] =
        switch column.name {
        case "u": random.chance(3) ? .null : .integer(key)
        case "r": .null
        default: literal(column.type)
        }
    }
    if let reference = references.first(where: { $0.table == table.name && $0.column == "r" }), !random.chance(4) {
      // Its target is filled already, or is the table itself.
      let limit = reference.target == table.name ? Int(key) - 1 : reference.target == "t0" ? 45 : 12
      if limit > 0 { values["r"] = .integer(Int64(1 + random.below(Swift.min(limit, 8)))) }
    }
    if values["s"] != nil { values["s"] = random.chance(5) ? .null : .integer(Int64(1 + random.below(14))) }
    return RandomCase.Row(table: table.name, values: values)
  }

  /// One of the columns that hold values.
  private mutating func value(in table: Table) -> Column {
    random.pick(table.columns.filter { $0.name.hasPrefix("c") })
  }

  private static let texts = ["", "a", "A", "b", "é", "e\u{301}", "z", "\u{FFFD}", "😀", "a\0b", "10", "9", "it's"]
  private static let integers: [Int64] = [0, 0, 1, 1, 2, 3, -1, .max, .min, 1 << 53, (1 << 53) + 1]
  private static let reals = [
    "0.0", "-0.0", "1.0", "1.5", "-1.0", "9007199254740992.0", "1e308", "-1e308", "inf", "-inf", "1e-300",
  ]

  private mutating func literal(_ kind: Kind) -> Literal {
    if random.chance(5) { return .null }
    switch kind {
    case .integer: return .integer(random.pick(Self.integers))
    case .real: return .real(random.pick(Self.reals))
    case .text: return random.chance(20) ? .malformed("ff61") : .text(random.pick(Self.texts))
    case .blob: return .blob(random.pick(["", "00", "ff", "6100"]))
    case .any: return literal(random.pick([.integer, .real, .text, .blob]))
    }
  }

  // MARK: Questions

  private func table(_ name: String) -> Table { made.tables.first { $0.name == name } ?? made.tables[0] }

  private mutating func path(from name: String, depth: Int = 2) -> RandomCase.Path {
    let steps = references.filter { $0.table == name }
    if depth > 0, !steps.isEmpty, random.chance(3) {
      let step = random.pick(steps)
      var path = path(from: step.target, depth: depth - 1)
      path.steps.insert(.init(foreignKey: step.column, table: step.target), at: 0)
      return path
    }
    let column = random.pick(table(name).columns)
    return RandomCase.Path(column: column.name, type: column.type)
  }

  private mutating func relation(from name: String) -> RandomCase.Relation? {
    var found = references.filter { $0.target == name }
      .map { RandomCase.Relation(table: $0.table, foreignKey: $0.column) }
    for pair in pairs {
      if pair.a == name { found.append(.init(table: pair.b, pairs: [pair.table, "a", "b"])) }
      if pair.b == name { found.append(.init(table: pair.a, pairs: [pair.table, "b", "a"])) }
    }
    return found.isEmpty ? nil : random.pick(found)
  }

  private mutating func condition(on name: String, depth: Int = 2) -> RandomCase.Condition {
    if depth > 0, random.chance(4), let relation = relation(from: name) {
      let inner = random.chance(2) ? condition(on: relation.table, depth: depth - 1) : nil
      if random.chance(2) { return .exists(relation, inner) }
      return .count(relation, inner, random.pick([.equal, .greater, .less]), Int64(random.below(3)))
    }
    if depth > 0, random.chance(3) {
      let operands = (0..<2).map { _ in condition(on: name, depth: depth - 1) }
      switch random.below(3) {
      case 0: return .not(operands[0])
      case 1: return .all(operands)
      default: return .any(operands)
      }
    }
    let path = path(from: name)
    switch random.below(6) {
    case 0: return .isNull(path)
    case 1: return .oneOf(path, (0..<3).map { _ in literal(path.type) })
    case 2 where path.type == .text: return .contains(path, random.pick(["", "a", "é", "\u{301}"]))
    case 3 where path.type == .text: return .starts(path, random.pick(["", "a", "e", "1"]))
    default: return .compare(random.pick(RandomCase.Comparison.allCases), path, literal(path.type))
    }
  }

  private mutating func question(_ number: Int) -> RandomCase.Question {
    // The large table more often, and in every case all of it in some order: what few rows pass proves little.
    if number < 4 {
      return RandomCase.Question(
        shape: .list, table: "t0", order: [RandomCase.Term(path: path(from: "t0"), ascending: random.chance(2))],
        limit: [nil, 1, 3, 5][number], offset: number)
    }
    let name = random.chance(2) ? "t0" : "t\(random.below(made.tables.count - pairs.count))"
    let shape: RandomCase.Question.Shape =
      number % 2 == 0 ? .list : random.pick([.count, .sum, .average, .minimum, .maximum])
    var question = RandomCase.Question(shape: shape, table: name)
    if !random.chance(4) { question.filter = condition(on: name) }
    if shape == .list {
      for _ in 0..<random.below(3) {
        question.order.append(RandomCase.Term(path: path(from: name), ascending: random.chance(2)))
      }
      question.limit = random.pick([nil, 0, 1, 2, 2, 3, 5])
      question.offset = random.pick([0, 0, 0, 1, 4])
      question.listens = !random.chance(4)
    } else if shape != .count {
      let path = path(from: name)
      let isNumber = path.type == .integer || path.type == .real
      question.column = path
      if !isNumber, shape == .sum || shape == .average { question.shape = .minimum }
      // Not by a column of any type: SQLite takes 1 and 1.0 for one group there, which no property's column can hold.
      let group = self.path(from: name)
      if random.chance(2), group.type != .any { question.group = group }
    }
    return question
  }

  // MARK: Transactions

  private mutating func transaction() -> RandomCase.Transaction {
    var statements: [String] = []
    for _ in 0..<random.pick([1, 1, 2, 4]) {
      if random.chance(6) {
        statements.append(RandomCase.savepoint)
        for _ in 0..<2 { statements.append(statement()) }
        statements.append(random.chance(3) ? RandomCase.release : RandomCase.undo)
      } else {
        statements.append(statement())
      }
    }
    if random.chance(12) { statements.append(RandomCase.undoAll) }
    return RandomCase.Transaction(statements: statements, isTold: !random.chance(5))
  }

  private mutating func statement() -> String {
    if !pairs.isEmpty, random.chance(6) { return pairStatement() }
    let table = table(random.chance(2) ? "t0" : "t\(random.below(made.tables.count - pairs.count))")
    let name = table.name
    let key = 1 + random.below(name == "t0" ? 50 : 14)
    let column = value(in: table)
    let new = literal(column.type).sql
    let reference = references.filter { $0.table == name }.randomElement(using: &random)
    switch random.below(16) {
    case 0, 1, 2: return "UPDATE \(name) SET \(column.name) = \(new) WHERE id = \(key)"
    case 3: return "UPDATE \(name) SET \(column.name) = \(new) WHERE id % 5 = \(random.below(5))"
    case 4: return "DELETE FROM \(name) WHERE id = \(key)"
    case 5: return "UPDATE \(name) SET id = \(1 + random.below(70)) WHERE id = \(key)"
    case 6, 7: return insert("INSERT", 50 + Int64(random.below(40)), table)
    case 8: return insert("INSERT OR REPLACE", Int64(key), table)
    case 9:
      guard table.columns.contains(where: { $0.name == "u" }) else { fallthrough }
      return "UPDATE OR REPLACE \(name) SET u = \(1 + random.below(12)) WHERE id = \(key)"
    case 10: return "UPDATE \(name) SET \(column.name) = \(column.name)"
    // Fails at the second row, if there are two.
    case 11: return "UPDATE \(name) SET id = 99, \(column.name) = \(new) WHERE id >= \(key)"
    case 12:
      return
        "DELETE FROM \(name) WHERE id IN (SELECT id FROM \(name) ORDER BY \(column.name) \(random.pick(["", "DESC"])), id LIMIT \(random.pick([1, 5, 20])))"
    case 13:
      return
        "INSERT INTO \(name) (id, \(column.name)) SELECT value, \(new) FROM json_each('[\((0..<12).map { _ in String(100 + random.below(60)) }.joined(separator: ","))]') WHERE value NOT IN (SELECT id FROM \(name)) GROUP BY value"
    case 14 where random.chance(6): return "DELETE FROM \(name)"
    default:
      guard let reference else { return "UPDATE \(name) SET \(column.name) = \(new) WHERE id > \(key)" }
      let target = random.chance(4) ? "NULL" : "\(1 + random.below(14))"
      return "UPDATE \(name) SET \(reference.column) = \(target) WHERE id = \(key)"
    }
  }

  private mutating func insert(_ verb: String, _ key: Int64, _ table: Table) -> String {
    let row = row(key, in: table)
    let names = row.values.keys.sorted()
    let values = names.map { name in
      name == "u" && random.chance(3) ? "\(1 + random.below(12))" : row.values[name]?.sql ?? "NULL"
    }
    return
      "\(verb) INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
  }

  private mutating func pairStatement() -> String {
    let (a, b) = (1 + random.below(20), 1 + random.below(12))
    switch random.below(4) {
    case 0: return "INSERT OR REPLACE INTO p (a, b) VALUES (\(a), \(b))"
    case 1: return "INSERT OR IGNORE INTO p (a, b) SELECT id, \(b) FROM t0 WHERE id % 4 = \(a % 4)"
    case 2: return "DELETE FROM p WHERE a = \(a) OR b = \(b)"
    default: return "UPDATE OR IGNORE p SET a = \(a) WHERE b = \(b)"
    }
  }
}
