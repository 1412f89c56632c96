import Quire
import Synchronization
import Testing

/// A plan's stages, run on files of each version.
@Suite struct VersionTests {
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "quire-versions-\(UUID().uuidString)")
    var file: URL { url.appending(path: "chores.store") }
    deinit { try? FileManager.default.removeItem(at: url) }
  }

  /// A file as the first version of the program left it.
  private func first(_ file: URL) throws {
    let container = try ModelContainer(for: ChoresSchemaV1.Chore.self, ChoresSchemaV1.Room.self, url: file)
    let context = ModelContext(container)
    let kitchen = ChoresSchemaV1.Room(name: "Kitchen")
    for name in ["Sweep", "Dust", "Sweep"] {
      let chore = ChoresSchemaV1.Chore(name: name, minutes: name.count)
      chore.room = kitchen
      context.insert(chore)
    }
    try context.save()
  }

  private func open(_ file: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: ChoresSchemaV3.self), migrationPlan: ChoresMigrationPlan.self,
      configurations: ModelConfiguration(url: file))
  }

  @Test func `a file of the first version goes through both stages, and keeps its rows`() throws {
    let folder = Folder()
    try first(folder.file)
    for _ in 0..<2 {
      let container = try open(folder.file)
      let context = ModelContext(container)
      let chores = try context.fetch(FetchDescriptor<Chore>(sortBy: [SortDescriptor(\.title)]))
      #expect(chores.map(\.title) == ["Dust", "Sweep"] && chores.map(\.minutes) == [4, 5])
      #expect(chores.allSatisfy { $0.room?.name == "Kitchen" && !$0.isDaily })
      #expect(try container.query("SELECT version FROM _quire_version").map(\.values) == [["3.0.0"]])
      #expect(
        try container.query("SELECT sql FROM sqlite_schema WHERE name = 'chore'").map(\.values).first?.first?
          .description.contains(
            "UNIQUE")
          == true)
    }
  }

  @Test func `a new file is of the newest version, and its version is written down`() throws {
    let folder = Folder()
    let container = try open(folder.file)
    #expect(try container.query("SELECT version FROM _quire_version").map(\.values) == [["3.0.0"]])
    #expect(try container.query("SELECT count(*) FROM chore").map(\.values) == [[0]])
  }

  /// The container of most apps: types and a plan, where only the plan tells of versions.
  private func openTypes(_ file: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Chore.self, Room.self, migrationPlan: ChoresMigrationPlan.self,
      configurations: ModelConfiguration(url: file))
  }

  @Test func `a new file of a container that is made of types is of the version with these models`() throws {
    let folder = Folder()
    for count in 1...3 {
      let container = try openTypes(folder.file)
      let context = ModelContext(container)
      context.insert(Chore(title: "Sweep \(count)", minutes: 1))
      try context.save()
      #expect(try context.fetchCount(FetchDescriptor<Chore>()) == count)
      #expect(try container.query("SELECT version FROM _quire_version").map(\.values) == [["3.0.0"]])
    }
  }

  @Test func `a file that has the number of the first version, and the tables of another, is of the other`() throws {
    for isNewest in [true, false] {
      let folder = Folder()
      if isNewest {
        let container = try openTypes(folder.file)
        try container.execute("INSERT INTO chore (title, minutes, is_daily) VALUES ('Sweep', 1, 0)")
        try container.execute("UPDATE _quire_version SET version = '1.0.0'")
      } else {
        let container = try ModelContainer(for: ChoresSchemaV2.Chore.self, ChoresSchemaV2.Room.self, url: folder.file)
        try container.execute("INSERT INTO chore (title, minutes, is_daily) VALUES ('Sweep', 1, 0)")
        try container.execute("CREATE TABLE _quire_version (version TEXT NOT NULL) STRICT")
        try container.execute("INSERT INTO _quire_version VALUES ('1.0.0')")
      }
      for _ in 0..<2 {
        let context = ModelContext(try openTypes(folder.file))
        #expect(try context.fetch(FetchDescriptor<Chore>()).map(\.title) == ["Sweep"])
      }
    }
  }

  @Test func `a container of a version in the middle of the plan takes a file there, and no further`() throws {
    let folder = Folder()
    try first(folder.file)
    for _ in 0..<2 {
      let container = try ModelContainer(
        for: Schema(versionedSchema: ChoresSchemaV2.self), migrationPlan: ChoresMigrationPlan.self,
        configurations: ModelConfiguration(url: folder.file))
      let chores = try ModelContext(container).fetch(FetchDescriptor<ChoresSchemaV2.Chore>())
      #expect(chores.map(\.title) == ["Sweep", "Dust", "Sweep"])
      #expect(try container.query("SELECT version FROM _quire_version").map(\.values) == [["2.0.0"]])
    }
    _ = try open(folder.file)
    // And a file of a newer version stays what it is.
    let error = #expect(throws: SchemaError.self) {
      try ModelContainer(
        for: Schema(versionedSchema: ChoresSchemaV1.self), migrationPlan: ChoresMigrationPlan.self,
        configurations: ModelConfiguration(url: folder.file))
    }
    #expect(error?.differences.isEmpty == false)
    let text = error?.description ?? ""
    #expect(text.contains("The file is at ChoresSchemaV3, 3.0.0") && text.contains("those of ChoresSchemaV1, 1.0.0"))
    #expect(text.contains("A plan leads to newer versions only"))
    #expect(!text.contains("ALTER TABLE"))
    #expect(try ModelContext(open(folder.file)).fetchCount(FetchDescriptor<Chore>()) == 2)
  }

  @Test func `a plan without stages goes from version to version by the difference of their models`() throws {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { ChoresMigrationPlan.schemas }
      static var stages: [MigrationStage] { [] }
    }
    let folder = Folder()
    do {
      let container = try ModelContainer(for: ChoresSchemaV1.Chore.self, ChoresSchemaV1.Room.self, url: folder.file)
      try container.execute("INSERT INTO chore (name, minutes) VALUES ('Sweep', 3)")
    }
    for _ in 0..<2 {
      let container = try ModelContainer(
        for: Chore.self, Room.self, migrationPlan: Plan.self, configurations: ModelConfiguration(url: folder.file))
      #expect(try container.query("SELECT title, minutes, is_daily FROM chore").map(\.values) == [["Sweep", 3, 0]])
      #expect(try container.query("SELECT version FROM _quire_version").map(\.values) == [["3.0.0"]])
    }
  }

  @Test func `a stage whose rows do not fit changes nothing`() throws {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] {
        [ChoresSchemaV1.self, ChoresSchemaV2.self, ChoresSchemaV3.self]
      }
      static var stages: [MigrationStage] {
        [
          .lightweight(fromVersion: ChoresSchemaV1.self, toVersion: ChoresSchemaV2.self),
          .lightweight(fromVersion: ChoresSchemaV2.self, toVersion: ChoresSchemaV3.self),
        ]
      }
    }
    let folder = Folder()
    try first(folder.file)
    for _ in 0..<2 {
      let error = #expect(throws: SchemaError.self) {
        try ModelContainer(
          for: Schema(versionedSchema: ChoresSchemaV3.self), migrationPlan: Plan.self,
          configurations: ModelConfiguration(url: folder.file))
      }
      #expect(
        "\(error as Any)".contains("version 3.0.0 wants Chore.title to be unique, and rows have the same"))
    }
    let container = try ModelContainer(
      for: ChoresSchemaV2.Chore.self, ChoresSchemaV2.Room.self, url: folder.file)
    #expect(
      try container.query("SELECT title FROM chore ORDER BY id").map(\.values) == [["Sweep"], ["Dust"], ["Sweep"]])
    #expect(try container.query("SELECT version FROM _quire_version").map(\.values) == [["2.0.0"]])
  }

  @Test func `what the closures of a stage leave unsaved is saved`() throws {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [ChoresSchemaV2.self, ChoresSchemaV3.self] }
      static var stages: [MigrationStage] {
        [
          .custom(
            fromVersion: ChoresSchemaV2.self, toVersion: ChoresSchemaV3.self,
            willMigrate: { context in
              let chores = try context.fetch(FetchDescriptor<ChoresSchemaV2.Chore>(sortBy: [SortDescriptor(\.minutes)]))
              chores.dropFirst().forEach { context.delete($0) }
            },
            didMigrate: { context in
              context.insert(ChoresSchemaV3.Chore(title: "Mop", minutes: 9))
              for chore in try context.fetch(FetchDescriptor<ChoresSchemaV3.Chore>()) { chore.isDaily = true }
            })
        ]
      }
    }
    let folder = Folder()
    do {
      let container = try ModelContainer(for: ChoresSchemaV2.Chore.self, ChoresSchemaV2.Room.self, url: folder.file)
      let context = ModelContext(container)
      for minutes in 1...3 { context.insert(ChoresSchemaV2.Chore(title: "Sweep", minutes: minutes)) }
      try context.save()
    }
    let container = try ModelContainer(
      for: Schema(versionedSchema: ChoresSchemaV3.self), migrationPlan: Plan.self,
      configurations: ModelConfiguration(url: folder.file))
    #expect(
      try container.query("SELECT title, minutes, is_daily FROM chore ORDER BY id").map(\.values)
        == [["Sweep", 1, 1], ["Mop", 9, 1]])
  }

  /// What the closures of ``Counted`` have done, and whether the last one is to fail.
  private static let calls = Mutex((will: 0, did: 0, fails: false))

  private enum Counted: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { ChoresMigrationPlan.schemas }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: ChoresSchemaV1.self, toVersion: ChoresSchemaV2.self,
          willMigrate: { _ in VersionTests.calls.withLock { $0.will += 1 } },
          didMigrate: { context in
            let fails = VersionTests.calls.withLock { calls in
              calls.did += 1
              return calls.fails
            }
            for chore in try context.fetch(FetchDescriptor<ChoresSchemaV2.Chore>()) {
              chore.isDaily = chore.minutes > 4
            }
            if fails { throw CancellationError() }
            try context.save()
          }), ChoresMigrationPlan.v2ToV3,
      ]
    }

    static func open(_ file: URL) throws -> ModelContainer {
      try ModelContainer(
        for: Schema(versionedSchema: ChoresSchemaV3.self), migrationPlan: Counted.self,
        configurations: ModelConfiguration(url: file))
    }
  }

  @Test func `a closure after a stage that did not end runs again, and several that open a file migrate it once`()
    async throws
  {
    let folder = Folder()
    try first(folder.file)
    VersionTests.calls.withLock { $0.fails = true }
    #expect(throws: CancellationError.self) { try Counted.open(folder.file) }
    do {
      let connection = try Connection(path: folder.file.path, access: .readOnly)
      #expect(try connection.query("SELECT version FROM _quire_version").rows == [["2.0.0"]])
      #expect(try connection.query("SELECT version FROM _quire_stage").rows == [["1.0.0"]])
    }
    VersionTests.calls.withLock { $0.fails = false }
    let other = Folder()
    try first(other.file)
    for (file, calls) in [(folder.file, (1, 2)), (other.file, (2, 3))] {
      try await withThrowingTaskGroup(of: [Bool].self) { group in
        for _ in 0..<4 {
          group.addTask {
            let context = ModelContext(try Counted.open(file))
            return try context.fetch(FetchDescriptor<Chore>(sortBy: [SortDescriptor(\.title)])).map(\.isDaily)
          }
        }
        for try await found in group { #expect(found == [false, true]) }
      }
      #expect(VersionTests.calls.withLock { ($0.will, $0.did) } == calls)
      let connection = try Connection(path: file.path, access: .readOnly)
      #expect(try connection.query("SELECT name FROM sqlite_schema WHERE name = '_quire_stage'").rows.isEmpty)
    }
  }

  @Test func `rows that referred to nothing before do not stop a stage`() throws {
    let folder = Folder()
    try first(folder.file)
    do {
      let connection = try Connection(migrating: folder.file.path, access: .readWrite, busyTimeout: .zero)
      try connection.execute("PRAGMA foreign_keys = OFF")
      try connection.execute("DELETE FROM room")
    }
    let context = ModelContext(try open(folder.file))
    #expect(try context.fetchCount(FetchDescriptor<Chore>()) == 2)
  }

  @Test func `a version that the plan does not know is refused by name`() throws {
    let folder = Folder()
    do {
      let container = try open(folder.file)
      try container.execute("UPDATE _quire_version SET version = '9.0.0'")
    }
    let error = #expect(throws: SchemaError.self) { try open(folder.file) }
    #expect(error?.description.contains("9.0.0") == true)
  }

  @Test func `without a plan the differences come with the SQL that mends them`() throws {
    let folder = Folder()
    try first(folder.file)
    let error = #expect(throws: SchemaError.self) {
      try ModelContainer(for: ChoresSchemaV2.Chore.self, ChoresSchemaV2.Room.self, url: folder.file)
    }
    // title, is_daily, and name, which nothing fills any longer
    #expect(error?.differences.count == 3)
    let remedies = try #require(error).remedies
    #expect(remedies.count == 2)
    let connection = try Connection(path: folder.file.path, access: .readWrite)
    for statement in remedies { try connection.execute(statement) }
    let container = try ModelContainer(for: ChoresSchemaV2.Chore.self, ChoresSchemaV2.Room.self, url: folder.file)
    #expect(
      try container.query("SELECT title, is_daily FROM chore ORDER BY id LIMIT 1").map(\.values) == [["Sweep", 0]])
  }
}
