import QuireRow

/// The parts of a predicate that SQL cannot compute and objects must: a closure for each part, by its number.
///
/// Belongs to the isolation of the context whose objects it is given.
package final class ComputedValues {
  private var closures: [(any PersistentModel) throws -> Value] = []

  package init() {}

  func add(_ words: String, _ closure: @escaping (any PersistentModel) throws -> Value) -> ComputedValue {
    closures.append(closure)
    return ComputedValue(closures.count - 1, words: words)
  }

  /// NULL if Swift's evaluation throws: nil is unwrapped, or an index does not exist.
  func value(_ computed: ComputedValue, of model: any PersistentModel) -> Value {
    guard closures.indices.contains(computed.number) else { return .null }
    return (try? closures[computed.number](model)) ?? .null
  }
}
