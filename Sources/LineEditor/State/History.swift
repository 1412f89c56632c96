/// What was entered, oldest first; an entry may have many lines.
public struct History: Sendable {
  public private(set) var entries: [String]
  /// How many are kept.
  private let most: Int

  public init(_ entries: [String] = [], most: Int = 10_000) {
    self.entries = Array(entries.suffix(most))
    self.most = most
  }

  /// Adds an entry, unless it is empty or equals the last one.
  ///
  /// - Returns: Whether it was added.
  @discardableResult public mutating func add(_ entry: String) -> Bool {
    guard !entry.allSatisfy(\.isWhitespace), entry != entries.last else { return false }
    entries.append(entry)
    if entries.count > most { entries.removeFirst() }
    return true
  }

  /// The rest of the newest entry that begins with `text`.
  func rest(of text: String) -> String? {
    guard !text.isEmpty else { return nil }
    // By bytes: a text that ends within a character of an entry does not begin it.
    let entry = entries.last { $0.length > text.length && $0.utf8.starts(with: text.utf8) }
    guard let entry, entry.boundary(from: text.length) == text.length else { return nil }
    return String(entry[entry.index(text.length)...])
  }

  /// The nearest entry, from `index` on in steps of `step`, that contains `text`, and its range.
  ///
  /// Lowercase letters match both cases, uppercase letters only themselves.
  func find(_ text: String, from index: Int, step: Int) -> (index: Int, range: Range<Int>)? {
    guard !text.isEmpty else { return nil }
    let ignoresCase = text.allSatisfy { !$0.isUppercase }
    var index = index
    while entries.indices.contains(index) {
      let entry = entries[index]
      if let range = Self.range(of: text, in: entry, ignoringCase: ignoresCase) { return (index, range) }
      index += step
    }
    return nil
  }

  private static func range(of text: String, in entry: String, ignoringCase: Bool) -> Range<Int>? {
    let text = Array(text)
    var start = entry.startIndex
    while start < entry.endIndex {
      var place = start
      var matched = 0
      while matched < text.count, place < entry.endIndex, same(entry[place], text[matched], ignoringCase) {
        place = entry.index(after: place)
        matched += 1
      }
      if matched == text.count {
        return entry.utf8.distance(
          from: entry.startIndex, to: start)..<entry.utf8.distance(
            from: entry.startIndex, to: place)
      }
      start = entry.index(after: start)
    }
    return nil
  }

  private static func same(_ left: Character, _ right: Character, _ ignoringCase: Bool) -> Bool {
    left == right || (ignoringCase && left.isUppercase && left.lowercased() == String(right))
  }
}
