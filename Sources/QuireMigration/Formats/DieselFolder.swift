/// One of Diesel's folders, `2024-01-01-000000_add_isbn` with its `up.sql` and `down.sql`, and the name that its files can
/// have beside each other.
struct DieselFolder: Hashable {
  let name: String
  /// Without `.up.sql`.
  let stem: String
  /// Whether the stem has another number than the folder.
  let isNumbered: Bool

  /// The folders in the order in which Diesel runs them: that of their versions, compared as texts.
  ///
  /// Where their numbers have another order, the short ones get zeros at their end: `20240313` runs behind
  /// `20240306170000`. If that does not help, or some have no number, each gets a new one.
  static func inOrder(_ names: [String]) -> [DieselFolder] {
    let parts = names.map { name in
      let cut = name.firstIndex(of: "_") ?? name.endIndex
      return (name: name, version: String(name[..<cut].filter { $0 != "-" }), rest: String(name[cut...]))
    }.sorted { ($0.version, $0.name) < ($1.version, $1.name) }
    func folders(_ numbers: [String]) -> [DieselFolder] {
      zip(parts, numbers).map { part, number in
        let rest = part.rest.isEmpty ? "_" + part.version : part.rest
        return DieselFolder(name: part.name, stem: number + rest, isNumbered: number != part.version)
      }
    }
    let versions = parts.map(\.version)
    if isInOrder(versions) { return folders(versions) }
    let longest = versions.map(\.count).max() ?? 0
    let padded = versions.map { $0 + String(repeating: "0", count: longest - $0.count) }
    if isInOrder(padded) { return folders(padded) }
    let digits = max(4, "\(parts.count)".count)
    return folders(
      parts.indices.map { place in
        let number = "\(place + 1)"
        return String(repeating: "0", count: digits - number.count) + number
      })
  }

  /// Whether these are numbers, each greater than the one before it.
  private static func isInOrder(_ versions: [String]) -> Bool {
    let numbers = versions.compactMap { version in
      version.allSatisfy { ("0"..."9").contains($0) } ? Int64(version) : nil
    }
    return numbers.count == versions.count && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
  }
}
