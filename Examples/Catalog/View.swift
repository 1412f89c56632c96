import Quire
import Synchronization

/// A piece of the screen: a plain reader that writes some lines, and how often it was evaluated.
///
/// It runs at once, and then after each turn in which something changed that it had read: nobody tells it, and nothing
/// else is evaluated.
@MainActor final class View {
  private(set) var lines: [String] = []
  private(set) var evaluations = 0
  /// As it was drawn last.
  private var evaluationsDrawn = 0
  /// Whether something it read has changed and it has not run again yet.
  nonisolated var isDue: Bool { due.load(ordering: .relaxed) }
  private let due = Atomic(false)
  private var reader: ObservationToken?

  /// - Parameter evaluated: Called after each run.
  init(evaluated: @escaping () -> Void = {}, _ body: @escaping () -> [String]) {
    reader = observe { [unowned self] in
      due.store(false, ordering: .relaxed)
      // `observe` alone would do. The screen is drawn when all that changed has run, so it asks who is still to run.
      withObservationTracking {
        lines = body()
      } onChange: { [weak self] in
        self?.due.store(true, ordering: .relaxed)
      }
      evaluations += 1
      evaluated()
    }
  }

  /// Whether it has been evaluated since it was drawn last.
  var isNew: Bool { evaluations != evaluationsDrawn }
  func noteDrawn() { evaluationsDrawn = evaluations }
}
