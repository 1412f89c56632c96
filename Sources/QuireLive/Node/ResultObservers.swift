import Observation

/// Observation of a live result: of its content, and of whether it has an error.
///
/// Not generic: a generic class builds its key paths again at every use, which costs 0.5 µs.
final class ResultObservers: Observable {
  private let registrar = ObservationRegistrar()
  private var content: Void { () }
  private var error: Void { () }

  func accessContent() { registrar.access(self, keyPath: \.content) }
  func accessError() { registrar.access(self, keyPath: \.error) }

  func willChange(content isContent: Bool, error isError: Bool) {
    if isContent { registrar.willSet(self, keyPath: \.content) }
    if isError { registrar.willSet(self, keyPath: \.error) }
  }

  func didChange(content isContent: Bool, error isError: Bool) {
    if isContent { registrar.didSet(self, keyPath: \.content) }
    if isError { registrar.didSet(self, keyPath: \.error) }
  }
}
