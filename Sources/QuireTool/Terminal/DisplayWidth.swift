import LineEditor

/// How many cells of a terminal `text` takes.
public func displayWidth(_ text: String) -> Int { LineEditor.displayWidth(text) }

/// `text` filled up with spaces to `width` cells, on its right or, for numbers, on its left; longer text stays whole.
public func padded(_ text: String, to width: Int, right: Bool = false) -> String {
  let space = String(repeating: " ", count: max(0, width - displayWidth(text)))
  return right ? space + text : text + space
}

/// `text` as lines of at most `width` cells, broken between words; a word that is longer than a line stays whole.
///
/// - Parameter indent: Spaces before each line but the first.
public func wrapped(_ text: String, to width: Int, indent: Int = 0) -> [String] {
  if displayWidth(text) <= width { return [text] }
  let margin = String(repeating: " ", count: min(indent, width / 2))
  var lines: [String] = []
  // Spaces at the beginning, and those between words, stay what they are.
  var line = String(text.prefix { $0 == " " })
  var used = line.count
  var isEmpty = true
  for word in text.dropFirst(line.count).split(separator: " ", omittingEmptySubsequences: false) {
    let next = displayWidth(String(word))
    if !isEmpty, used + 1 + next > width {
      while line.last == " " { line.removeLast() }
      lines.append(line)
      (line, used, isEmpty) = (margin, margin.count, true)
      if word.isEmpty { continue }
    }
    line += (isEmpty ? "" : " ") + word
    used += next + (isEmpty ? 0 : 1)
    isEmpty = false
  }
  return lines + [line]
}

/// A line of help or of a list; its last column is wrapped in place.
package func wrappedColumns(_ line: String, to width: Int) -> [String] {
  if displayWidth(line) <= width { return [line] }
  let indent = line.prefix { $0 == " " }.count
  let last = line.ranges(of: "  ").last { $0.upperBound < line.endIndex && line[$0.upperBound] != " " }
  let column = last.map { displayWidth(String(line[..<$0.upperBound])) } ?? 0
  return wrapped(line, to: width, indent: column > 0 && column <= width * 2 / 3 ? column : indent + 4)
}

/// An error's text in lines of at most `width` cells. The quoted line of the input is shortened and not wrapped; the text
/// after the marks below it moves to the next line if there is no room.
package func wrappedMessage(_ text: String, to width: Int) -> String {
  var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  for place in lines.indices.dropLast() {
    if let (line, carets) = cropped(lines[place], carets: lines[place + 1], to: width) {
      (lines[place], lines[place + 1]) = (line, carets)
    }
  }
  return lines.flatMap { line -> [String] in
    guard displayWidth(line) > width else { return [line] }
    guard line.contains("│ ") else { return wrapped(line, to: width) }
    guard let end = line.ranges(of: "^ ").last,
      line[line.startIndex..<end.lowerBound].allSatisfy({ " │^".contains($0) })
    else { return [line] }
    return [String(line[...end.lowerBound])] + wrapped("  " + line[end.upperBound...], to: width, indent: 2)
  }.joined(separator: "\n")
}

/// Shortens a line that is quoted around what is underlined in the next one, if it is wider than the terminal: broken, the
/// carets would stand below something else.
private func cropped(_ line: String, carets: String, to width: Int) -> (line: String, carets: String)? {
  guard displayWidth(line) > width, let mark = line.firstRange(of: "│ "), let below = carets.firstRange(of: "│ "),
    line[..<mark.lowerBound].allSatisfy({ $0 == " " || $0 == ":" || $0.isNumber }), !line.contains("\t")
  else { return nil }
  let (quoted, under) = (line[mark.upperBound...], carets[below.upperBound...])
  let indent = under.prefix { $0 == " " }.count
  let room = width - displayWidth(String(line[..<mark.upperBound]))
  guard under.dropFirst(indent).first == "^", room > 10 else { return nil }
  let count = under.dropFirst(indent).prefix { $0 == "^" }.count
  let first = indent + min(count, room / 2) < room ? 0 : indent - room / 2
  var (rest, skipped) = (quoted, 0)
  while skipped < first, let next = rest.popFirst() { skipped += LineEditor.displayWidth(next) }
  let moved = String(repeating: " ", count: indent - skipped + (first > 0 ? 1 : 0))
  return (
    line[..<mark.upperBound] + truncated((first > 0 ? "…" : "") + rest, to: room),
    carets[..<below.upperBound] + moved + under.dropFirst(indent)
  )
}

/// `text` truncated to at most `width` cells, ending in `…` if it was longer.
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
