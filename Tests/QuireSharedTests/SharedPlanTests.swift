import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireModel
@testable import QuireShared

private enum FirstSchema: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Gear.self] }

  @Model final class Gear {
    @Attribute(.unique) var name: String
    var teeth: Int
    init(_ name: String, teeth: Int) {
      self.name = name
      self.teeth = teeth
    }
  }
}

private enum SecondSchema: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Gear.self] }

  @Model final class Gear {
    @Attribute(.unique, originalName: "name") var title: String
    var teeth: Int
    var weight: Int = 1
    init(_ title: String, teeth: Int) {
      self.title = title
      self.teeth = teeth
    }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [FirstSchema.self, SecondSchema.self] }
  static let stages = [
    MigrationStage.custom(
      fromVersion: FirstSchema.self, toVersion: SecondSchema.self,
      willMigrate: { context in
        try context.delete(model: FirstSchema.Gear.self, where: #Predicate { $0.teeth == 0 })
        try context.save()
      },
      didMigrate: { context in
        for gear in try context.fetch(FetchDescriptor<SecondSchema.Gear>()) { gear.weight = gear.teeth * 2 }
        try context.save()
      })
  ]
}

/// The stages of a migration plan on a shared store.
@Suite struct SharedPlanTests {
  let scratch: Scratch
  let log = MemoryLog()

  init() throws {
    scratch = try Scratch()
    let store = try ModelContainer(for: FirstSchema.Gear.self, url: URL(filePath: scratch.file("0.db")))
    let context = ModelContext(store)
    for teeth in 0..<5 { context.insert(FirstSchema.Gear("gear \(teeth)", teeth: teeth)) }
    try context.save()
    try store.store.database.close()
    try StoreNode.begin(scratch.file("0.db"), on: log.connection(), named: "library", as: "0")
  }

  private func configuration(_ number: Int) -> ModelConfiguration {
    ModelConfiguration(
      url: URL(filePath: scratch.file("\(number).db")),
      shared: SharedStore("library", on: log.connection(), as: "\(number)", patience: .seconds(60)))
  }

  private func first(_ number: Int) throws -> ModelContainer {
    try ModelContainer(for: FirstSchema.Gear.self, configurations: configuration(number))
  }

  private func second(_ number: Int) throws -> ModelContainer {
    try ModelContainer(for: SecondSchema.Gear.self, migrationPlan: Plan.self, configurations: configuration(number))
  }

  private func digest(_ number: Int) throws -> [UInt8] {
    try Connection(path: scratch.file("\(number).db"), access: .readOnly).digest()
  }

  @Test func `a stage that one machine runs is run on all, and a program of before stops`() async throws {
    let old = try first(1)
    let new = try second(0)
    await #expect(throws: SharedStoreError.self) { try await old.catchUp() }
    guard case .stopped(.migrated)? = old.node?.state else { throw CancellationError() }
    try old.store.database.close()
    let other = try second(1)
    try await other.write { $0.insert(SecondSchema.Gear("new", teeth: 9)) }
    for store in [new, other] {
      try await store.catchUp()
      let weights = try store.query("SELECT weight FROM gear ORDER BY id").map { try $0.value("weight", as: Int.self) }
      #expect(weights == [2, 4, 6, 8, 1])
      try store.store.database.close()
    }
    #expect(try digest(0) == digest(1))
  }

  @Test func `machines that begin a stage at once end it, and have the same`() throws {
    _ = try first(1).store.database.close()
    let errors = Locked([String]())
    DispatchQueue.concurrentPerform(iterations: 2) { number in
      do { try second(number).store.database.close() } catch { errors.withLock { $0.append("\(error)") } }
    }
    #expect(errors.withLock(\.self) == [])
    for number in 0..<2 { try second(number).store.database.close() }
    #expect(try digest(0) == digest(1))
    #expect(
      try Connection(path: scratch.file("1.db"), access: .readOnly).query("SELECT weight FROM gear ORDER BY id").rows
        == [[2], [4], [6], [8]])
  }

  @Test func `values that a stage gives to thousands of rows, each its own, are the same on all machines`() async throws
  {
    let old = try first(1)
    try old.execute(
      """
      WITH RECURSIVE n (i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
      INSERT INTO gear (name, teeth) SELECT 'gear ' || i, i FROM n
      """)
    func third(_ number: Int) throws {
      let store = try ModelContainer(
        for: ThirdSchema.Gear.self, migrationPlan: VaryingPlan.self, configurations: configuration(number))
      let values = try store.query("SELECT count(DISTINCT token), count(DISTINCT size) FROM gear")
      #expect(values.map { [$0.values[0], $0.values[1]] } == [[6001, 6001]])
      try store.store.database.close()
    }
    try third(0)
    await #expect(throws: SharedStoreError.self) { try await old.catchUp() }
    try old.store.database.close()
    try third(1)
    #expect(try digest(0) == digest(1))
    let soon = ContinuousClock.now + .seconds(60)
    let entries = try log.connection().entries(after: 0, limit: 100, by: soon).map { try Entry($0.bytes) }
    #expect(entries.contains { $0.kind == .largeMigration })
    // One that joins later.
    try third(2)
    #expect(try digest(0) == digest(2))
  }

  @Test func `a program that does not share the store changes nothing`() throws {
    let before = try digest(0)
    #expect(throws: DatabaseError.shared(path: scratch.file("0.db"))) {
      try ModelContainer(
        for: SecondSchema.Gear.self, migrationPlan: LightPlan.self,
        configurations: ModelConfiguration(url: URL(filePath: scratch.file("0.db"))))
    }
    #expect(try digest(0) == before)
  }
}

private enum ThirdSchema: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Gear.self] }

  @Model final class Gear {
    @Attribute(.unique) var name: String
    var teeth: Int
    var token = UUID()
    var size = Double.random(in: 0...1)
    init(_ name: String, teeth: Int) {
      self.name = name
      self.teeth = teeth
    }
  }
}

private enum VaryingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [FirstSchema.self, ThirdSchema.self] }
  static let stages = [MigrationStage.lightweight(fromVersion: FirstSchema.self, toVersion: ThirdSchema.self)]
}

private enum LightPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { Plan.schemas }
  static let stages = [MigrationStage.lightweight(fromVersion: FirstSchema.self, toVersion: SecondSchema.self)]
}
