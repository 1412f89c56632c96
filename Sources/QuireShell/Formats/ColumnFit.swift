/// Fits columns into a line: texts are truncated first and numbers last, because a truncated number is misleading; if
/// even short columns do not fit beside each other, the rightmost ones are left out.
package struct ColumnFit: Sendable {
  /// How many of the columns are shown.
  package let shownCount: Int
  private let isNumber: [Bool]
  /// Cells between two columns.
  private let gap: Int
  private let columnCount: Int
  private let width: Int

  /// Narrower than this no text is cut, and numbers are cut last.
  private static let least = 6
  /// The highest width of a text column if columns must be left out.
  private static let most = 20
  /// Room for the mark after the columns if some are left out.
  private static let mark = 3

  /// - Parameters:
  ///   - widths: What the columns need.
  ///   - isNumber: Whether a column is of numbers.
  ///   - least: So many columns are shown in any case.
  package init(_ widths: [Int], isNumber: [Bool], gap: Int = 2, least: Int = 1, in width: Int) {
    self.isNumber = isNumber
    self.gap = gap
    self.width = width
    columnCount = widths.count
    if widths.reduce(0, { $0 + min($1, Self.least) }) + gap * max(0, widths.count - 1) <= width {
      shownCount = widths.count
      return
    }
    var (used, count) = (Self.mark, 0)
    while count < widths.count {
      used += (isNumber[count] ? widths[count] : min(widths[count], Self.most)) + (count > 0 ? gap : 0)
      if used > width { break }
      count += 1
    }
    // A table of numbers alone says little: the first text is cut more.
    if count < widths.count, isNumber.prefix(count).allSatisfy({ $0 }), !isNumber[count] {
      let before = widths.prefix(count).reduce(Self.mark) { $0 + $1 + gap }
      if before + Self.least <= width { count += 1 }
    }
    shownCount = min(max(count, least), widths.count)
  }

  /// How many columns at the right are left out.
  package var hiddenCount: Int { columnCount - shownCount }

  /// The widths of the columns that are shown: of too wide ones the widest is cut, down to the next widest.
  ///
  /// - Parameter fixed: So many columns at the left are never cut.
  package func fitted(_ widths: [Int], fixed: Int = 0) -> [Int] {
    var widths = Array(widths.prefix(shownCount))
    let room = hiddenCount > 0 ? width - Self.mark : width
    var excess = widths.reduce(0, +) + gap * max(0, widths.count - 1) - room
    for cutsNumbers in [false, true] {
      let columns = widths.indices.dropFirst(fixed).filter { isNumber[$0] == cutsNumbers }
      while excess > 0, let widest = columns.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.least {
        let next = columns.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
        let cut = min(excess, max(1, widths[widest] - max(Self.least, next)))
        widths[widest] -= cut
        excess -= cut
      }
    }
    return widths
  }
}
