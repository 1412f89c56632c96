/// A closure that is notified of changes. Only its token holds it: releasing the token, on any thread, ends it.
package final class Listener<Event> {
  private let place: SourcePlace?
  private let body: (Event) -> Void
  private let before: BeforeObserver?
  /// The number of nested notifications in progress.
  private var depth = 0
  /// The loop for which it was ended, if any.
  package private(set) var loop: ObservationLoop?

  /// - Parameters:
  ///   - place: Nil for a closure that only forwards events, and may do so without limit.
  ///   - isBefore: Whether it is for events before a change.
  package init(_ place: SourcePlace?, isBefore: Bool = false, _ body: @escaping (Event) -> Void) {
    self.place = place
    self.body = body
    before = isBefore ? BeforeObserver() : nil
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

/// The closures to notify, in the order of subscription.
///
/// A value: notifying iterates over a copy, so that a listener may subscribe or end in the middle. A listener that has
/// ended before its notification is skipped.
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

  /// Includes listeners that have ended.
  var count: Int { listeners.count }
  func tell(_ event: Event, at place: Int) { listeners[place].listener?.tell(event) }
}

/// Keeps a closure of `onWillChange`, `onDidChange` or `onDifference` in place: it ends when this object is released, or
/// by ``cancel()``.
public final class ChangeToken {
  private var listener: AnyObject?
  package init(_ listener: AnyObject) { self.listener = listener }
  /// Ends the subscription; nothing is called after it returns. Calling it again does nothing.
  public func cancel() { listener = nil }
  /// The loop for which it was ended, if it changed its own object without end.
  public var loop: ObservationLoop? { (listener as? any AnyListener)?.loop }
}

private protocol AnyListener: AnyObject { var loop: ObservationLoop? { get } }
extension Listener: AnyListener {}
