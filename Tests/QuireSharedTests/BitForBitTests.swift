import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// Values of every kind, in columns of every kind, are the same on all machines to the last bit.
@Suite(.fewAtOnce) struct BitForBitTests {
  @Test(arguments: Array(1...12) + [extraSeed]) func `the files of all machines have the same bits`(seed: UInt64) throws
  {
    var random = Random(seed: seed)
    let tables = (0..<3).map { random.table(named: "t\($0)") }
    let nodes = try TestNodes(2, schema: tables.map(\.sql).joined(separator: "\n"))
    for step in 0..<60 {
      let number = random.below(2)
      try? nodes[number].database.write { transaction in
        for _ in 0...random.below(3) {
          let (sql, values) = random.change(of: random.pick(tables))
          do { try transaction.connection.execute(sql, values) } catch let error as SQLiteError
            where [19, 20].contains(error.code & 0xff)  // a constraint, a type
          {}
        }
      }
      if !random.chance(5), step < 59 { continue }
      for node in nodes.nodes { try node.catchUp() }
      for table in tables {
        let bits = try nodes.nodes.map { try $0.query(table.bits) }
        #expect(bits[0] == bits[1], "seed \(seed), step \(step): \(table.sql)")
        if bits[0] != bits[1] { return }
      }
      let isMirrored = try nodes.nodes.allSatisfy { try $0.isMirrored() }
      #expect(isMirrored, "seed \(seed), step \(step)")
      let contents = try nodes.nodes.map { node in try node.database.read { try FileContents(of: $0) } }
      #expect(contents[0] == contents[1], "seed \(seed), step \(step)")
    }
  }
}

/// A table of random columns, `k` the first.
private struct RandomTable {
  let name: String
  let columns: [String]
  let sql: String
  let hasRowID: Bool

  /// Class and bits of each value.
  var bits: String {
    let all = (hasRowID ? ["rowid"] : []) + columns
    let list = all.map {
      "typeof(\($0)), CASE typeof(\($0)) WHEN 'real' THEN printf('%!.17g', \($0)) ELSE hex(\($0)) END"
    }
    return "SELECT \(list.joined(separator: ", ")) FROM \(name) ORDER BY \(hasRowID ? "rowid" : "k")"
  }
}

extension Random {
  fileprivate mutating func table(named name: String) -> RandomTable {
    let isStrict = chance(3)
    let hasRowID = !chance(3)
    let types =
      isStrict
      ? ["INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
      : ["INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "", "DATE", "BOOLEAN"]
    var columns = ["k"]
    var parts = ["k \(isStrict ? pick(["TEXT", "REAL", "BLOB", "ANY"]) : pick(types.filter { $0 != "INTEGER" }))"]
    if !hasRowID { parts[0] += " PRIMARY KEY" } else if chance(2) { parts[0] += " UNIQUE" }
    for number in 0...below(5) {
      columns.append("c\(number)")
      parts.append("c\(number) \(pick(types))\(chance(5) ? " UNIQUE" : "")\(chance(4) ? " COLLATE NOCASE" : "")")
    }
    let options = [isStrict ? "STRICT" : nil, hasRowID ? nil : "WITHOUT ROWID"].compactMap(\.self)
    return RandomTable(
      name: name, columns: columns,
      sql: "CREATE TABLE \(name) (\(parts.joined(separator: ", "))) \(options.joined(separator: ", "));",
      hasRowID: hasRowID)
  }

  fileprivate mutating func change(of table: RandomTable) -> (String, [Value]) {
    let column = pick(table.columns)
    switch below(8) {
    case 0: return ("DELETE FROM \(table.name) WHERE \(column) IS ?", [anyValue()])
    case 1:
      return ("UPDATE \(table.name) SET \(column) = ? WHERE \(pick(table.columns)) > ?", [anyValue(), anyValue()])
    case 2:
      return (
        "UPDATE OR REPLACE \(table.name) SET \(column) = ?, k = ? WHERE k < ?", [anyValue(), anyValue(), anyValue()]
      )
    case 3 where table.hasRowID:
      return ("UPDATE OR IGNORE \(table.name) SET rowid = ? WHERE \(column) = ?", [.integer(anyInteger()), anyValue()])
    case 4: return ("UPDATE \(table.name) SET \(column) = -\(column)", [])
    case 5 where table.hasRowID:
      let values = [.integer(anyInteger())] + table.columns.map { _ in anyValue() }
      return (insert(table.name, ["rowid"] + table.columns), values)
    default: return (insert(table.name, table.columns), table.columns.map { _ in anyValue() })
    }
  }

  private mutating func insert(_ table: String, _ columns: [String]) -> String {
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    return
      "INSERT\(chance(3) ? " OR REPLACE" : "") INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
  }

  private mutating func anyInteger() -> Int64 {
    pick([
      0, 1, -1, 7, 127, -128, 0x8000_0000, -0x8000_0000, 0x20_0000_0000_0000, 0x20_0000_0000_0001, .max, .min,
      0x7fff_ffff_ffff_fffe,
    ])
  }

  private mutating func anyValue() -> Value {
    switch below(6) {
    case 0: .null
    case 1: .integer(anyInteger())
    case 2:
      .real(
        pick([
          0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 3, -3, 1e15,
          9e15,
          0x1p53, 0x1p63, -0x1p63, 1e300, 123_456_789.123_456_78,
        ]))
    case 3:
      .text(
        pick([
          "", "a", "A", "a\0b", "\0", "12", "1e3", " 7 ", "0x10", "-0", "9223372036854775808", "ünï", "e\u{301}", "Inf",
        ]))
    case 4: .malformedText(Data(pick([[0xff], [0xc3], [0x61, 0, 0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]])))
    default:
      .blob(
        Data(pick([[], [0], [0xff, 0, 1], Array("a".utf8), [UInt8](repeating: 7, count: chance(40) ? 300_000 : 200)])))
    }
  }
}
