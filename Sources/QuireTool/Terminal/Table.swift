import QuireShell

/// Rows in columns, each as wide as its longest value.
///
///     Table(["id", "title"], alignRight: [0], rows: [["1", "Solaris"], ["12", "Eden"]]).lines(width: 80)
///
///     id  title
///      1  Solaris
///     12  Eden
public struct Table: Sendable {
  /// Empty for a table without a first line.
  public var header: [String]
  /// The cells of each row, from left to right. A row may be shorter than others.
  public var rows: [[String]]
  /// Columns of numbers.
  public var alignRight: Set<Int>

  /// A table; `alignRight` has the numbers of columns, from 0.
  public init(_ header: [String] = [], alignRight: Set<Int> = [], rows: [[String]]) {
    self.header = header
    self.rows = rows
    self.alignRight = alignRight
  }

  /// The lines without their ends. Control characters are made visible, and if a line would be wider than `width`, the
  /// widest column is truncated.
  public func lines(width: Int? = nil) -> [String] { lines(width: width) { _, _, text in text } }

  /// - Parameter styled: Dresses a cell, by line (the header is the first) and column, without its padding.
  func lines(width: Int?, styled: (Int, Int, String) -> String) -> [String] {
    let all = ((header.isEmpty ? [] : [header]) + rows).map { $0.map { printable($0) } }
    let count = all.map(\.count).max() ?? 0
    var widths = (0..<count).map { column in all.map { $0.count > column ? displayWidth($0[column]) : 0 }.max() ?? 0 }
    if let width {
      var excess = widths.reduce(0, +) + 2 * max(0, count - 1) - width
      while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8 {
        // Down to the next widest, so that no column is cut more than it must be.
        let next = widths.indices.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
        let cut = min(excess, max(1, widths[widest] - max(8, next)))
        widths[widest] -= cut
        excess -= cut
      }
    }
    return all.enumerated().map { number, row in
      var line = ""
      for column in row.indices {
        let text = truncated(row[column], to: widths[column])
        let space = String(repeating: " ", count: max(0, widths[column] - displayWidth(text)))
        let isRight = alignRight.contains(column)
        // Spaces at the end of a line are left out, and those between columns are not styled.
        let isLast = row[(column + 1)...].allSatisfy(\.isEmpty)
        let cell = text.isEmpty ? "" : styled(number, column, text)
        line += (column > 0 ? "  " : "") + (isRight ? space + cell : cell + (isLast ? "" : space))
        if isLast { break }
      }
      return line
    }
  }
}
