/// An error in a set of model classes, or in a file that should contain them. Its description names the model, the
/// property or the file, and what to change; nothing was changed in the file.
public struct SchemaError: Error, Hashable, Sendable {
  package let problem: Problem

  package init(_ problem: Problem) { self.problem = problem }

  /// The differences between the tables of a file and the models, one line each. Empty for an error of another kind.
  public var differences: [String] {
    if case .mismatch(_, let differences, _, _, _) = problem { differences } else { [] }
  }

  /// The SQL for those ``differences`` that a statement can remove.
  public var remedies: [String] { if case .mismatch(_, _, let remedies, _, _) = problem { remedies } else { [] } }

  package enum Problem: Hashable, Sendable {
    /// A container needs at least one model.
    case noModels
    /// Two classes have this name, and both were passed to the container or both are reached by relationships.
    case duplicateName(String, classes: [String])
    /// A model's table has no name, or one that only SQLite or Quire may use.
    case reservedTable(model: String, table: String)
    /// Two models would have this table.
    case sharedTable(models: [String], table: String)
    /// Two properties of a model have the same column, or one has that of the key.
    case duplicateColumn(model: String, column: String, properties: [String])
    /// Two properties of `other` could be the inverse; name one with `@Relationship(inverse:)`.
    case ambiguousInverse(model: String, property: String, other: String, candidates: [String])
    /// The property named by `@Relationship(inverse:)` cannot be the inverse of this one.
    case inverseMismatch(model: String, property: String, reason: String)
    /// The property named by `@Relationship(order:)` cannot store the order of the objects.
    case unusableOrder(model: String, property: String, reason: String)
    /// A declaration such as `#Index` names something that is not a stored property of the model.
    case unknownKeyPath(model: String, in: String)
    /// `#FullText` names something that cannot be searched.
    case unusableFullText(model: String, property: String?, reason: String)
    /// Models with `#FullText` need a file whose triggers may write to virtual tables, but this file has triggers or
    /// views that do not belong to the models.
    case untrusted(path: String, objects: [String])
    /// If the row that `reference` leads to is gone, this property would have no value: give it a default.
    case noVacantValue(model: String, property: String, type: String, reference: String)
    /// A `let` whose type has neither a zero nor a first case, so that no object without a row can be made.
    case noConstantValue(model: String, property: String, type: String)
    /// The file's tables do not fit the models: one line for each difference, and the SQL for those that a statement can
    /// fix. `advice` is what a migration plan has to say about it. With `isOpen`, they did fit when the file was
    /// opened.
    case mismatch(path: String, differences: [String], mending: [String], advice: String? = nil, isOpen: Bool = false)
    /// The plan has no stage that begins at the file's version.
    case noStage(from: String, to: String)
    /// Two versions of the plan have this number.
    case sharedVersion(String, schemas: [String])
    /// The version of the container's schema, or of a stage's end, is not among those that the plan lists.
    case unplanned(version: String, stage: String?, newest: String)
    /// The file's version is not one of the plan's; `version` is the recorded one, if there is a record.
    case unknownVersion(path: String, version: String?)
    /// Stages are left to be run, and the container may not write.
    case unmigrated(path: String, present: String, target: String)
    /// A new property is not optional, and existing rows would have no value for it.
    case noValueForNewColumn(model: String, property: String)
    /// Several rows have the same values of these properties, which the models of the new version allow once.
    case duplicates(model: String, properties: [String], version: String)
    /// Rows have no object for this reference, which the new version does not let be nil.
    case missingTargets(model: String, property: String, version: String)
    /// After a stage, a row of the table would refer to a missing row.
    case brokenReferences(table: String, to: String)
    /// A container keeps its models in one file.
    case severalConfigurations([String])
    /// Rows have values of another form than the property's new type has, and SQLite cannot convert them.
    case unfitValues(property: String, form: String, value: String, version: String)
  }
}

extension SchemaError: CustomStringConvertible {
  public var description: String {
    switch problem {
    case .noModels: "a container needs at least one model"
    case .duplicateName(let name, let classes):
      "two models are called \(name), \(classes.joined(separator: " and ")): each needs a table of its own. If they are "
        + "versions of one model, name the one that is meant among the container's models"
    case .reservedTable(let model, let table):
      "\(model) can't have the table '\(table)': "
        + (table.isEmpty ? "it has no name" : "names that begin with sqlite_ or _quire_ are reserved")
    case .sharedTable(let models, let table):
      "\(models.joined(separator: " and ")) would have the same table, \(table): name another with @Model(table:)"
    case .duplicateColumn(let model, let column, let properties):
      "\(properties.map { "\(model).\($0)" }.joined(separator: " and ")) would have the column \(column)"
        + (properties.count > 1 ? "" : ", which is that of the key")
        + ": name another with @Attribute(column:)"
    case .ambiguousInverse(let model, let property, let other, let candidates):
      "\(model).\(property) could be the inverse of \(candidates.map { "\(other).\($0)" }.joined(separator: " and of ")): "
        + "say which with @Relationship(inverse: \\\(other).\(candidates.first ?? "property"))"
    case .inverseMismatch(let model, let property, let reason): "the inverse of \(model).\(property): \(reason)"
    case .unusableOrder(let model, let property, let reason): "the order of \(model).\(property): \(reason)"
    case .unknownKeyPath(let model, let place): "\(place) of \(model) names something that is not a stored property"
    case .unusableFullText(let model, let property, let reason):
      "#FullText of \(model)\(property.map { ", \($0)" } ?? ""): \(reason)"
    case .untrusted(let path, let objects):
      "the full-text indexes of \(path) are kept by its triggers, and it has triggers or views of its own: "
        + "\(objects.joined(separator: ", ")). Set trustsSchema in the configuration if they are yours"
    case .noVacantValue(let model, let property, let type, let reference):
      "\(model).\(property) needs a default: \(reference) must lead to a \(model), and if that row is gone, \(type) "
        + "has no value to read. Give \(property) a default, or make \(reference) optional"
    case .noConstantValue(let model, let property, let type):
      "\(model).\(property) can't be a constant: \(type) has no value for an object whose row is gone. "
        + "Write ‘private(set) var’"
    case .mismatch(let path, let differences, _, _, isOpen: true):
      "the tables of \(path) were changed while it was open, and no longer fit the models:\n"
        + differences.map { "    \($0)" }.joined(separator: "\n")
        + "\nNothing was read or written, unsaved edits are still pending, and the file is whole. If the change was "
        + "meant, restart the program in the version that has these tables."
    case .mismatch(let path, let differences, let mending, let advice, isOpen: false):
      "\(path) does not fit the models; nothing was changed:\n"
        + differences.map { "    \($0)" }.joined(separator: "\n")
        + (mending.isEmpty
          ? "" : "\nThis SQL would mend \(mending.count == differences.count ? "it" : "part of it"):\n")
        + mending.map { "    \($0);" }.joined(separator: "\n")
        + "\n"
        + (advice
          ?? "Migrate the file (quire migrate apply, or a migrationPlan), or open it with the models it was made with.")
    case .noStage(let from, let to): "no stage of the plan leads from version \(from) on to \(to): add one"
    case .sharedVersion(let version, let schemas):
      "\(schemas.joined(separator: " and ")) of the plan are both version \(version): give each a versionIdentifier of its "
        + "own. Files record it"
    case .unplanned(let version, let stage?, let newest):
      "a stage of the plan leads to \(stage), version \(version), which is not among the plan's schemas, whose newest is "
        + "\(newest): add it to them"
    case .unplanned(let version, nil, let newest):
      "the container's schema is version \(version), and the newest of the plan is \(newest): add the schema to the plan's "
        + "schemas, with a stage that leads to it"
    case .unknownVersion(let path, let version?):
      "\(path) has version \(version), which is not in the plan: open it with the program that made it"
    case .unknownVersion(let path, nil): "\(path) has the tables of none of the plan's versions; nothing was changed"
    case .unmigrated(let path, let present, let target):
      "\(path) is at \(present), and stages are left to be run to \(target), but allowsSave is false: nothing was changed. "
        + "Open it once with a container that may save"
    case .noValueForNewColumn(let model, let property):
      "\(model).\(property) is new and must have a value: give it a default, or make it optional"
    case .duplicates(let model, let properties, let version):
      "version \(version) wants \(properties.map { "\(model).\($0)" }.joined(separator: " with ")) to be unique, and rows "
        + "have the same; the tables are as before. Delete all but one of them, or give them other values, in the "
        + "stage's willMigrate"
    case .missingTargets(let model, let property, let version):
      "in version \(version) each \(model) needs an object in \(property), and rows have none; the tables are as before. "
        + "Delete such rows, or give them one, in the stage's willMigrate"
    case .brokenReferences(let table, let version):
      "in version \(version) rows of \(table) would refer to rows that are not there; nothing was changed"
    case .severalConfigurations(let names):
      "a container keeps its models in one file, and there are configurations for \(names.joined(separator: " and ")): "
        + "make a container for each"
    case .unfitValues(let property, let form, let value, let version):
      "version \(version) keeps \(property) as \(form), and a row has a \(value) value there after the "
        + "conversion; the tables are as before. Give such rows another value in the stage's willMigrate, or give the "
        + "property of the new type another name, and its value in didMigrate"
    }
  }
}
