/// A call in a statement whose value is the time at which it runs: `datetime('now')`, `unixepoch()`, `strftime('%s')`.
/// They are looked for in the text: the authorizer, which refuses `random()`, does not see what a function is called with.
enum ClockReading {
  private static let functions: Set<String> = [
    "date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff",
  ]

  /// The first one of the statement that begins at a byte, as it is written; nil if there is none, or if the statement only
  /// keeps it for later, as that of a view, a trigger or a default.
  static func first(in bytes: [UInt8], from start: Int) -> String? {
    var tokens: [SQLTokens.Token] = []
    for token in SQLTokens(bytes: bytes, in: start..<bytes.count) where token.isSignificant {
      if bytes[token.range.lowerBound] == UInt8(ascii: ";"), token.kind == .mark {
        if tokens.isEmpty { continue }
        break
      }
      tokens.append(token)
    }
    func text(_ token: SQLTokens.Token) -> String {
      String(decoding: bytes[token.range], as: UTF8.self).lowercased()
    }
    let words = tokens.map { $0.kind == .word ? text($0) : "" }
    if words.first == "create", !words.prefix(3).contains("table") || !words.contains("as") { return nil }
    for (place, word) in words.enumerated() where functions.contains(word) {
      guard tokens.indices.contains(place + 1), text(tokens[place + 1]) == "(" else { continue }
      var (depth, arguments, readsNow) = (0, 0, false)
      for token in tokens[(place + 1)...] {
        let part = text(token)
        if part == "(" {
          if depth == 1 { arguments = max(arguments, 1) }
          depth += 1
          continue
        }
        if part == ")" {
          depth -= 1
          if depth > 0 { continue }
          if readsNow || arguments == 0 || arguments == 1 && word == "strftime" {
            return String(decoding: bytes[tokens[place].range.lowerBound..<token.range.upperBound], as: UTF8.self)
          }
          break
        }
        if depth == 1 { arguments = part == "," ? arguments + 1 : max(arguments, 1) }
        if part == "'now'" || part == "\"now\"" { readsNow = true }
      }
    }
    return nil
  }
}
