public import Foundation

/// A property type that can be summed: whole numbers as `Int`, reals as `Double`, decimals as `Decimal`, optionals as their
/// payload.
public protocol Summable: StoredValue {
  /// The type of a sum: `Int`, `Double` or `Decimal`.
  associatedtype Total: Equatable & Sendable
  /// The sum of the values.
  ///
  /// - Throws: An error for a sum of whole numbers beyond `Int`.
  static func _total(_ state: _Quire.AggregateState) throws -> Total
}

extension FixedWidthInteger where Self: Summable {
  /// The sum of the values.
  public static func _total(_ state: _Quire.AggregateState) throws -> Int {
    let total = try state.integerSum()
    guard let result = Int(exactly: total) else {
      throw AggregateError.overflow(column: state.aggregate.column?.description ?? "")
    }
    return result
  }
}

extension Int: Summable {}
extension Int8: Summable {}
extension Int16: Summable {}
extension Int32: Summable {}
extension Int64: Summable {}
extension UInt: Summable {}
extension UInt8: Summable {}
extension UInt16: Summable {}
extension UInt32: Summable {}
extension UInt64: Summable {}

extension BinaryFloatingPoint where Self: Summable {
  /// The sum of the values.
  public static func _total(_ state: _Quire.AggregateState) throws -> Double { try state.realSum() }
}

extension Double: Summable {}
extension Float: Summable {}
extension CGFloat: Summable {}

extension Decimal: Summable {
  /// The sum of the values.
  public static func _total(_ state: _Quire.AggregateState) throws -> Decimal {
    guard let total = DecimalForm.value(of: try state.decimalSum()) else {
      throw AggregateError.tooManyDigits(column: state.aggregate.column?.description ?? "")
    }
    return total
  }
}

extension Optional: Summable where Wrapped: Summable {
  /// The sum of the values.
  public static func _total(_ state: _Quire.AggregateState) throws -> Wrapped.Total {
    try Wrapped._total(state)
  }
}
