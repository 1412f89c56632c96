import Quire
import Testing

/// What a plan gives the rows of a file, and what it says if it does not have the version that a program asks for.
@Suite struct PlanTests {
  enum First: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Track.self] }
    @Model final class Track {
      var name: String
      init(_ name: String) { self.name = name }
    }
  }

  enum Second: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Track.self] }
    @Model final class Track {
      var name: String
      @Attribute(.unique) var code: UUID = UUID()
      var stars: Int? = 3
      var note: String?
      var isOn = true
      init(_ name: String) { self.name = name }
    }
  }

  enum Third: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Track.self] }
    @Model final class Track {
      var name: String
      var artist = ""
      init(_ name: String) { self.name = name }
    }
  }

  /// A copy of the second version whose number was forgotten.
  enum Copied: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Track.self] }
    @Model final class Track {
      var name: String
      var album = ""
      init(_ name: String) { self.name = name }
    }
  }

  enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, First.self, Second.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
  }

  enum CopiedPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self, Copied.self] }
    static var stages: [MigrationStage] { [] }
  }

  enum ShortPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
  }

  enum GapPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Third.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
  }

  /// Makes objects of the new version where the file still has the old one, as is often tried.
  enum EarlyPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: First.self, toVersion: Second.self,
          willMigrate: { context in
            for track in try context.fetch(FetchDescriptor<First.Track>()) {
              context.insert(Second.Track(track.name))
              context.delete(track)
            }
          }, didMigrate: { _ = try $0.fetchCount(FetchDescriptor<First.Track>()) })
      ]
    }
  }

  /// A file of the first version with rows, given to the body as a configuration.
  private func withFile(rows: Int = 3, _ body: (ModelConfiguration) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-plan-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration(url: folder.appending(path: "tracks.store"))
    try {
      let container = try ModelContainer(for: Schema(versionedSchema: First.self), configurations: configuration)
      let context = ModelContext(container)
      for number in 0..<rows { context.insert(First.Track("\(number)")) }
      try context.save()
    }()
    try body(configuration)
  }

  private func refusal(
    of schema: Schema, _ plan: any SchemaMigrationPlan.Type, _ configuration: ModelConfiguration
  ) -> String {
    do {
      _ = try ModelContainer(for: schema, migrationPlan: plan, configurations: configuration)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test func `rows get a new property's default, each its own where it is another each time`() throws {
    try withFile(rows: 1_000) { configuration in
      let container = try ModelContainer(
        for: Schema(versionedSchema: Second.self), migrationPlan: Plan.self, configurations: configuration)
      let tracks = try ModelContext(container).fetch(FetchDescriptor<Second.Track>())
      #expect(Set(tracks.map(\.code)).count == 1_000 && Set(tracks.map(\.name)).count == 1_000)
      #expect(tracks.allSatisfy { $0.stars == 3 && $0.note == nil && $0.isOn })
    }
  }

  @Test func `a version that is not in the plan is named, and the file is as before`() throws {
    try withFile { configuration in
      for _ in 0..<2 {
        let text = refusal(of: Schema(versionedSchema: Third.self), Plan.self, configuration)
        #expect(text.hasPrefix("the container's schema is version 3.0.0, and the newest of the plan is Second, 2.0.0"))
      }
      _ = try ModelContainer(for: Schema(versionedSchema: First.self), configurations: configuration)
    }
  }

  @Test func `models that no version has are said to be none`() throws {
    try withFile { configuration in
      let text = refusal(of: Schema([Third.Track.self]), Plan.self, configuration)
      #expect(text.contains("track.artist is missing"))
      #expect(
        text.hasSuffix("its newest is Second, 2.0.0: add a version that has them, with a stage that leads to it."))
    }
  }

  @Test func `a reader of a file with stages left is told the version, and that another must open it first`() throws {
    try withFile { configuration in
      let reader = ModelConfiguration(url: configuration.url, allowsSave: false)
      let text = refusal(of: Schema(versionedSchema: Second.self), Plan.self, reader)
      #expect(text.contains("is at First, 1.0.0, and stages are left to be run to Second, 2.0.0, but allowsSave is"))
      _ = try ModelContainer(
        for: Schema(versionedSchema: Second.self), migrationPlan: Plan.self, configurations: configuration)
      let tracks = try ModelContext(
        ModelContainer(for: Schema(versionedSchema: Second.self), migrationPlan: Plan.self, configurations: reader)
      ).fetch(FetchDescriptor<Second.Track>())
      #expect(tracks.count == 3)
    }
  }

  @Test func `a container whose plan was forgotten says so, with the version that the file is at`() throws {
    try withFile { configuration in
      _ = try ModelContainer(
        for: Schema(versionedSchema: First.self), migrationPlan: Plan.self, configurations: configuration)
      let early = #expect(throws: SchemaError.self) {
        try ModelContainer(for: Second.Track.self, configurations: configuration)
      }
      // A version is recorded with a file's first stage, or when a plan makes the file.
      #expect(early?.description.hasSuffix("a migrationPlan), or open it with the models it was made with.") == true)
      _ = try ModelContainer(
        for: Schema(versionedSchema: Second.self), migrationPlan: Plan.self, configurations: configuration)
      let error = #expect(throws: SchemaError.self) {
        try ModelContainer(for: Third.Track.self, configurations: configuration)
      }
      #expect(error?.description.contains("is at version 2.0.0 of a migration plan: open it with the plan") == true)
      #expect(error?.remedies == [] && error?.differences.isEmpty == false)
    }
  }

  @Test func `two versions of one number are named`() throws {
    try withFile { configuration in
      let text = refusal(of: Schema(versionedSchema: Copied.self), CopiedPlan.self, configuration)
      #expect(text.hasPrefix("Second and Copied of the plan are both version 2.0.0"))
    }
  }

  @Test func `an object of another version's class is told from the one that is meant`() throws {
    try withFile { configuration in
      let text = refusal(of: Schema(versionedSchema: Second.self), EarlyPlan.self, configuration)
      #expect(
        text.contains("PlanTests.Second.Track, unlike PlanTests.First.Track, is not one of this container's models"))
      let context = ModelContext(
        try ModelContainer(for: Schema(versionedSchema: First.self), configurations: configuration))
      #expect(try context.fetchCount(FetchDescriptor<First.Track>()) == 3)
      let error = #expect(throws: ModelError.self) { try context.fetch(FetchDescriptor<Second.Track>()) }
      #expect(error.map { "\($0)" }?.hasPrefix("PlanTests.Second.Track, unlike PlanTests.First.Track, is") == true)
    }
  }

  @Test func `a stage to a version that the plan does not list is named`() throws {
    try withFile { configuration in
      let short = refusal(of: Schema(versionedSchema: Second.self), ShortPlan.self, configuration)
      #expect(short.contains("schema is version 2.0.0, and the newest of the plan is First, 1.0.0"))
      let gap = refusal(of: Schema(versionedSchema: Third.self), GapPlan.self, configuration)
      #expect(
        gap.hasPrefix("a stage of the plan leads to Second, version 2.0.0, which is not among the plan's schemas"))
    }
  }
}
