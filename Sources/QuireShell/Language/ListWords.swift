/// Functions that aggregate many rows if they have one argument, and conditions on a list.
enum ListWords {
  static let aggregates: Set<String> = [
    "count", "sum", "avg", "min", "max", "total", "group_concat", "median", "stddev", "variance",
  ]
  static let questions: Set<String> = ["any", "none", "all", "exists"]

  /// Whether a call of that name is about rows, and not about values of one.
  static func contains(_ name: String, arguments: Int) -> Bool {
    let word = name.lowercased()
    if questions.contains(word) { return true }
    // `min(a, b)` is the smaller of two values.
    return aggregates.contains(word) && (arguments < 2 || word == "group_concat") || word == "percentile"
  }
}
