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
  /// Where their numbers have another order, or none, each gets a new one.
  static func inOrder(_ names: [String]) -> [DieselFolder] {
    let parts = names.map { name in
      let cut = name.firstIndex(of: "_") ?? name.endIndex
      return (name: name, version: String(name[..<cut].filter { $0 != "-" }), rest: name[cut...])
    }.sorted { ($0.version, $0.name) < ($1.version, $1.name) }
    let numbers = parts.map { part in part.version.allSatisfy { ("0"..."9").contains($0) } ? Int64(part.version) : nil }
    let isInOrder = zip(numbers, numbers.dropFirst()).allSatisfy { first, next in
      first.flatMap { first in next.map { first < $0 } } ?? false
    }
    if isInOrder, numbers.first != .some(nil) {
      return parts.map { DieselFolder(name: $0.name, stem: $0.version + $0.rest, isNumbered: false) }
    }
    let digits = "\(parts.count)".count
    return parts.enumerated().map { place, part in
      let number = "\(place + 1)"
      let padded = String(repeating: "0", count: max(4, digits) - number.count) + number
      return DieselFolder(
        name: part.name, stem: padded + (part.rest.isEmpty ? "_" + part.version : String(part.rest)), isNumbered: true)
    }
  }
}
