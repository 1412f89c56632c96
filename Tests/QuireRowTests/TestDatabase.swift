import CSQLite
import Foundation
import QuireRow

/// SQLite itself, as the judge: the C API and nothing of ours but the values.
final class TestDatabase {
  private var handle: OpaquePointer?

  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  init(_ schema: String = "") throws {
    guard sqlite3_open(":memory:", &handle) == SQLITE_OK else { throw Refused(description: "no memory database") }
    try run(schema)
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ sql: String) throws {
    if sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK { throw refusal(sql) }
  }

  @discardableResult
  func rows(_ statement: SQLText) throws -> [[Value]] {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(handle, statement.text, -1, &prepared, nil) == SQLITE_OK else {
      throw refusal(statement.text)
    }
    defer { sqlite3_finalize(prepared) }
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    guard sqlite3_bind_parameter_count(prepared) == statement.bindings.count else {
      throw Refused(description: "\(statement.bindings.count) bindings for \(statement.text)")
    }
    for (index, value) in statement.bindings.enumerated() {
      let place = Int32(index + 1)
      switch value {
      case .null: sqlite3_bind_null(prepared, place)
      case .integer(let number): sqlite3_bind_int64(prepared, place, number)
      case .real(let number): sqlite3_bind_double(prepared, place, number)
      case .text(let text): sqlite3_bind_text(prepared, place, text, Int32(text.utf8.count), transient)
      case .malformedText(let data):
        _ = data.withUnsafeBytes {
          sqlite3_bind_text(
            prepared, place, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(data.count), transient)
        }
      case .blob(let data):
        if data.isEmpty {
          sqlite3_bind_zeroblob(prepared, place, 0)
        } else {
          _ = data.withUnsafeBytes { sqlite3_bind_blob(prepared, place, $0.baseAddress, Int32(data.count), transient) }
        }
      }
    }
    var rows: [[Value]] = []
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW: rows.append((0..<sqlite3_column_count(prepared)).map { value(prepared, $0) })
      case SQLITE_DONE: return rows
      default: throw refusal(statement.text)
      }
    }
  }

  @discardableResult
  func rows(_ sql: String, _ bindings: [Value] = []) throws -> [[Value]] { try rows(SQLText(sql, bindings)) }

  /// The lines of EXPLAIN QUERY PLAN.
  func plan(_ statement: SQLText) throws -> String {
    try rows(SQLText("EXPLAIN QUERY PLAN " + statement.text, statement.bindings))
      .map { "\($0[3])".trimmingCharacters(in: ["'"]) }.joined(separator: "\n")
  }

  private func value(_ row: OpaquePointer?, _ column: Int32) -> Value {
    let length = Int(sqlite3_column_bytes(row, column))
    switch sqlite3_column_type(row, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(row, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(row, column))
    case SQLITE_TEXT:
      let bytes = UnsafeBufferPointer(start: sqlite3_column_text(row, column), count: length)
      return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .malformedText(Data(bytes))
    case SQLITE_BLOB: return .blob(sqlite3_column_blob(row, column).map { Data(bytes: $0, count: length) } ?? Data())
    default: return .null
    }
  }

  private func refusal(_ sql: String) -> Refused {
    Refused(description: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
  }
}

/// A random generator that gives the same again for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ one: Int, in many: Int) -> Bool { Int.random(in: 0..<many, using: &self) < one }

  mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &self)] }
}
