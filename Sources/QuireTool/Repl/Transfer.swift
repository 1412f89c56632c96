import Dispatch
import Synchronization

/// One value handed to a thread that waits for it.
final class Transfer<Value: Sendable>: Sendable {
  private let given = DispatchSemaphore(value: 0)
  private let value = Mutex<Value?>(nil)

  func give(_ value: Value) {
    self.value.withLock { $0 = value }
    given.signal()
  }

  /// Waits until it is given, and keeps nothing of it.
  func take() -> Value {
    while true {
      given.wait()
      let taken = value.withLock { value in
        defer { value = nil }
        return value
      }
      if let taken { return taken }
    }
  }
}
