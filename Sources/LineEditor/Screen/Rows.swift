/// Styled text broken into rows no wider than a terminal.
struct Rows {
  let columns: Int
  private(set) var rows: [Row] = []
  private var row = Row()
  private var style = Style.plain

  /// One row as it is written, with its styles, and how many cells it takes.
  struct Row: Hashable, Sendable {
    var text = ""
    var width = 0

    init() {}

    /// A line with styles, truncated if it would be wider than `columns`. It may contain no escape sequences other than
    /// styles.
    init(_ line: String, columns: Int) {
      var isStyle = false
      for character in line {
        if character == "\u{1B}" { isStyle = true }
        if !isStyle {
          guard width + displayWidth(character) <= columns else { continue }
          width += displayWidth(character)
        }
        text.append(character)
        if isStyle, character.isLetter { isStyle = false }
      }
    }
  }

  init(columns: Int) { self.columns = max(1, columns) }

  /// The position of the next character, if it fits.
  var place: (row: Int, column: Int) { (rows.count, row.width) }

  /// Adds a character, on a new row if it does not fit, and returns its position. Line ends begin a new row; control
  /// characters are made visible.
  @discardableResult
  mutating func append(_ character: Character, _ style: Style) -> (row: Int, column: Int) {
    if character == "\n" {
      let place = endPlace()
      breakRow()
      return place
    }
    let shown = Self.visible(character, column: row.width)
    // If even an empty row is too narrow for it, it is left out.
    let width = displayWidth(shown)
    if row.width + width > columns { breakRow() }
    let place = place
    guard width <= columns else { return place }
    dress(style)
    row.text += shown
    row.width += width
    return place
  }

  mutating func append(_ text: String, _ style: Style) {
    for character in text { append(character, style) }
  }

  /// The position of a cursor at the end: on a new row if the last one is full.
  mutating func endPlace() -> (row: Int, column: Int) {
    if row.width >= columns { breakRow() }
    return place
  }

  /// Ends the row, and begins another.
  mutating func breakRow() {
    dress(.plain)
    rows.append(row)
    row = Row()
  }

  /// All rows, the one that is not ended included.
  mutating func finish() -> [Row] {
    breakRow()
    return rows
  }

  private mutating func dress(_ new: Style) {
    guard new != style else { return }
    if style != .plain { row.text += "\u{1B}[0m" }
    if new != .plain { row.text += "\u{1B}[\(new.parameters)m" }
    style = new
  }

  private static func visible(_ character: Character, column: Int) -> String {
    if character == "\t" { return String(repeating: " ", count: 4 - column % 4) }
    guard character.unicodeScalars.contains(where: { isControl($0) }) else { return String(character) }
    var result = String.UnicodeScalarView()
    for scalar in character.unicodeScalars {
      switch scalar.value {
      case 0..<32: result.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
      case 127: result.append("\u{2421}")
      default: result.append(isControl(scalar) ? "\u{FFFD}" : scalar)
      }
    }
    return String(result)
  }

  /// C0, DEL, C1, and the marks that turn the direction of writing around.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<32, 127..<160, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
