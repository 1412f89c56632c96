/// Who is told of differences, in the order of asking. Held by their tokens alone: who lets go of one, on whatever
/// thread, ends it.
final class DifferenceListeners<Row> {
  private var listeners: [Weak] = []
  private var untold: [(listener: Weak, difference: Difference<Row>)] = []

  private final class Listener {
    let body: (Difference<Row>) -> Void
    init(_ body: @escaping (Difference<Row>) -> Void) { self.body = body }
  }
  private struct Weak { weak var listener: Listener? }

  func add(_ body: @escaping (Difference<Row>) -> Void) -> DifferenceToken {
    let listener = Listener(body)
    listeners.append(Weak(listener: listener))
    return DifferenceToken(listener)
  }

  /// A listener may move the context on: what it is told then comes after what the others have not heard yet.
  func tell(_ difference: Difference<Row>) {
    listeners.removeAll { $0.listener == nil }
    untold += listeners.map { ($0, difference) }
    while !untold.isEmpty {
      let (listener, difference) = untold.removeFirst()
      listener.listener?.body(difference)
    }
  }
}
