/// How many cells of a terminal `text` takes.
public func displayWidth(_ text: String) -> Int {
  // Most text is ASCII, where each byte is a character of one cell.
  text.utf8.allSatisfy { 32..<127 ~= $0 } ? text.utf8.count : text.reduce(0) { $0 + displayWidth($1) }
}

/// How many cells of a terminal one character takes: two for East Asian wide characters, emoji and flags, none for a
/// mark without a base character and for control characters.
///
/// Emoji joined to one picture take the place of one. Otherwise the scalars of a character are beside each other, like
/// the consonants of Indic scripts, and marks take no cell.
public func displayWidth(_ character: Character) -> Int {
  let scalars = character.unicodeScalars
  guard let first = scalars.first else { return 0 }
  // A keycap is an ASCII digit followed by a selector and a mark, so checking for ASCII alone is not enough.
  if first.isASCII, scalars.count == 1 { return first.value < 32 || first.value == 127 ? 0 : 1 }
  if first.value < 32 { return 0 }
  let width = cells(first)
  guard scalars.count > 1 else { return width }
  var isPicture = width == 2 && contains(WidthTable.emoji, first.value)
  var sum = width
  for scalar in scalars.dropFirst() {
    switch scalar.value {
    case 0xFE0F where contains(WidthTable.emoji, first.value): isPicture = true
    case 0x1F1E6...0x1F1FF where (0x1F1E6...0x1F1FF).contains(first.value): isPicture = true
    default: sum += cells(scalar)
    }
  }
  return isPicture ? 2 : sum
}

/// The Unicode version widths are of, such as `15.0.0`.
public var displayWidthUnicodeVersion: String { WidthTable.unicodeVersion }

private func cells(_ scalar: Unicode.Scalar) -> Int {
  switch scalar.value {
  case 0..<32, 127..<160: 0
  case 32..<0x300: 1
  case let value where contains(WidthTable.zero, value): 0
  case let value where contains(WidthTable.wide, value): 2
  default: 1
  }
}

/// Whether `value` is in one of the ranges, whose bounds are consecutive.
///
/// - Complexity: O(log *n*).
private func contains(_ bounds: [UInt32], _ value: UInt32) -> Bool {
  var low = 0
  var high = bounds.count / 2
  while low < high {
    let middle = (low + high) / 2
    if value < bounds[2 * middle] {
      high = middle
    } else if value > bounds[2 * middle + 1] {
      low = middle + 1
    } else {
      return true
    }
  }
  return false
}
