public import LineEditor

/// What a terminal would show of the bytes written to it: enough of a VT100 to draw what the editor draws.
///
/// Text, wrapping behind the last column, line ends, scrolling, moving, erasing, and styles, which are kept for each
/// cell. A sequence it does not know is kept in ``unknown``, so that a test can see that there was none.
public struct VirtualScreen: Sendable {
  public private(set) var size: Size
  public private(set) var cursor: (row: Int, column: Int) = (0, 0)
  /// Lines that left the screen at its top.
  public private(set) var scrolledOff: [String] = []
  public private(set) var unknown: [String] = []
  public private(set) var bells = 0
  public private(set) var isCursorHidden = false
  public private(set) var pastesInBrackets = false
  private var isUpdating = false
  private var cells: [[Cell]]
  private var style: [Int] = []
  /// Whether the last column was written, and the next character wraps.
  private var wraps = false
  private var pending: [UInt8] = []

  private struct Cell: Hashable, Sendable {
    /// Empty for the second half of a wide character.
    var text = " "
    var style: [Int] = []
  }

  /// Whether it stands between two frames: not in the middle of one (a synchronized update), nor of a sequence.
  public var isWhole: Bool { !isUpdating && pending.isEmpty }

  public init(_ size: Size) {
    self.size = size
    cells = Array(repeating: Array(repeating: Cell(), count: size.columns), count: size.rows)
  }

  /// The lines without blanks at their ends, and without empty lines at the end.
  public var lines: [String] {
    var lines = cells.map(Self.text)
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  public var text: String { lines.joined(separator: "\n") }

  /// The pieces of a row in one style, such as `[("select", [34])]`, blanks in no style left out.
  public func styles(row: Int) -> [(text: String, style: [Int])] {
    var pieces: [(text: String, style: [Int])] = []
    for cell in cells[row] {
      if let last = pieces.last, last.style == cell.style {
        pieces[pieces.count - 1].text += cell.text
      } else {
        pieces.append((cell.text, cell.style))
      }
    }
    return pieces.filter { !$0.style.isEmpty }
  }

  private static func text(_ row: [Cell]) -> String {
    var text = row.map(\.text).joined()
    while text.last == " " { text.removeLast() }
    return text
  }

  /// Cuts or widens every row; what a terminal does with rows that are too long differs, this one cuts them.
  public mutating func resize(_ size: Size) {
    for row in cells.indices {
      cells[row] = Array(cells[row].prefix(size.columns))
      cells[row] += Array(repeating: Cell(), count: size.columns - cells[row].count)
    }
    while cells.count > size.rows {
      // Empty rows below the cursor go first.
      if cells.count - 1 > cursor.row {
        cells.removeLast()
      } else {
        scrolledOff.append(Self.text(cells.removeFirst()))
        cursor.row -= 1
      }
    }
    while cells.count < size.rows { cells.append(Array(repeating: Cell(), count: size.columns)) }
    self.size = size
    cursor.column = min(cursor.column, size.columns - 1)
    wraps = false
  }

  // MARK: Bytes

  public mutating func write(_ text: String) { write(Array(text.utf8)) }

  /// Takes bytes in any pieces.
  public mutating func write(_ bytes: some Sequence<UInt8>) {
    pending += bytes
    while let used = step() { pending.removeFirst(used) }
  }

  /// How many bytes were taken; nil where the rest must come first.
  private mutating func step() -> Int? {
    guard let first = pending.first else { return nil }
    switch first {
    case 0x1B: return escape()
    case 7: bells += 1
    case 8: cursor.column = max(0, cursor.column - 1)
    case 10: lineFeed()
    case 13:
      cursor.column = 0
      wraps = false
    case 0..<32: unknown.append("\(first)")
    default: return put()
    }
    return 1
  }

  /// Takes the text up to the next control character, but for a last character that may not be whole.
  private mutating func put() -> Int? {
    let run = pending.prefix { $0 >= 32 }
    var bytes = Array(run)
    if run.count == pending.count {
      // Half a character waits for its other half.
      for back in 1...min(4, bytes.count) where bytes[bytes.count - back] >= 0xC0 {
        let needed = bytes[bytes.count - back] >= 0xF0 ? 4 : bytes[bytes.count - back] >= 0xE0 ? 3 : 2
        if needed > back { bytes.removeLast(back) }
        break
      }
      if bytes.isEmpty { return nil }
    }
    for character in String(decoding: bytes, as: UTF8.self) { put(character) }
    return bytes.count
  }

  private mutating func put(_ character: Character) {
    let width = displayWidth(character)
    guard width > 0 else {
      // A mark joins the cell before.
      let column = wraps ? cursor.column : cursor.column - 1
      if column >= 0 { cells[cursor.row][column].text += String(character) }
      return
    }
    if wraps || cursor.column + width > size.columns {
      cursor.column = 0
      wraps = false
      lineFeed()
    }
    cells[cursor.row][cursor.column] = Cell(text: String(character), style: style)
    for next in 1..<max(1, width) where cursor.column + next < size.columns {
      cells[cursor.row][cursor.column + next] = Cell(text: "", style: style)
    }
    cursor.column += width
    if cursor.column >= size.columns {
      cursor.column = size.columns - 1
      wraps = true
    }
  }

  private mutating func lineFeed() {
    wraps = false
    guard cursor.row == size.rows - 1 else {
      cursor.row += 1
      return
    }
    scrolledOff.append(Self.text(cells.removeFirst()))
    cells.append(Array(repeating: Cell(), count: size.columns))
  }

  private mutating func escape() -> Int? {
    guard pending.count > 1 else { return nil }
    guard pending[1] == UInt8(ascii: "[") else {
      unknown.append(String(decoding: pending.prefix(2), as: UTF8.self))
      return 2
    }
    guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
    let body = String(decoding: pending[2..<end], as: UTF8.self)
    let numbers = body.split(separator: ";").map { Int($0) ?? 0 }
    let count = max(1, numbers.first ?? 1)
    let final = Character(Unicode.Scalar(pending[end]))
    if final != "m", !body.hasPrefix("?") { wraps = false }
    switch (final, body) {
    case ("A", _): cursor.row = max(0, cursor.row - count)
    case ("B", _): cursor.row = min(size.rows - 1, cursor.row + count)
    case ("C", _): cursor.column = min(size.columns - 1, cursor.column + count)
    case ("D", _): cursor.column = max(0, cursor.column - count)
    case ("H", _):
      cursor.row = min(size.rows, max(1, numbers.first ?? 1)) - 1
      cursor.column = min(size.columns, max(1, numbers.count > 1 ? numbers[1] : 1)) - 1
    case ("K", ""), ("K", "0"): erase(cursor.row, from: cursor.column)
    case ("K", "2"): erase(cursor.row, from: 0)
    case ("J", ""), ("J", "0"):
      erase(cursor.row, from: cursor.column)
      for row in cells.indices.dropFirst(cursor.row + 1) { erase(row, from: 0) }
    case ("J", "2"): for row in cells.indices { erase(row, from: 0) }
    case ("m", _): style = numbers.contains(0) || numbers.isEmpty ? [] : style + numbers
    case ("h", "?25"), ("l", "?25"): isCursorHidden = final == "l"
    case ("h", "?2004"), ("l", "?2004"): pastesInBrackets = final == "h"
    case ("h", "?2026"), ("l", "?2026"): isUpdating = final == "h"
    default: unknown.append("ESC[\(body)\(final)")
    }
    return end + 1
  }

  private mutating func erase(_ row: Int, from column: Int) {
    for column in column..<size.columns { cells[row][column] = Cell() }
  }
}
