import Quire

// Names that the standard library has too, models in versioned schemas, several in one file.

@Model
final class Task {
  var title: String = ""
  var isDone: Bool = false
  var due: Date?
  var priority: Priority = Priority.normal
  var actor: Actor?
  @Relationship(deleteRule: .cascade, originalName: "subtasks", inverse: \Step.task) var steps: [Step]? = []

  init(title: String, due: Date? = nil) {
    self.title = title
    self.due = due
  }

  enum Priority: Int, Codable, Comparable {
    case low, normal, high
    static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
  }
}

@Model
final class Step {
  var title: String
  var index: Int
  var task: Task?
  init(_ title: String, _ index: Int) {
    self.title = title
    self.index = index
  }
}

@Model
final class Actor: Identifiable {
  var id: String
  var hash: String = ""
  @Relationship(minimumModelCount: 0, maximumModelCount: 20, inverse: \Task.actor) var tasks: [Task] = []
  init(id: String) { self.id = id }
}

@Model nonisolated final class Tag {
  @Attribute(.unique, hashModifier: "v2") var name: String
  @Attribute(.transformable(by: "ColorTransformer")) var color: [Double] = [0, 0, 0]
  init(name: String) { self.name = name }
}

enum ChoresSchemaV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Chore.self, Room.self] }

  @Model final class Chore {
    var name: String
    var minutes: Int
    var room: Room?
    init(name: String, minutes: Int) {
      self.name = name
      self.minutes = minutes
    }
  }

  @Model final class Room {
    var name: String
    @Relationship(deleteRule: .nullify, inverse: \Chore.room) var chores: [Chore] = []
    init(name: String) { self.name = name }
  }
}

enum ChoresSchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Chore.self, Room.self] }

  @Model final class Chore {
    @Attribute(originalName: "name") var title: String
    var minutes: Int
    var isDaily: Bool = false
    var room: Room?
    init(title: String, minutes: Int) {
      self.title = title
      self.minutes = minutes
    }
  }

  @Model final class Room {
    var name: String
    @Relationship(deleteRule: .nullify, inverse: \Chore.room) var chores: [Chore] = []
    init(name: String) { self.name = name }
  }
}

enum ChoresSchemaV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Self.Chore.self, Self.Room.self] }
}

extension ChoresSchemaV3 {
  @Model final class Chore {
    @Attribute(.unique) var title: String
    var minutes: Int
    var isDaily: Bool = false
    var room: Room?
    init(title: String, minutes: Int) {
      self.title = title
      self.minutes = minutes
    }
  }

  @Model final class Room {
    var name: String
    @Relationship(deleteRule: .nullify, inverse: \Chore.room) var chores: [Chore] = []
    init(name: String) { self.name = name }
  }
}

enum ChoresMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ChoresSchemaV1.self, ChoresSchemaV2.self, ChoresSchemaV3.self] }
  static var stages: [MigrationStage] { [v1ToV2, v2ToV3] }

  static let v1ToV2 = MigrationStage.lightweight(fromVersion: ChoresSchemaV1.self, toVersion: ChoresSchemaV2.self)

  static let v2ToV3 = MigrationStage.custom(
    fromVersion: ChoresSchemaV2.self, toVersion: ChoresSchemaV3.self,
    willMigrate: { context in
      let chores = try context.fetch(FetchDescriptor<ChoresSchemaV2.Chore>(sortBy: [SortDescriptor(\.title)]))
      var seen = Set<String>()
      for chore in chores {
        if seen.contains(chore.title) { context.delete(chore) }
        seen.insert(chore.title)
      }
      try context.save()
    }, didMigrate: nil)
}

typealias Chore = ChoresSchemaV3.Chore
typealias Room = ChoresSchemaV3.Room
