package import Foundation

/// Collects parameters as values.
package final class ValueSink: ColumnSink {
  /// By parameter, the first at 0; NULL if nothing was bound.
  package private(set) var values: [Value] = []

  package init() {}

  package func bindNull(_ index: Int32) { bind(Value.null, at: index) }
  package func bind(_ value: Int64, at index: Int32) { bind(Value.integer(value), at: index) }
  package func bind(_ value: Double, at index: Int32) { bind(Value.real(value), at: index) }
  package func bind(_ value: String, at index: Int32) { bind(Value.text(value), at: index) }
  package func bind(_ value: Data, at index: Int32) { bind(Value.blob(value), at: index) }
  package func bind(_ value: Value, at index: Int32) {
    while values.count < Int(index) { values.append(.null) }
    values[Int(index) - 1] = value
  }
}

extension SQLValue {
  /// The column form of a Swift value.
  ///
  /// - Throws: ``ValueError/notStorable(_:reason:)`` for the few values that no column can hold.
  public init(storing value: some StoredValue) throws(ValueError) {
    let sink = ValueSink()
    try value._write(to: sink, at: 1)
    self = sink.values.first ?? .null
  }
}

/// Values as columns: a captured row, read like that of a stepped statement.
package struct ImageSource: ColumnSource {
  package let values: [Value]

  package init(_ values: [Value]) { self.values = values }

  package func isNull(_ index: Int32) -> Bool { value(index) == .null }

  package func int64(_ index: Int32) throws(ValueError) -> Int64 {
    guard case .integer(let number) = value(index) else { throw wrong(index, .integer) }
    return number
  }

  package func double(_ index: Int32) throws(ValueError) -> Double {
    switch value(index) {
    case .real(let number): return number
    case .integer(let number): return Double(number)
    default: throw wrong(index, .real)
    }
  }

  package func text(_ index: Int32) throws(ValueError) -> String {
    switch value(index) {
    case .text(let text): return text
    case .malformedText: throw ValueError.malformedText(column: index)
    default: throw wrong(index, .text)
    }
  }

  package func blob(_ index: Int32) throws(ValueError) -> Data {
    guard case .blob(let bytes) = value(index) else { throw wrong(index, .blob) }
    return bytes
  }

  package func value(_ index: Int32) -> Value { values.indices.contains(Int(index)) ? values[Int(index)] : .null }

  private func wrong(_ index: Int32, _ expected: ColumnType) -> ValueError {
    .wrongStorageClass(column: index, expected: expected.rawValue, found: value(index).storageClass)
  }
}
