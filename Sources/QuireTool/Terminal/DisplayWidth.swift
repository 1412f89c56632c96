/// How many cells of a terminal `text` takes: two for East Asian wide characters and emoji, none for marks that join
/// the character before.
public func displayWidth(_ text: String) -> Int {
  text.reduce(0) { $0 + cells($1) }
}

/// `text` filled up with spaces to `width` cells, on its right or, for numbers, on its left; longer text stays whole.
public func padded(_ text: String, to width: Int, right: Bool = false) -> String {
  let space = String(repeating: " ", count: max(0, width - displayWidth(text)))
  return right ? space + text : text + space
}

/// `text` cut to at most `width` cells, ending in `…` where something was cut.
public func truncated(_ text: String, to width: Int) -> String {
  if displayWidth(text) <= width { return text }
  var result = ""
  var used = 0
  for character in text {
    let next = cells(character)
    if used + next > width - 1 { break }
    result.append(character)
    used += next
  }
  return width > 0 ? result + "…" : ""
}

private func cells(_ character: Character) -> Int {
  let scalars = character.unicodeScalars
  guard let first = scalars.first else { return 0 }
  if first.isASCII { return first.value < 32 || first.value == 127 ? 0 : 1 }
  if first.properties.isEmojiPresentation || scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
  switch first.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .format: return 0
  default: return isWide(first.value) ? 2 : 1
  }
}

/// The wide and fullwidth blocks of Unicode's EastAsianWidth, whole blocks taken together.
private func isWide(_ value: UInt32) -> Bool {
  switch value {
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18CFF,
    0x1B000...0x1B2FF, 0x20000...0x3FFFD:
    true
  default: false
  }
}
