import Foundation
import QuireRow
import QuireSQLite

/// A row whose cells are written: a statement's current row, or a stored one.
protocol CellRow {
  var cellCount: Int32 { get }
  func withCell<T>(_ index: Int32, _ body: (RowCursor.Cell) -> T) -> T
}

extension RowCursor: CellRow {
  var cellCount: Int32 { count }
  func withCell<T>(_ index: Int32, _ body: (RowCursor.Cell) -> T) -> T { body(cell(index)) }
}

struct KeptRow: CellRow {
  let values: [Value]
  var cellCount: Int32 { Int32(values.count) }

  func withCell<T>(_ index: Int32, _ body: (RowCursor.Cell) -> T) -> T {
    switch values[Int(index)] {
    case .null: return body(.null)
    case .integer(let number): return body(.integer(number))
    case .real(let number): return body(.real(number))
    case .text(var text): return text.withUTF8 { body(.text(UnsafeRawBufferPointer($0))) }
    case .blob(let data): return data.withUnsafeBytes { body(.blob($0)) }
    case .malformedText(let data): return data.withUnsafeBytes { body(.text($0)) }
    }
  }
}

/// Text being put together, sent on in pieces of 64 KB.
struct ByteBuffer {
  private var bytes: [UInt8] = []
  private let send: (UnsafeRawBufferPointer) throws -> Void
  private static let size = 1 << 16

  init(_ send: @escaping (UnsafeRawBufferPointer) throws -> Void) {
    self.send = send
    bytes.reserveCapacity(Self.size + 4096)
  }

  mutating func put(_ byte: UInt8) { bytes.append(byte) }
  mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }
  mutating func put(_ part: UnsafeRawBufferPointer) { bytes.append(contentsOf: part) }
  mutating func put(_ part: [UInt8]) { bytes.append(contentsOf: part) }

  mutating func put(number: Int64) {
    if (0...9).contains(number) { return bytes.append(48 + UInt8(number)) }
    withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
      var rest = number.magnitude
      var place = 20
      while rest > 0 {
        place -= 1
        digits[place] = 48 + UInt8(rest % 10)
        rest /= 10
      }
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: digits[place..<20]))
    }
  }

  mutating func put(number: Double) { put(number.exactText) }

  /// To be called between rows.
  mutating func flushIfLarge() throws { if bytes.count >= Self.size { try flush() } }

  mutating func flush() throws {
    defer { bytes.removeAll(keepingCapacity: true) }
    try bytes.withUnsafeBytes(send)
  }
}
