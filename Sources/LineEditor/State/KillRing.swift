/// What was cut, newest last.
struct KillRing: Sendable {
  private var cuts: [String] = []
  /// Which one `next()` gave last, counted from the newest.
  private var turned = 0
  private static let most = 60

  var newest: String? {
    mutating get {
      turned = 0
      return cuts.last
    }
  }

  /// - Parameter joins: Whether the cut before was the key before, so that both are one.
  mutating func add(_ text: String, joins: Bool, before: Bool) {
    guard !text.isEmpty else { return }
    if joins, let last = cuts.popLast() {
      cuts.append(before ? text + last : last + text)
    } else {
      cuts.append(text)
      if cuts.count > Self.most { cuts.removeFirst() }
    }
    turned = 0
  }

  /// The one cut before that which was given last, and after the oldest the newest again.
  mutating func next() -> String? {
    guard !cuts.isEmpty else { return nil }
    turned = (turned + 1) % cuts.count
    return cuts[cuts.count - 1 - turned]
  }
}
