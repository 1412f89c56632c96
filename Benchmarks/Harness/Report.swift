import Foundation

/// One line for each variant, for programs: a JSON object with `ns` (bytes in the memory case) and `ratio`, and where
/// operations are sampled also `wall_ns` and `p99_ns`, and for one operation `queries`, `rows_stepped` and `woken`; of a
/// load `per_second`.
@MainActor func jsonLines(_ outcome: Outcome) -> [String] {
  let name = outcome.benchCase
  return outcome.figures.map { figure in
    var line = "{\"case\":\"\(name.name)\",\"variant\":\"\(figure.variant)\",\"rows\":\(outcome.rows)"
    line += ",\"ns\":\(number(figure.value)),\"ratio\":\(number(outcome.ratio(figure))),\"vs\":\"\(name.baseline)\""
    if name.unit == .latency || name.unit == .load {
      line += ",\"wall_ns\":\(number(figure.wall)),\"p99_ns\":\(number(figure.p99))"
    }
    if name.unit == .load { line += ",\"per_second\":\(number(figure.perSecond))" }
    if name.unit != .load, let (queries, rowsStepped, woken) = figure.counts {
      line += ",\"queries\":\(number(queries)),\"rows_stepped\":\(number(rowsStepped)),\"woken\":\(number(woken))"
    }
    return line + "}"
  }
}

/// How a case's figures grew with its table: one line for each variant but the raw write.
@MainActor func jsonLines(_ growth: Growth) -> [String] {
  growth.factors.map { variant, factor in
    "{\"case\":\"\(growth.benchCase.name)\",\"variant\":\"\(variant)\",\"from\":\(growth.from),\"to\":\(growth.to)"
      + ",\"growth\":\(number(factor))}"
  }
}

private func number(_ value: Double) -> String {
  value.isFinite ? String(format: value < 100 ? "%.4g" : "%.1f", value) : "null"
}

/// The same for people: figures in columns, each ratio drawn as a bar with its goal marked.
@MainActor struct Table {
  private let nameWidth: Int
  private let variantWidth: Int
  private let barWidth = 30

  init(_ cases: [BenchCase]) {
    nameWidth = max(4, cases.map(\.name.count).max() ?? 0)
    variantWidth = max(7, cases.flatMap(\.variants).map(\.name.count).max() ?? 0)
  }

  var header: String {
    row("case", "rows", "variant", "ns", "ratio", "goal", "")
  }

  func lines(_ outcome: Outcome) -> [String] {
    let goal = outcome.benchCase.goal
    // What is a hundred times as slow is cut off: the others would all be a single cell.
    let ratios = outcome.figures.map(outcome.ratio).filter { $0.isFinite && $0 < 20 }
    let longest = max(ratios.max() ?? 1, goal ?? 0)
    return outcome.figures.enumerated().map { index, figure in
      let ratio = outcome.ratio(figure)
      let aim = figure.isQuire ? goal : nil
      // Judged as it is printed: a hundredth is less than two runs differ by.
      let isReached = aim.map { (ratio * 100).rounded() <= ($0 * 100).rounded() } ?? false
      var line = row(
        index == 0 ? outcome.benchCase.name : "", index == 0 ? grouped(outcome.rows) : "", figure.variant,
        amount(figure.value) + (outcome.benchCase.unit == .memory ? " B" : ""),
        ratio.isFinite ? String(format: "%.2f", ratio) : "–",
        aim.map { String(format: isReached ? "%.2f ✓" : "%.2f ✗", $0) } ?? "",
        bar(ratio, of: longest, goal: aim))
      if outcome.benchCase.unit == .load {
        line = line.padded(to: header.count + 2 + barWidth)
        line += "  wait p50 \(amount(figure.wall)) · p99 \(amount(figure.p99)) · \(amount(figure.perSecond))/s"
      }
      if outcome.benchCase.unit == .latency {
        line = line.padded(to: header.count + 2 + barWidth)
        line += "  wall \(amount(figure.wall)) · p99 \(amount(figure.p99))"
        if let (queries, rowsStepped, woken) = figure.counts {
          line += " · queries \(share(queries)) · rows \(share(rowsStepped)) · woken \(share(woken))"
        }
      }
      return line
    }
  }

  /// A line below a case's figures.
  func line(_ growth: Growth) -> String {
    let factors = growth.factors.map { variant, factor in
      "\(variant) " + (factor.isFinite ? "×" + String(format: factor < 100 ? "%.2f" : "%.0f", factor) : "–")
    }
    return growth.benchCase.name.padded(to: nameWidth)
      + "  growth of what comes to the raw write, \(grouped(growth.from)) → \(grouped(growth.to)) rows: "
      + factors.joined(separator: " · ")
  }

  private func row(
    _ name: String, _ rows: String, _ variant: String, _ value: String, _ ratio: String, _ goal: String, _ bar: String
  ) -> String {
    [
      name.padded(to: nameWidth), rows.padded(to: 10, leading: true), variant.padded(to: variantWidth),
      value.padded(to: 11, leading: true), ratio.padded(to: 7, leading: true), goal.padded(to: 7, leading: true), bar,
    ].joined(separator: "  ").trimmingSuffix(" ")
  }

  private func bar(_ ratio: Double, of longest: Double, goal: Double?) -> String {
    guard ratio.isFinite, longest > 0 else { return "" }
    func cells(_ ratio: Double) -> Int { max(1, Int((ratio / longest * Double(barWidth)).rounded())) }
    if ratio > longest { return String(repeating: "█", count: barWidth - 1) + "▶" }
    var bar = Array(repeating: Character("█"), count: cells(ratio))
    bar += Array(repeating: " ", count: barWidth - bar.count)
    if let goal { bar[cells(goal) - 1] = "│" }
    return String(bar).trimmingSuffix(" ")
  }
}

/// A figure with three digits or more, its thousands set apart.
private func amount(_ value: Double) -> String {
  switch value {
  case _ where !value.isFinite: "–"
  case ..<10: String(format: "%.2f", value)
  case ..<100: String(format: "%.1f", value)
  default: grouped(Int(value.rounded()))
  }
}

/// A count for one operation: how much of one, where there is less.
private func share(_ value: Double) -> String {
  value < 10 && value != value.rounded() ? String(format: "%.2g", value) : grouped(Int(value.rounded()))
}

/// A whole number with its thousands set apart: 100 000.
func grouped(_ number: Int) -> String {
  let digits = Array(String(number))
  return String(
    digits.indices.flatMap { index -> [Character] in
      let isStart = index > 0 && (digits.count - index).isMultiple(of: 3)
      return isStart ? [" ", digits[index]] : [digits[index]]
    })
}

extension String {
  func padded(to width: Int, leading: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - count))
    return leading ? blanks + self : self + blanks
  }

  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var text = self
    while text.last == character { text.removeLast() }
    return text
  }
}
