import LineEditor

/// How many cells of a terminal `text` takes.
public func displayWidth(_ text: String) -> Int { LineEditor.displayWidth(text) }

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
    let next = LineEditor.displayWidth(character)
    if used + next > width - 1 { break }
    result.append(character)
    used += next
  }
  return width > 0 ? result + "…" : ""
}
