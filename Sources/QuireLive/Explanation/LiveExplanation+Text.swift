extension LiveExplanation: CustomStringConvertible {
  /// A readable text: the subject and its strategy, then a line for each further fact.
  public var description: String {
    var lines = ["\(subject): \(strategy.words)"]
    func add(_ label: String, _ texts: [String]) {
      for (place, text) in texts.enumerated() {
        let label = place == 0 ? label : ""
        lines.append("  " + label + String(repeating: " ", count: max(0, 11 - label.count)) + text)
      }
    }
    add("why", reasons)
    add("woken by", wakes.map(\.words))
    add("costs", costs.map { "a change of \($0.table): \($0.count), \($0.words)" })
    var purposes: [Statement.Purpose] = []
    for statement in statements where !purposes.contains(statement.purpose) { purposes.append(statement.purpose) }
    for purpose in purposes {
      let own = statements.filter { $0.purpose == purpose }
      add(purpose.rawValue, own.map { $0.plan.joined(separator: " · ") + ($0.isSlow ? "  ← slow" : "") })
    }
    add("would help", indexes)
    return lines.joined(separator: "\n")
  }
}

extension LiveExplanation.Strategy {
  var words: String {
    switch self {
    case .incremental: "kept incrementally"
    case .requerying: "kept incrementally, asking for what changed"
    case .rerunning: "run again"
    }
  }
}

extension LiveExplanation.Wake {
  var words: String {
    var words =
      "\(table): " + (columns.map { $0.isEmpty ? "rows that come or go" : $0.joined(separator: ", ") } ?? "all columns")
    if !equalities.isEmpty { words += "; only rows whose \(equalities.joined(separator: " and ")) it asks for" }
    return words
  }
}

extension LiveExplanation.Cost {
  fileprivate var count: String {
    switch statements {
    case 0: "no statement"
    case 1: "one statement"
    default: "\(statements) statements"
    }
  }
}
