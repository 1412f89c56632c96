/// A closure that is told of changes. Held by its token alone: who lets go of that, on whatever thread, ends it.
package final class Listener<Event> {
  private let place: SourcePlace?
  private let body: (Event) -> Void
  /// How many events it is being told inside one another.
  private var depth = 0
  /// Why it is told nothing any longer.
  package private(set) var loop: ObservationLoop?

  /// - Parameter place: Nil for one that only passes on, and may do so without end.
  package init(_ place: SourcePlace?, _ body: @escaping (Event) -> Void) {
    self.place = place
    self.body = body
  }

  fileprivate func tell(_ event: Event) {
    if loop != nil { return }
    if depth == ObservationLoop.limit, let place {
      let loop = place.loop(after: depth)
      self.loop = loop
      return loop.report()
    }
    depth += 1
    body(event)
    depth -= 1
  }
}

/// Those who are told, in the order of asking.
///
/// A value: who tells tells a copy, so that a listener may ask, or end, in the middle of it. One that has gone by the
/// time its turn comes is not told.
package struct Listeners<Event> {
  private struct Weak { weak var listener: Listener<Event>? }
  private var listeners: [Weak] = []

  package init() {}

  package var isAny: Bool { listeners.contains { $0.listener != nil } }

  package mutating func add(_ listener: Listener<Event>) {
    listeners.removeAll { $0.listener == nil }
    listeners.append(Weak(listener: listener))
  }

  package func tell(_ event: Event) { for place in listeners { place.listener?.tell(event) } }

  /// Those who have gone included.
  var count: Int { listeners.count }
  func tell(_ event: Event, at place: Int) { listeners[place].listener?.tell(event) }
}

/// Keeps a subscription to changes: it ends when this object is released, or by ``cancel()``.
public final class ChangeToken {
  private var listener: (any AnyListener)?
  package init(_ listener: Listener<some Any>) { self.listener = listener }
  /// Ends the subscription; nothing is called after it returns.
  public func cancel() { listener = nil }
  /// Why it was ended, if it caused itself without end.
  public var loop: ObservationLoop? { listener?.loop }
}

private protocol AnyListener: AnyObject { var loop: ObservationLoop? { get } }
extension Listener: AnyListener {}
