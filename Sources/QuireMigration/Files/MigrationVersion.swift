/// When a migration was written, as the fourteen digits `YYYYMMDDhhmmss` (UTC) with which its file name begins; in
/// another tool's folder, the number that it uses.
///
/// Versions order migrations: the digits sort as the moments do.
public struct MigrationVersion: Hashable, Sendable {
  /// The digits as one number, such as 20261120143005, which the version table stores.
  public let number: Int64

  /// A version with this number, which is not checked: in another tool's folder any number is valid.
  public init(number: Int64) { self.number = number }
}

extension MigrationVersion: LosslessStringConvertible {
  /// Nil if `text` is not fourteen digits that can be a time.
  public init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 14, digits.allSatisfy({ (48...57).contains($0) }), let number = Int64(text) else {
      return nil
    }
    func part(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + Int($1 - 48) } }
    guard (1...12).contains(part(4..<6)), (1...31).contains(part(6..<8)), part(8..<10) < 24, part(10..<12) < 60,
      part(12..<14) < 60
    else { return nil }
    self.number = number
  }

  /// The digits; for Flyway's numbers of several parts these with periods, `1.2`.
  public var description: String { dotted ?? "\(number)" }
}

extension MigrationVersion: Comparable {
  /// Whether `a` comes first: the lower number.
  public static func < (a: MigrationVersion, b: MigrationVersion) -> Bool { a.number < b.number }
}
