/// Who is told of differences, in the order of asking. Held by their tokens alone: who lets go of one, on whatever
/// thread, ends it.
final class DifferenceListeners<Difference> {
  private var listeners: [Weak] = []
  private var untold: [(listener: Weak, difference: Difference)] = []

  private final class Listener {
    let body: (Difference) -> Void
    init(_ body: @escaping (Difference) -> Void) { self.body = body }
  }
  private struct Weak { weak var listener: Listener? }

  func add(_ body: @escaping (Difference) -> Void) -> DifferenceToken {
    let listener = Listener(body)
    listeners.append(Weak(listener: listener))
    return DifferenceToken(listener)
  }

  /// Whether nobody listens any more. Forgets those that have ended.
  var isEmpty: Bool {
    for place in listeners.indices where listeners[place].listener == nil {
      listeners.removeAll { $0.listener == nil }
      break
    }
    return listeners.isEmpty
  }

  /// A listener may move the context on: what it is told then comes after what the others have not heard yet.
  func tell(_ difference: Difference) {
    if isEmpty { return }
    // Nobody else to come in between.
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

/// Ends a subscription when it goes, or when told to.
public final class DifferenceToken {
  private var listener: AnyObject?
  init(_ listener: AnyObject) { self.listener = listener }
  public func cancel() { listener = nil }
}
