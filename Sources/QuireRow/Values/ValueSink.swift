public import Foundation

/// Parameters as values: what a statement would be bound to.
public final class ValueSink: ColumnSink {
  /// By parameter, the first at 0; NULL where nothing was bound.
  public private(set) var values: [Value] = []

  public init() {}

  public func bindNull(_ index: Int32) { bind(Value.null, at: index) }
  public func bind(_ value: Int64, at index: Int32) { bind(Value.integer(value), at: index) }
  public func bind(_ value: Double, at index: Int32) { bind(Value.real(value), at: index) }
  public func bind(_ value: String, at index: Int32) { bind(Value.text(value), at: index) }
  public func bind(_ value: Data, at index: Int32) { bind(Value.blob(value), at: index) }
  public func bind(_ value: Value, at index: Int32) {
    while values.count < Int(index) { values.append(.null) }
    values[Int(index) - 1] = value
  }
}

extension Value {
  /// The column form of a Swift value.
  /// - Throws: ``ValueError/notStorable(_:reason:)`` for the few values a column cannot hold.
  public init(storing value: some StoredValue) throws(ValueError) {
    let sink = ValueSink()
    try value.write(to: sink, at: 1)
    self = sink.values.first ?? .null
  }
}

/// Columns as values: a captured row, read as a stepped statement is.
public struct ImageSource: ColumnSource {
  public let values: [Value]

  public init(_ values: [Value]) { self.values = values }

  public func isNull(_ index: Int32) -> Bool { value(index) == .null }

  public func int64(_ index: Int32) throws(ValueError) -> Int64 {
    guard case .integer(let number) = value(index) else { throw wrong(index, .integer) }
    return number
  }

  public func double(_ index: Int32) throws(ValueError) -> Double {
    switch value(index) {
    case .real(let number): return number
    case .integer(let number): return Double(number)
    default: throw wrong(index, .real)
    }
  }

  public func text(_ index: Int32) throws(ValueError) -> String {
    switch value(index) {
    case .text(let text): return text
    case .malformedText: throw ValueError.malformedText(column: index)
    default: throw wrong(index, .text)
    }
  }

  public func blob(_ index: Int32) throws(ValueError) -> Data {
    guard case .blob(let bytes) = value(index) else { throw wrong(index, .blob) }
    return bytes
  }

  public func value(_ index: Int32) -> Value { values.indices.contains(Int(index)) ? values[Int(index)] : .null }

  private func wrong(_ index: Int32, _ expected: ColumnType) -> ValueError {
    .wrongStorageClass(column: index, expected: expected, found: value(index).storageClass)
  }
}
