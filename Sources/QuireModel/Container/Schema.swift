import QuireRow

/// A set of model classes, and the version of their shape.
public struct Schema: Sendable {
  /// The classes that were passed to the initializer.
  public let types: [any PersistentModel.Type]
  /// The version of their shape.
  public let version: Version
  /// The version, if one was given: a schema that is made of types has 1.0.0, whatever its models are.
  private(set) var number: Version?

  /// A schema of these classes.
  public init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
    self.types = types
    self.version = version
    number = version == Version(1, 0, 0) ? nil : version
  }

  /// A schema of these classes.
  public init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
    self.init(types, version: version)
  }

  /// The classes and the version of a ``VersionedSchema``.
  public init(versionedSchema: any VersionedSchema.Type) {
    self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    number = version
  }

  /// The models by name, as in SwiftData; those that only a relationship names are not among them.
  public var entities: [Entity] { types.map { Entity($0._quireDefinition) } }

  /// The model with this name, among ``entities``.
  public var entitiesByName: [String: Entity] {
    Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// A model as part of a schema.
  public struct Entity: Hashable, Sendable {
    /// The class's name.
    public let name: String
    /// Its stored properties, in the order of the source.
    public let properties: [Property]

    /// The properties that hold values.
    public var attributes: [Property] { properties.filter { !$0.isRelationship } }
    /// The properties that lead to models.
    public var relationships: [Property] { properties.filter(\.isRelationship) }

    init(_ definition: _Quire.ModelDefinition) {
      name = definition.name
      properties = definition.properties.map(Property.init)
    }
  }

  /// A stored property of a model.
  public struct Property: Hashable, Sendable {
    /// Its name in the source.
    public let name: String
    /// Its name in earlier versions, if `originalName:` gives one.
    public let originalName: String?
    /// Whether it may be nil.
    public let isOptional: Bool
    /// Whether no two objects have the same value.
    public let isUnique: Bool
    /// Whether it leads to models.
    public let isRelationship: Bool
    /// Whether it leads to one model at most.
    public let isToOneRelationship: Bool
    /// The name of the model it leads to; nil for a value.
    public let destination: String?

    init(_ definition: _Quire.PropertyDefinition) {
      name = definition.name
      originalName = definition.attribute.originalName ?? definition.relationship.originalName
      isUnique = (definition.attribute.options + definition.relationship.options).contains(.unique)
      destination = definition.target?._quireDefinition.name
      isRelationship = destination != nil
      isToOneRelationship = isRelationship && !definition.isToMany
      switch definition.kind {
      case .value(_, let isOptional, _), .toOne(_, let isOptional): self.isOptional = isOptional
      case .toMany: isOptional = false
      }
    }
  }

  /// Three numbers, compared from the first.
  public struct Version: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The third number.
    public let patch: Int

    /// The version `major.minor.patch`.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    public static func < (a: Version, b: Version) -> Bool {
      (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }

    public var description: String { "\(major).\(minor).\(patch)" }
  }
}

/// The models of one version of a program: usually an enum with the classes inside, as they were.
public protocol VersionedSchema: SendableMetatype {
  /// The model classes of this version.
  static var models: [any PersistentModel.Type] { get }
  /// The version's number, which no other version of a plan has.
  static var versionIdentifier: Schema.Version { get }
}

/// The way from each version of the models to the next, for code that has it from SwiftData. New programs write SQL
/// files, which can be read, rehearsed and undone: `quire migrate`.
///
/// A container that is opened with a plan finds out which version the file has, and takes it through the stages that
/// are left to the version with the container's models; if there is none, to the newest. If several processes or
/// threads open the file at once, or files of its folder, one of them runs the stages, and the others wait for it.
/// After a wait of ``ModelConfiguration/writeTimeout`` for the same one, opening throws
/// ``QuireSQLite/DatabaseError/busy(path:waited:by:)``, which names the process.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// All versions, oldest first.
  static var schemas: [any VersionedSchema.Type] { get }
  /// One stage for each step from a version to the next. Without stages, each step is the difference of the models.
  static var stages: [MigrationStage] { get }
}

/// One step of a ``SchemaMigrationPlan``.
public enum MigrationStage: Sendable {
  /// The tables are brought to the new form; rows keep what both forms have, renamed properties (`originalName`) too,
  /// and new ones get their declared default.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// The same between two closures: the first sees the models of the old version, the second those of the new one.
  /// Unsaved changes are saved when they return. A closure that throws, or during which the process ends, runs again
  /// when the file is next opened: it must work whatever an earlier run has saved.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: (@Sendable (ModelContext) throws -> Void)?, didMigrate: (@Sendable (ModelContext) throws -> Void)?)

  var versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type) {
    switch self {
    case .lightweight(let from, let to), .custom(let from, let to, _, _): (from, to)
    }
  }
}
