/// The least or greatest of values that are added and removed, and once it has been asked for, those that come next.
///
/// At first only the extreme value is kept. When it is removed, ``isNeeded`` asks for the next ones, each time twice as
/// many: so a queue whose first row leaves again and again reads its rows a few times, and not once for each.
struct Extremes: Sendable {
  private let isLeast: Bool
  /// The extreme value, or, while it is not known, a bound that no value exceeds.
  private(set) var value: Value = .null
  /// Whether the extreme value was removed and the next is not known.
  private(set) var isNeeded = false
  /// The number of values to ask for.
  private(set) var wanted = 1
  /// The values that come next, the closest last.
  private var next: [Value] = []
  /// No other value exceeds this one.
  private var bound: Value = .null
  /// Whether there is no other value.
  private var isAll = false
  private static let most = 64

  init(isLeast: Bool) { self.isLeast = isLeast }

  /// Whether more than the extreme value is kept.
  private var keepsNext: Bool { wanted > 1 }

  mutating func add(_ added: Value, isOnly: Bool) {
    if isOnly {
      (value, isNeeded, next, bound, isAll) = (added, false, [], added, keepsNext)
    } else if isNeeded ? reachesBound(added) : order(added, value) >= 0 {
      if !isNeeded, keepsNext { next.append(value) }
      (value, isNeeded) = (added, false)
      if !keepsNext { bound = added }
    } else if keepsNext, !isNeeded, reachesBound(added) {
      next.insert(added, at: firstPlace { order($0, added) > 0 })
    }
    if next.count > 2 * Extremes.most {
      (bound, isAll) = (next[Extremes.most - 1], false)
      next.removeFirst(Extremes.most)
    }
  }

  mutating func remove(_ removed: Value, wasOnly: Bool) {
    if wasOnly {
      (value, isNeeded, next, isAll) = (.null, false, [], false)
    } else if isNeeded {
      return
    } else if order(removed, value) > 0 {
      // It was never added.
      (value, isNeeded, next, bound, isAll) = (removed, true, [], removed, false)
    } else if removed == value || !removeNext(removed), order(removed, value) == 0 {
      if let closest = next.popLast() {
        value = closest
      } else {
        (value, isNeeded) = (bound, true)
      }
    }
  }

  /// Removes one of the values that come next, rather the same than one that only compares equal, as 1 and 1.0 do.
  ///
  /// - Returns: False if there is none.
  private mutating func removeNext(_ removed: Value) -> Bool {
    if !reachesBound(removed) { return false }
    let start = firstPlace { order($0, removed) >= 0 }
    let end = firstPlace { order($0, removed) > 0 }
    if start == end { return false }
    next.remove(at: next[start..<end].firstIndex(of: removed) ?? start)
    return true
  }

  /// Sets the values that were asked for, the extreme one first; there are no more if they are fewer than ``wanted``.
  mutating func set(_ values: [Value]) {
    value = values.first ?? .null
    isNeeded = false
    next = values.dropFirst().reversed()
    (bound, isAll) = (values.last ?? .null, values.count < wanted)
    wanted = min(2 * wanted, Extremes.most)
  }

  /// The place of the first of the next values that is extreme enough.
  private func firstPlace(_ isExtremeEnough: (Value) -> Bool) -> Int {
    var low = 0
    var high = next.count
    while low < high {
      let middle = (low + high) / 2
      if isExtremeEnough(next[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func reachesBound(_ value: Value) -> Bool { isAll || order(value, bound) >= 0 }

  /// Greater than 0 if the first value is the more extreme one.
  private func order(_ first: Value, _ second: Value) -> Int {
    let order = first.compare(to: second)
    return isLeast ? -order : order
  }
}
