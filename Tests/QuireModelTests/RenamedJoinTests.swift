import Quire
import TestSupport
import Testing

/// A many-to-many relationship keeps its pairs in a stage that renames its classes, its properties or its table.
@Suite(.fewAtOnce) struct RenamedJoinTests {
  @Test func `classes and properties that are called otherwise keep their pairs`() throws {
    let file = try TemporaryFile()
    try makeFirst(file)
    let store = try ModelContainer(
      for: Schema(versionedSchema: ToursV2.self), migrationPlan: FirstStage.self,
      configurations: ModelConfiguration(url: file.url))
    let context = ModelContext(store)
    let journeys = try context.fetch(FetchDescriptor<ToursV2.Journey>(sortBy: [SortDescriptor(\.title)]))
    #expect(journeys.map { $0.labels.map(\.name).sorted() } == [["far", "long"], ["far"]])
    #expect(journeys.map { $0.next.map(\.title) } == [["Rome"], []])
    #expect(try tables(store) == ["journey_labels", "journey_next"])
  }

  @Test func `a side that names the other now, and renames the table by it, keeps the pairs`() throws {
    let file = try TemporaryFile()
    try makeFirst(file)
    let store = try ModelContainer(
      for: Schema(versionedSchema: ToursV3.self), migrationPlan: ToursPlan.self,
      configurations: ModelConfiguration(url: file.url))
    let context = ModelContext(store)
    let labels = try context.fetch(FetchDescriptor<ToursV3.Label>(sortBy: [SortDescriptor(\.name)]))
    #expect(labels.map(\.name) == ["far", "long"])
    #expect(labels.map { $0.journeys.map(\.title).sorted() } == [["Oslo", "Rome"], ["Oslo"]])
    let oslo = try #require(labels.last?.journeys.first)
    #expect(oslo.next.map(\.title) == ["Rome"] && oslo.previous.isEmpty)
    #expect(try tables(store) == ["journey_previous", "label_journeys"])
  }

  private func makeFirst(_ file: TemporaryFile) throws {
    let store = try ModelContainer(
      for: Schema(versionedSchema: ToursV1.self), configurations: ModelConfiguration(url: file.url))
    let context = ModelContext(store)
    let (oslo, rome) = (ToursV1.Trip("Oslo"), ToursV1.Trip("Rome"))
    let (far, long) = (ToursV1.Tag("far"), ToursV1.Tag("long"))
    for trip in [oslo, rome] { context.insert(trip) }
    (oslo.tags, rome.tags) = ([long, far], [far])
    oslo.next = [rome]
    try context.save()
  }

  private func tables(_ store: ModelContainer) throws -> [SQLValue] {
    try store.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%WITHOUT ROWID' ORDER BY 1")
      .map { $0["name"] }
  }
}

private enum ToursV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, Tag.self] }
  @Model final class Trip {
    var name: String
    @Relationship(inverse: \Tag.trips) var tags: [Tag] = []
    @Relationship(inverse: \Trip.previous) var next: [Trip] = []
    var previous: [Trip] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Tag {
    var name: String
    var trips: [Trip] = []
    init(_ name: String) { self.name = name }
  }
}

private enum ToursV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Journey.self, Label.self] }
  @Model(table: "trip") final class Journey {
    @Attribute(originalName: "name") var title: String
    @Relationship(originalName: "tags", inverse: \Label.journeys) var labels: [Label] = []
    @Relationship(inverse: \Journey.previous) var next: [Journey] = []
    var previous: [Journey] = []
    init(_ title: String) { self.title = title }
  }
  @Model(table: "tag") final class Label {
    var name: String
    @Relationship(originalName: "trips") var journeys: [Journey] = []
    init(_ name: String) { self.name = name }
  }
}

private enum ToursV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Journey.self, Label.self] }
  @Model(table: "trip") final class Journey {
    var title: String
    var labels: [Label] = []
    var next: [Journey] = []
    @Relationship(inverse: \Journey.next) var previous: [Journey] = []
    init(_ title: String) { self.title = title }
  }
  @Model(table: "tag") final class Label {
    var name: String
    @Relationship(inverse: \Journey.labels) var journeys: [Journey] = []
    init(_ name: String) { self.name = name }
  }
}

private enum FirstStage: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ToursV1.self, ToursV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: ToursV1.self, toVersion: ToursV2.self)] }
}

private enum ToursPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ToursV1.self, ToursV2.self, ToursV3.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: ToursV1.self, toVersion: ToursV2.self),
      .lightweight(fromVersion: ToursV2.self, toVersion: ToursV3.self),
    ]
  }
}
