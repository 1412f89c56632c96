import Synchronization

/// What the quick start's code has printed.
let said = Mutex("")

/// Takes the standard library's place in this module, so that the quick start's `print` can be compared.
func print(_ items: Any...) {
  let line = items.map { "\($0)" }.joined(separator: " ")
  said.withLock { $0 += line + "\n" }
}
