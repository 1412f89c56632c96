/// Learns which properties a key path of several steps reads, such as `\Book.author?.name`, whose parts the standard
/// library does not give out: the path is read on a stand-in object whose getters say what they are.
final class PathTrace {
  private(set) var steps: [AnyKeyPath] = []

  func read(_ keyPath: AnyKeyPath) { steps.append(keyPath) }

  func standIn<Model: PersistentModel>() -> Model {
    var state = ModelState()
    state.flags = [.vacant, .tracked]
    let tracking = Tracking()
    tracking.trace = self
    state.tracking = tracking
    return Model(_quireVacant: state)
  }

  /// The properties read, in order.
  static func steps<Model: PersistentModel>(of keyPath: PartialKeyPath<Model>) -> [AnyKeyPath] {
    let trace = PathTrace()
    let model: Model = trace.standIn()
    _ = model[keyPath: keyPath]
    return trace.steps
  }
}
