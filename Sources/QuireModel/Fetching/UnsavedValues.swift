import QuireRow

/// Unsaved objects by the values of the properties that fetches have asked for: what finds one of many without asking
/// each.
///
/// An object is read when a fetch needs it and then marked as ``ModelState/Flags/noted``. Its next edit takes the mark
/// away, and it is read again at the next fetch. So every unsaved object either waits to be read or is found under the
/// value it has. The caller checks what it finds: an object may have been saved, have another value by now, or be listed
/// twice.
struct UnsavedValues {
  /// One property's values.
  private struct Property {
    var waiting: [ObjectIdentifier: any PersistentModel] = [:]
    var objects: [Value: [any PersistentModel]] = [:]
  }

  /// By model, then by property.
  private var properties: [Int: [Int: Property]] = [:]

  var isEmpty: Bool { properties.isEmpty }

  func knows(_ property: Int, of entity: Int) -> Bool { properties[entity]?[property] != nil }

  /// The first fetch that asks for a property begins with all unsaved objects.
  mutating func begin(_ property: Int, of entity: Int, with models: [any PersistentModel]) {
    let waiting = Dictionary(models.map { (ObjectIdentifier($0), $0) }) { first, _ in first }
    properties[entity, default: [:]][property] = Property(waiting: waiting)
  }

  /// An object is unsaved since now, or may have other values.
  mutating func wait(_ model: any PersistentModel, of entity: Int) {
    guard let known = properties[entity]?.keys else { return }
    for property in Array(known) { properties[entity]?[property]?.waiting[ObjectIdentifier(model)] = model }
  }

  /// The objects to be read, which do not wait any longer.
  mutating func takeWaiting(_ property: Int, of entity: Int) -> [any PersistentModel] {
    guard let waiting = properties[entity]?[property]?.waiting, !waiting.isEmpty else { return [] }
    properties[entity]?[property]?.waiting = [:]
    return Array(waiting.values)
  }

  /// Takes in an object under the value that it has.
  mutating func add(_ model: any PersistentModel, _ value: Value, _ property: Int, of entity: Int) {
    properties[entity]?[property]?.objects[value.comparable, default: []].append(model)
  }

  func objects(with value: Value, _ property: Int, of entity: Int) -> [any PersistentModel] {
    properties[entity]?[property]?.objects[value.comparable] ?? []
  }

  /// Objects that turned out to be found there in vain are left out.
  mutating func keep(_ models: [any PersistentModel], with value: Value, _ property: Int, of entity: Int) {
    properties[entity]?[property]?.objects[value.comparable] = models.isEmpty ? nil : models
  }
}

extension Value {
  /// The same for all values that compare as equal: whole numbers are integers.
  var comparable: Value {
    if case .real(let number) = self, let whole = Int64(exactly: number) { return .integer(whole) }
    return self
  }
}
