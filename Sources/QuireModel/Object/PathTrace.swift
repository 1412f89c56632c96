/// Learns which properties a key path of several steps reads, such as `\Book.author?.name`, whose parts the standard
/// library does not give out: the path is read on a stand-in object whose getters say what they are.
final class PathTrace {
  private(set) var steps: [AnyKeyPath] = []
  /// The model that the path has led to.
  private var reached: (any PersistentModel.Type)?

  func read(_ keyPath: AnyKeyPath) { steps.append(keyPath) }

  func standIn<Model: PersistentModel>() -> Model {
    reached = Model.self
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
    return trace.steps + [trace.constant(endOf: keyPath)].compactMap { $0 }
  }

  /// A constant is read without a getter that could say so; but then it is a stored property, whose name the key path's
  /// description ends with.
  private func constant(endOf keyPath: AnyKeyPath) -> AnyKeyPath? {
    guard let reached, let last = keyPath.debugDescription.split(separator: ".").last else { return nil }
    let name = last.prefix { $0 != "?" && $0 != "!" }
    return reached._quireDefinition.properties.first { $0.isConstant && $0.name == name }?.keyPath
  }
}
