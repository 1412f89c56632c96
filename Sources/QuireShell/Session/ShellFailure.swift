/// Why an input failed: what is wrong, where in the input, and what was probably meant.
public struct ShellFailure: Error, Hashable, Sendable {
  public var kind: Kind
  public var message: String {
    get { state.map { "\(problem). \($0)" } ?? problem }
    set { (problem, state) = (newValue, nil) }
  }
  /// The message, without what was not done.
  private var problem: String
  /// The bytes of the input that are wrong, if known.
  public var range: Range<Int>?
  /// Such as `did you mean author?`
  public var hint: String?
  /// What was not done, such as `Nothing was added`: a sentence at the end of the message.
  package var state: String?
  /// The option that the hint is about, if it is one of `.import`.
  package var option: ImportOption?

  public enum Kind: Hashable, Sendable {
    /// The query is wrong, or failed.
    case failed
    /// The input names something that does not exist, or is not valid.
    case usage
    /// It would write or destroy something, and that was not allowed.
    case refused
    case busy
    /// Stopped by the user.
    case stopped
    case timeout
  }

  public init(_ message: String, at range: Range<Int>? = nil, hint: String? = nil, _ kind: Kind = .failed) {
    self.kind = kind
    problem = message
    self.range = range
    self.hint = hint
  }

  package init(_ message: String, state: String, hint: String? = nil, _ kind: Kind = .failed) {
    self.init(message, hint: hint, kind)
    self.state = state
  }

  /// The failure after which the transaction that was open is rolled back, which it says.
  package var rollingBack: ShellFailure {
    var failure = self
    let rolledBack = "The transaction that was open was rolled back"
    failure.state = state.map { "\($0). \(rolledBack)" } ?? rolledBack
    return failure
  }
}

/// An option of `.import` that helps, and what it does.
package struct ImportOption: Hashable, Sendable {
  let option: String
  /// Such as `reads this file`.
  let effect: String

  /// For a file that is imported.
  var behindModel: String { "\(option) behind the model \(effect)" }
  /// For a file that is asked in place of a database.
  var ofImport: String { "\(option) of .import, into a database, \(effect)" }
}

extension ShellFailure: CustomStringConvertible {
  public var description: String { hint.map { "\(message): \($0)" } ?? message }

  /// The message, and the line of the input with the error underlined.
  ///
  ///     error: no such column: titel
  ///        1 │ SELECT titel FROM book
  ///          │        ^^^^^ did you mean title?
  ///
  /// Of a long line only the part around the error is shown, with the column after the line's number.
  ///
  /// - Parameters:
  ///   - width: How many cells of a terminal a text takes.
  ///   - shown: Makes control characters visible.
  public func text(in input: String, width: (String) -> Int, shown: (String) -> String) -> String {
    let bytes = Array(input.utf8)
    guard let range, range.lowerBound <= bytes.count else { return hint.map { "\(message)\n\($0)" } ?? message }
    let place = range.lowerBound
    let lineStart = bytes[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
    let lineEnd = bytes[place...].firstIndex(of: 10) ?? bytes.count
    let isLong = lineEnd - lineStart > Self.longestLine
    /// The beginning of the character that contains a byte.
    func boundary(_ byte: Int) -> Int {
      var byte = byte
      while byte > lineStart, byte < bytes.count, bytes[byte] & 0xC0 == 0x80 { byte -= 1 }
      return byte
    }
    let start = isLong ? boundary(max(lineStart, place - Self.shownAround)) : lineStart
    let end = isLong ? boundary(min(lineEnd, place + Self.shownAround)) : lineEnd
    func text(_ range: Range<Int>) -> String { shown(String(decoding: bytes[range], as: UTF8.self)) }
    let line = bytes[..<place].count { $0 == 10 } + 1
    let number = isLong ? "\(line):\(place - lineStart + 1)" : "\(line)"
    let (before, behind) = (start > lineStart ? "…" : "", end < lineEnd ? "…" : "")
    let margin = String(repeating: " ", count: max(4, number.count))
    let under = max(1, width(text(place..<max(place, min(range.upperBound, end)))))
    var result =
      "\(message)\n" + margin.dropFirst(number.count)
      + "\(number) │ \(before)\(text(start..<end))\(behind)\n\(margin) │ "
    result += String(repeating: " ", count: width(before + text(start..<place))) + String(repeating: "^", count: under)
    if let hint { result += " \(hint)" }
    return result
  }

  private static let longestLine = 400
  private static let shownAround = 60
}
