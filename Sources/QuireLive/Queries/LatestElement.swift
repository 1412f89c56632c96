public import Observation
import QuireSQLite

/// The latest element of an asynchronous sequence, with a placeholder until the first: how readers look at a truth that
/// is inside an actor, without waiting for it.
///
///     let titles = LatestElement(await desk.titles, placeholder: [])
///     let token = observe { print(titles.value) }
///
/// Takes one element after the other, in the sequence's order, on the isolation it was made on. Lives as long as
/// somebody holds it, and ends its sequence when it goes.
public final class LatestElement<Value: Sendable>: Observable {
  private var latest: Value
  private var failure: (any Error)?
  private let task: Locked<Task<Void, Never>?>
  private let registrar = ObservationRegistrar()

  public init<Source: AsyncSequence & Sendable>(
    _ source: Source, placeholder: Value, isolation: isolated any Actor = #isolation
  ) where Source.Element == Value {
    latest = placeholder
    task = Locked(nil)
    let started = Task { [weak self] in
      _ = isolation
      do {
        for try await element in source {
          guard let self else { return }
          self.take(element)
        }
      } catch {
        self?.failure = error
      }
    }
    task.withLock { $0 = started }
  }

  deinit { task.withLock { $0?.cancel() } }

  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return latest
  }

  /// What ended the sequence, where that was an error. The value stays.
  public var error: (any Error)? { failure }

  private func take(_ element: Value) {
    registrar.withMutation(of: self, keyPath: \.value) { latest = element }
  }
}
