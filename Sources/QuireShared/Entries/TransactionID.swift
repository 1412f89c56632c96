/// The identity of one transaction on a shared store: 16 random bytes, made by its node.
package struct TransactionID: Hashable, Sendable, CustomStringConvertible {
  /// 16 bytes.
  package let bytes: [UInt8]
  static let length = 16

  /// A new one.
  package init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<TransactionID.length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// Nil unless there are 16 bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == TransactionID.length else { return nil }
    self.bytes = bytes
  }

  /// 32 hexadecimal digits.
  package var description: String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
