public import QuireRow
import QuireSQLite

extension _Quire {
  /// A model class as its source declares it: written by `@Model`, read once when a container resolves its schema.
  public struct ModelDefinition {
    public let type: any PersistentModel.Type
    /// The class's name without the types around it.
    public let name: String
    /// The name of its table.
    private(set) var table: String
    /// The name of the key's column.
    private(set) var key: String
    public let properties: [PropertyDefinition]
    public let indexes: [[AnyKeyPath]]
    public let uniques: [[AnyKeyPath]]
    /// Nil if the model cannot be searched.
    public let fullText: FullTextDefinition?

    public init(
      _ type: any PersistentModel.Type, name: String, properties: [PropertyDefinition], indexes: [[AnyKeyPath]] = [],
      uniques: [[AnyKeyPath]] = [], fullText: FullTextDefinition? = nil
    ) {
      self.type = type
      self.name = name
      table = Naming.snakeCase(name)
      key = properties.contains { $0.columnName == "id" } ? "_id" : "id"
      self.properties = properties
      self.indexes = indexes
      self.uniques = uniques
      self.fullText = fullText
    }

    /// With the arguments of `@Model`; nil keeps the name.
    public func named(table: String? = nil, key: String? = nil) -> ModelDefinition {
      var copy = self
      copy.table = table ?? self.table
      copy.key = key ?? self.key
      return copy
    }
  }

  /// One stored property of a model class.
  public struct PropertyDefinition {
    public let name: String
    public let keyPath: AnyKeyPath
    public let kind: Kind
    public let attribute: AttributeDefinition
    public let relationship: RelationshipDefinition
    /// Whether it is a `let`, which never changes after the object is made.
    let isConstant: Bool
    /// Whether an object without a row has a value to read here: the declared default, or a default of its type.
    let hasPlaceholder: () -> Bool
    /// Binds a value of the property's type; NULL for a relationship.
    let bind: Property.Bind
    let decode: Property.Decode
    /// The type's name, for messages.
    let valueType: String

    public enum Kind {
      /// A column; `check` is the SQL of what its type allows, with `?` for the quoted column.
      case value(ColumnType, isOptional: Bool, check: String?)
      case toOne(any PersistentModel.Type, isOptional: Bool)
      case toMany(any PersistentModel.Type)
    }

    fileprivate init<Form: PropertyForm>(
      _ form: Form.Type, _ name: String, _ keyPath: AnyKeyPath, isConstant: Bool, attribute: AttributeDefinition,
      relationship: RelationshipDefinition, hasDefault: Bool
    ) {
      self.name = name
      self.keyPath = keyPath
      self.isConstant = isConstant
      hasPlaceholder = { hasDefault || form.hasPlaceholder }
      bind = { value, statement, index throws(ValueError) in
        guard let value = value as? Form.Value else { return statement.bindNull(index) }
        try form.bind(Slot(value), to: statement, at: index)
      }
      decode = { value in
        guard let form = form as? any ColumnForm.Type else {
          return nil
        }
        return form.decoded(value)
      }
      valueType = "\(Form.Value.self)"
      self.kind = form.kind
      self.attribute = attribute
      self.relationship = relationship
    }
  }

  /// The stored properties of a model class, a call for each.
  ///
  /// The call that most properties have is one without default arguments: the compiler writes a call for each of those.
  public struct PropertyDefinitions {
    public private(set) var all: [PropertyDefinition] = []

    public init() {}

    public mutating func add<Form: PropertyForm>(
      _ form: Form.Type, _ name: String, _ keyPath: AnyKeyPath, hasDefault: Bool
    ) {
      add(form, name, keyPath, attribute: AttributeDefinition(), hasDefault: hasDefault)
    }

    public mutating func add<Form: PropertyForm>(
      _ form: Form.Type, _ name: String, _ keyPath: AnyKeyPath, attribute: AttributeDefinition = .init(),
      relationship: RelationshipDefinition = .init(), hasDefault: Bool
    ) {
      all.append(
        PropertyDefinition(
          form, name, keyPath, isConstant: false, attribute: attribute, relationship: relationship,
          hasDefault: hasDefault))
    }

    /// A `let`: its value is that of a column.
    public mutating func add<Form: ColumnForm>(
      constant form: Form.Type, _ name: String, _ keyPath: AnyKeyPath, attribute: AttributeDefinition = .init(),
      relationship: RelationshipDefinition = .init(), hasDefault: Bool
    ) {
      all.append(
        PropertyDefinition(
          form, name, keyPath, isConstant: true, attribute: attribute, relationship: relationship,
          hasDefault: hasDefault))
    }

    /// What is refused at its line; see ``UnstorableForm``.
    @_disfavoredOverload public mutating func add<Form>(
      _ form: Form.Type, _ name: String, _ keyPath: AnyKeyPath, attribute: AttributeDefinition = .init(),
      relationship: RelationshipDefinition = .init(), hasDefault: Bool
    ) {}

    /// What is refused at its line.
    @_disfavoredOverload public mutating func add<Form>(
      constant form: Form.Type, _ name: String, _ keyPath: AnyKeyPath, attribute: AttributeDefinition = .init(),
      relationship: RelationshipDefinition = .init(), hasDefault: Bool
    ) {}
  }

  /// The arguments of `@Attribute`.
  public struct AttributeDefinition: Sendable {
    public let options: [AttributeOption]
    public let column: String?
    public let originalName: String?

    public init(
      _ options: AttributeOption..., column: String? = nil, originalName: String? = nil, hashModifier: String? = nil
    ) {
      self.options = options
      self.column = column
      self.originalName = originalName
    }
  }
}

/// An option of `@Attribute`.
public enum AttributeOption: Hashable, Sendable {
  /// Two rows cannot share the value: a second one is an error, not a silent replacement.
  case unique
  /// For SwiftData compatibility; has no effect: blobs are stored in their row.
  case externalStorage
  /// Observed but not stored, as `@Transient` says.
  case ephemeral
  /// For SwiftData compatibility; has no effect: the value is stored in its Codable form.
  case transformable
  /// For SwiftData compatibility; has no effect.
  case spotlight
  /// For SwiftData compatibility; has no effect: encryption is left to the file system.
  case allowsCloudEncryption
  /// The value stays in the change record of the row's deletion.
  case preserveValueOnDeletion
}

extension AttributeOption {
  /// For SwiftData compatibility; has no effect: the value is stored in its Codable form.
  public static func transformable(by type: Any.Type) -> AttributeOption { .transformable }
  /// For SwiftData compatibility; has no effect: the value is stored in its Codable form.
  public static func transformable(by name: String) -> AttributeOption { .transformable }
}

// Delete rules without their label: declared so that `@Model` can refuse them by name and offer the label.
extension AttributeOption {
  /// Not an option: write `deleteRule: .cascade`.
  public static var cascade: AttributeOption { .externalStorage }
  /// Not an option: write `deleteRule: .nullify`.
  public static var nullify: AttributeOption { .externalStorage }
  /// Not an option: write `deleteRule: .deny`.
  public static var deny: AttributeOption { .externalStorage }
  /// Not an option: write `deleteRule: .noAction`.
  public static var noAction: AttributeOption { .externalStorage }
}

extension _Quire {
  /// The arguments of `@Relationship`; a count of 0 means no limit.
  public struct RelationshipDefinition {
    public let options: [AttributeOption]
    public let deleteRule: DeleteRule
    public let minimumModelCount: Int
    public let maximumModelCount: Int
    public let originalName: String?
    public let inverse: AnyKeyPath?
    public let order: AnyKeyPath?

    public init(
      _ options: AttributeOption..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
      maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil, order: AnyKeyPath? = nil,
      hashModifier: String? = nil
    ) {
      self.options = options
      self.deleteRule = deleteRule
      self.minimumModelCount = minimumModelCount ?? 0
      self.maximumModelCount = maximumModelCount ?? 0
      self.originalName = originalName
      self.inverse = inverse
      self.order = order
    }
  }
}

/// What happens to the objects on the other side when an object is deleted.
public enum DeleteRule: Hashable, Sendable {
  /// They stay, and their reference becomes nil.
  case nullify
  /// They are deleted too.
  case cascade
  /// Deletion is refused while any exist.
  case deny
  /// They keep a reference to a deleted row.
  case noAction
}

extension _Quire {
  /// Index and unique declarations, as the macro passes them on.
  public static func keyPaths<Model: PersistentModel>(_: Model.Type, _ sets: [PartialKeyPath<Model>]...)
    -> [[AnyKeyPath]]
  {
    sets.map { $0 }
  }
}
