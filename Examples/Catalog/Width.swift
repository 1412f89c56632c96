/// How text fills the columns of a terminal.
extension String {
  /// Exactly so many columns, on one line.
  func fitted(to width: Int) -> String {
    let line = replacing("\n", with: " ")
    if line.columns <= width { return line + String(repeating: " ", count: width - line.columns) }
    let start = line.prefix(columns: width - 1) + "…"
    return start + String(repeating: " ", count: width - start.columns)
  }

  /// So many columns of its end, where it is longer: what is being typed is in sight.
  func fittedAtEnd(to width: Int) -> String {
    if columns <= width { return fitted(to: width) }
    let end = "…" + String(String(reversed()).prefix(columns: width - 1).reversed())
    return end + String(repeating: " ", count: width - end.columns)
  }

  /// Without what lies beyond so many columns; what sets colors takes none, and stays.
  func clipped(to width: Int) -> String {
    var (result, used, isSequence) = ("", 0, false)
    for character in self {
      if character == "\u{1B}" { isSequence = true }
      if !isSequence { used += character.columns }
      if isSequence || used <= width { result.append(character) }
      if isSequence, character.isLetter { isSequence = false }
    }
    return result
  }

  /// How many columns it takes.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  private func prefix(columns: Int) -> String {
    var left = columns
    return String(
      prefix { character in
        left -= character.columns
        return left >= 0
      })
  }
}

extension Character {
  /// Two for the scripts of East Asia and for pictures, one for all others.
  fileprivate var columns: Int {
    guard let scalar = unicodeScalars.first else { return 0 }
    if unicodeScalars.contains(where: \.properties.isEmojiPresentation) { return 2 }
    return switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}
