/// One observer that is notified before changes: of `onWillChange`, or a reader with `willChange`.
///
/// While there are any in the process, a context keeps the state before its own commits too, so that what such an
/// observer reads for the first time is of that state. Otherwise no commit pays for a snapshot of it.
package final class BeforeObserver: Sendable {
  private static let all = Count()
  package static var isAny: Bool { all.value > 0 }

  package init() { BeforeObserver.all.add() }
  deinit { BeforeObserver.all.remove() }
}
