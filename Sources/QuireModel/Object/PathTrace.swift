/// Finds the properties that a key path of several steps reads, such as `\Book.author?.name`. The standard library does
/// not expose its parts, so the path is read on a stand-in object whose getters record their property.
final class PathTrace {
  private(set) var steps: [AnyKeyPath] = []
  /// The model that the path has reached.
  private var reached: (any PersistentModel.Type)?

  func read(_ keyPath: AnyKeyPath) { steps.append(keyPath) }

  func standIn<Model: PersistentModel>() -> Model {
    reached = Model.self
    var state = ModelState()
    state.flags = [.vacant, .tracked]
    let tracking = Tracking()
    tracking.trace = self
    state.tracking = tracking
    return Model.vacant(state)
  }

  /// The properties read, in order; empty if the path does not lead through them one by one, as in a computed property
  /// that reads several.
  static func steps<Model: PersistentModel>(of keyPath: PartialKeyPath<Model>) -> [AnyKeyPath] {
    let trace = PathTrace()
    let model: Model = trace.standIn()
    _ = model[keyPath: keyPath]
    let steps = trace.steps + [trace.constant(endOf: keyPath)].compactMap { $0 }
    guard let first = steps.first, let last = steps.last else { return [] }
    let parts = separators(keyPath) - separators(first) + 1
    if parts == 1, keyPath != first { return [] }
    let endsInRawValue =
      parts == steps.count + 1 && SchemaResolver.isSame(type(of: keyPath).valueType, type(of: last).valueType)
    return parts == steps.count || endsInRawValue ? steps : []
  }

  /// The dots between the parts of a key path's description, `\Book.<computed 0x1234 (Optional<Author>)>?.name`.
  private static func separators(_ keyPath: AnyKeyPath) -> Int {
    var depth = 0
    var count = 0
    for character in keyPath.debugDescription.utf8 {
      switch character {
      case UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: ">"): depth -= 1
      case UInt8(ascii: ".") where depth == 0: count += 1
      default: continue
      }
    }
    return count
  }

  /// A `let` is read without a getter that could record it. It is a stored property, though, and the key path's
  /// description ends with its name.
  private func constant(endOf keyPath: AnyKeyPath) -> AnyKeyPath? {
    guard let reached, let last = keyPath.debugDescription.split(separator: ".").last else { return nil }
    let name = last.prefix { $0 != "?" && $0 != "!" }
    return reached._quireDefinition.properties.first { $0.isConstant && $0.name == name }?.keyPath
  }
}
