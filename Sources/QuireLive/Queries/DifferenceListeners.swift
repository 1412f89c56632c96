import QuireModel

/// The listeners for differences, in the order of subscription. Only their tokens hold them: releasing a token, on any
/// thread, ends its listener.
final class DifferenceListeners<Difference> {
  /// Every step of a live result looks whether there are any. Therefore the list knows nothing of `Difference`: an
  /// array of a generic type would be looked up in the runtime each time.
  private var listeners: [WeakListener] = []
  private var untold: [(listener: WeakListener, difference: Difference)] = []

  private final class Listener {
    let body: (Difference) -> Void
    init(_ body: @escaping (Difference) -> Void) { self.body = body }
  }

  func add(_ body: @escaping (Difference) -> Void) -> ChangeToken {
    let listener = Listener(body)
    listeners.append(WeakListener(object: listener))
    return ChangeToken(listener)
  }

  /// Whether there are no listeners any more. Removes those that have ended.
  var isEmpty: Bool {
    listeners.removeEnded()
    return listeners.isEmpty
  }

  /// A listener may advance the context: that difference is delivered after all listeners have received this one.
  func tell(_ difference: Difference) {
    if isEmpty { return }
    // With a single listener, no other can interleave.
    if listeners.count == 1, untold.isEmpty {
      tell(listeners[0], difference)
      return
    }
    untold += listeners.map { ($0, difference) }
    while !untold.isEmpty {
      let (listener, difference) = untold.removeFirst()
      tell(listener, difference)
    }
  }

  private func tell(_ listener: WeakListener, _ difference: Difference) {
    if let object = listener.object { unsafeDowncast(object, to: Listener.self).body(difference) }
  }
}

/// A `Listener` of any kind of difference.
private struct WeakListener { weak var object: AnyObject? }

extension [WeakListener] {
  fileprivate mutating func removeEnded() {
    if contains(where: { $0.object == nil }) { removeAll { $0.object == nil } }
  }
}
