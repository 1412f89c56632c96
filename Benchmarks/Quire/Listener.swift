import Quire

/// Somebody who listens to a live result: what was told since it was last asked.
final class Listener<Element> {
  private(set) var changes: [Difference<Element>.Change] = []
  private(set) var calls = 0
  private var token: ChangeToken?

  /// - Parameter follow: Where it listens, such as `rows.onDifference`.
  init(_ follow: (@escaping (Difference<Element>) -> Void) -> ChangeToken) {
    token = follow { [unowned self] in
      changes += $0.changes
      calls += 1
    }
  }

  func forget() {
    changes.removeAll(keepingCapacity: true)
    calls = 0
  }

  func stop() { token = nil }
}
