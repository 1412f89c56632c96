public import Observation
import QuireSQLite

/// The latest element of an asynchronous sequence, with a placeholder until the first one arrives: lets readers observe
/// the state of an actor without waiting for it.
///
///     let titles = LatestElement(await desk.titles, placeholder: [])
///     let token = observe { print(titles.value) }
///
/// Receives the elements one by one, in the sequence's order, on the isolation where it was made. It ends its sequence
/// when it is released.
public final class LatestElement<Value: Sendable>: Observable {
  private var latest: Value
  private var failure: (any Error)?
  private let task: Locked<Task<Void, Never>?>
  private let registrar = ObservationRegistrar()

  /// Begins to take the sequence's elements.
  ///
  /// - Parameters:
  ///   - source: The sequence, such as what an actor hands out.
  ///   - placeholder: The value until the first element.
  ///   - isolation: Where elements are taken and ``value`` is to be read; the caller's.
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

  /// The latest element, or the placeholder before the first. Reading it is observed.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return latest
  }

  /// The error that ended the sequence, if any. The value stays.
  public var error: (any Error)? { failure }

  private func take(_ element: Value) {
    registrar.withMutation(of: self, keyPath: \.value) { latest = element }
  }
}
