import Observation
import QuireModel
import QuireRow

/// An object that loads its own properties: ``load()`` assigns its ``LazyLoaded`` properties when the first of them is
/// read.
///
///     final class Page: SelfLoading {
///       @LazyLoaded var text: String
///       @LazyLoaded var words: [String] = []          // what it reads as where loading fails
///       let file: URL
///       let loadStep = LoadStep()
///
///       init(file: URL) { self.file = file }
///       func load() throws {
///         text = try String(contentsOf: file, encoding: .utf8)
///         words = text.split(separator: " ").map(String.init)
///       }
///     }
public protocol SelfLoading: AnyObject {
  /// Assigns the self-loading properties. Called once for an object, and again by the next read if it threw or did not
  /// assign the property that was read. Values assigned before it threw are discarded. A property that was set before
  /// keeps its value.
  func load() throws
  /// The object's loading state: `let loadStep = LoadStep()`.
  var loadStep: LoadStep { get }
}

/// One object's load step. Confined to the isolation of its object.
public final class LoadStep {
  /// The number of calls of the step.
  public private(set) var runs = 0
  fileprivate private(set) var isRunning = false
  /// The properties that this run has assigned.
  fileprivate var filled: [any LoadedProperty] = []

  /// A step that has not run.
  public init() {}

  fileprivate func run(_ load: () throws -> Void) throws {
    runs += 1
    isRunning = true
    defer {
      isRunning = false
      filled.removeAll()
    }
    do {
      try load()
    } catch {
      for property in filled { property.empty() }
      throw error
    }
  }
}

/// Why a property could not be loaded, unless the step threw its own error.
package enum LoadError: Error, Hashable, Sendable {
  /// The step ended without an error and without a value for it.
  case leftEmpty(type: String, property: String)
  /// The step read a property that it must assign.
  case readByItsOwnStep(type: String, property: String)
}

extension LoadError: QuireError {}

extension LoadError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .leftEmpty(let type, let property): "the load step of \(type) left ‘\(property)’ empty: assign it there"
    case .readByItsOwnStep(let type, let property):
      "the load step of \(type) reads ‘\(property)’ before it has assigned it: assign it first"
    }
  }
}

private protocol LoadedProperty: AnyObject {
  func empty()
}

/// Stores the value of a self-loading property, and its observers.
final class LoadedValue<Value>: Observable {
  private enum Content {
    case empty
    case loaded(Value)
    /// Set by other code than the step.
    case set(Value)
  }
  private var content = Content.empty
  private let registrar = ObservationRegistrar()

  /// The value as it is, to observe.
  private var value: Value? {
    switch content {
    case .empty: nil
    case .loaded(let value), .set(let value): value
    }
  }

  var isEmpty: Bool { value == nil }

  /// The value, loaded if needed. A first load is not a change: no observer is notified.
  func read(from owner: some SelfLoading, named name: () -> String) throws -> Value {
    registrar.access(self, keyPath: \.value)
    if let value { return value }
    let step = owner.loadStep
    if step.isRunning { throw LoadError.readByItsOwnStep(type: "\(type(of: owner))", property: name()) }
    try step.run(owner.load)
    guard let value else { throw LoadError.leftEmpty(type: "\(type(of: owner))", property: name()) }
    return value
  }

  func assign(_ new: Value, in step: LoadStep) {
    if step.isRunning { return load(new, in: step) }
    if let value, isIdentical(value, new) { return }
    registrar.withMutation(of: self, keyPath: \.value) { content = .set(new) }
  }

  private func load(_ new: Value, in step: LoadStep) {
    if isEmpty {
      step.filled.append(self)
    } else if !step.filled.contains(where: { $0 === self }) {
      return  // set, or loaded, before this run
    }
    content = .loaded(new)
  }
}

extension LoadedValue: LoadedProperty {
  fileprivate func empty() { content = .empty }
}
