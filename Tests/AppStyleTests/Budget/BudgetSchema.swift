import Foundation
import Quire

enum SavingsSchemaV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [SavingsGoal.self] }

  @Model
  final class SavingsGoal {
    var title: String
    var target: Double
    init(title: String, target: Double) {
      self.title = title
      self.target = target
    }
  }
}

enum SavingsSchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [SavingsGoal.self] }

  @Model
  final class SavingsGoal {
    @Attribute(originalName: "title") var name: String
    var target: Double
    var saved: Double = 0
    var deadline: Date?
    init(name: String, target: Double) {
      self.name = name
      self.target = target
    }
  }
}

enum SavingsMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SavingsSchemaV1.self, SavingsSchemaV2.self] }
  static var stages: [MigrationStage] { [v1ToV2] }

  static let v1ToV2 = MigrationStage.custom(
    fromVersion: SavingsSchemaV1.self, toVersion: SavingsSchemaV2.self, willMigrate: nil,
    didMigrate: { context in
      for goal in try context.fetch(FetchDescriptor<SavingsSchemaV2.SavingsGoal>()) { goal.saved = goal.target / 10 }
      try context.save()
    })
}

typealias SavingsGoal = SavingsSchemaV2.SavingsGoal
