import QuireSQLite

/// The classes of a schema, by number: those that were named, and all that relationships lead to. Each name is that of one
/// class.
///
/// A relationship that leads to another class of a named one's name, which is that of another version of the schema, leads
/// to the named one: versions may share a model.
struct SchemaClasses {
  private var named: [String: Known] = [:]
  private var all: [Known] = []

  private struct Known {
    let type: any PersistentModel.Type
    let definition: ModelDefinition
  }

  init(naming types: [any PersistentModel.Type]) throws(SchemaError) {
    if types.isEmpty { throw SchemaError(.noModels) }
    for type in types {
      let known = Known(type: type, definition: type._quireDefinition)
      let other = named.updateValue(known, forKey: known.definition.name)
      if let other, other.type != type { throw duplicate(other, known) }
    }
    for type in types { add(type) }
    try checkNames()
    try checkTables()
  }

  var definitions: [ModelDefinition] { all.map(\.definition) }

  func number(of type: any PersistentModel.Type) -> Int {
    if let index = all.firstIndex(where: { $0.type == type }) { return index }
    let name = type._quireDefinition.name
    return all.firstIndex { $0.definition.name == name } ?? 0
  }

  /// The property that a key path of `type` leads to: the one of that name where `type` is the model's class of another
  /// version.
  func property(at keyPath: AnyKeyPath, of type: any PersistentModel.Type) -> Int? {
    let properties = all[number(of: type)].definition.properties
    if let index = properties.firstIndex(where: { $0.keyPath == keyPath }) { return index }
    guard let name = type._quireDefinition.properties.first(where: { $0.keyPath == keyPath })?.name else { return nil }
    return properties.firstIndex { $0.name == name }
  }

  /// Adds the class, and those to which its relationships lead.
  private mutating func add(_ type: any PersistentModel.Type) {
    func isThere(_ type: any PersistentModel.Type) -> Bool { all.contains { $0.type == type } }
    if isThere(type) { return }
    let definition = named.values.first { $0.type == type }?.definition ?? type._quireDefinition
    let known = named[definition.name] ?? Known(type: type, definition: definition)
    if isThere(known.type) { return }
    all.append(known)
    for property in known.definition.properties {
      if let target = property.target { add(target) }
    }
  }

  private func checkNames() throws(SchemaError) {
    for (index, known) in all.enumerated() {
      let other = all[..<index].first { $0.definition.name == known.definition.name }
      if let other { throw duplicate(other, known) }
    }
  }

  private func duplicate(_ one: Known, _ other: Known) -> SchemaError {
    SchemaError(
      .duplicateName(
        one.definition.name, classes: [String(reflecting: one.type), String(reflecting: other.type)]))
  }

  /// Each model has a table of its own, which is neither SQLite's nor Quire's. SQL names are equal in any case.
  private func checkTables() throws(SchemaError) {
    var models: [SQLName: String] = [:]
    for definition in definitions {
      if definition.table.isEmpty || SchemaReader.isReserved(definition.table) {
        throw SchemaError(.reservedTable(model: definition.name, table: definition.table))
      }
      if let other = models.updateValue(definition.name, forKey: SQLName(definition.table)) {
        throw SchemaError(.sharedTable(models: [other, definition.name], table: definition.table))
      }
    }
  }
}
