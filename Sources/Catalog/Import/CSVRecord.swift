/// One record of a CSV file, still as bytes.
public struct CSVRecord: Hashable, Sendable {
  /// Counts records from 1, the header not counted (it is 0).
  public let number: Int
  /// The line it begins on, from 1; with line breaks in quoted fields it is not `number + 1`.
  public let line: Int
  var bytes: [UInt8] = []
  /// The end of each field in `bytes`.
  var ends: [Int] = []

  public var count: Int { ends.count }

  /// The bytes of one field, quotes undone.
  public subscript(index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

  /// The text of one field; nil if it is not UTF-8: nothing is repaired.
  public func text(_ index: Int) -> String? { String(validating: self[index], as: UTF8.self) }

  /// The line the field begins on.
  public func line(ofField index: Int) -> Int { line + bytes[..<self[index].startIndex].count { $0 == 10 } }

  /// An empty line: one empty field.
  public var isBlankLine: Bool { ends == [0] }
}
