import QuireModel

/// The listeners for differences, in the order of subscription. Only their tokens hold them: releasing a token, on any
/// thread, ends its listener.
final class DifferenceListeners<Difference> {
  private var listeners: [Weak] = []
  private var untold: [(listener: Weak, difference: Difference)] = []

  private final class Listener {
    let body: (Difference) -> Void
    init(_ body: @escaping (Difference) -> Void) { self.body = body }
  }
  private struct Weak { weak var listener: Listener? }

  func add(_ body: @escaping (Difference) -> Void) -> ChangeToken {
    let listener = Listener(body)
    listeners.append(Weak(listener: listener))
    return ChangeToken(listener)
  }

  /// Whether there are no listeners any more. Removes those that have ended.
  var isEmpty: Bool {
    for place in listeners.indices where listeners[place].listener == nil {
      listeners.removeAll { $0.listener == nil }
      break
    }
    return listeners.isEmpty
  }

  /// A listener may advance the context: that difference is delivered after all listeners have received this one.
  func tell(_ difference: Difference) {
    if isEmpty { return }
    // With a single listener, no other can interleave.
    if listeners.count == 1, untold.isEmpty {
      listeners[0].listener?.body(difference)
      return
    }
    untold += listeners.map { ($0, difference) }
    while !untold.isEmpty {
      let (listener, difference) = untold.removeFirst()
      listener.listener?.body(difference)
    }
  }
}
