import Foundation
import QuireSQLite

/// Writes numbers into statements so that SQLite reads the same ones.
///
/// Usually the shortest digits that identify a number are enough. If SQLite itself reads these as a neighboring number,
/// more digits are used, and if these do not help either, an exact product such as `6369051672525773.0 /
/// 4503599627370496.0`.
struct RealLiteral {
  private let reader = RealReader()

  func text(_ number: Double) -> String {
    if !number.isFinite { return number < 0 ? "-9e999" : "9e999" }
    let text = number.exactText
    if number.magnitude < 1e15, number == number.rounded() { return text }
    for digits in [text, String(format: "%.18e", number)] where isRead(digits, as: number) { return digits }
    return product(number)
  }

  private func isRead(_ text: String, as number: Double) -> Bool {
    reader.map { $0.read(text).bitPattern == number.bitPattern } ?? true
  }

  /// An integer times or by powers of two, each step of which is exact.
  private func product(_ number: Double) -> String {
    let step = 52
    let power = "4503599627370496.0"  // 2^52
    // The significand as an integer below 2^53, and the exponent that belongs to it.
    var exponent = Int(number.exponent) - step
    var whole = (number < 0 ? -1 : 1) * number.significand * 0x1p52
    while whole.magnitude > 1, whole.truncatingRemainder(dividingBy: 2) == 0 {
      whole /= 2
      exponent += 1
    }
    let sign = exponent < 0 ? " / " : " * "
    let steps = Array(repeating: power, count: abs(exponent) / step)
    let rest = Double(sign: .plus, exponent: abs(exponent) % step, significand: 1)
    return "(" + ([whole.digits] + steps + (rest > 1 ? [rest.digits] : [])).joined(separator: sign) + ")"
  }
}

extension Double {
  /// All digits of a whole number below 2^53.
  fileprivate var digits: String { "\(Int64(self)).0" }
}
