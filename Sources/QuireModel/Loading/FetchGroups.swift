/// Remembers which objects were fetched together: siblings, whose relationships are loaded in one statement.
///
/// The last few fetches of each entity are remembered by their keys until the end of the turn.
final class FetchGroups {
  private final class Group {
    let keys: [Int64]
    /// Built when a relationship is first read; most fetches never need it.
    lazy var positions: [Int64: Int] = Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { a, _ in a })
    init(_ keys: [Int64]) { self.keys = keys }
  }

  private var groups: [Int: [Group]] = [:]
  private static let kept = 4

  func add(_ keys: [Int64], entity: Int) {
    guard keys.count > 1 else { return }
    var known = groups[entity] ?? []
    if known.count == FetchGroups.kept { known.removeFirst() }
    known.append(Group(keys))
    groups[entity] = known
  }

  func removeAll() { groups.removeAll() }

  /// The object's key and those that followed it in the latest fetch that returned it; `[key]` if none did.
  func siblings(of key: Int64, entity: Int, limit: Int) -> [Int64] {
    for group in (groups[entity] ?? []).reversed() {
      if let position = group.positions[key] {
        return Array(group.keys[position..<min(position + limit, group.keys.count)])
      }
    }
    return [key]
  }
}
