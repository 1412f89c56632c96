import Foundation
import Quire
import TestSupport
import Testing

/// What the change log has of a property under its former name.
@Suite(.fewAtOnce) struct RenamedHistoryTests {
  private typealias Folio = FolioV2.Folio

  private let keeper: Scratch
  /// The file at version 2, and the end of the log before the commits of version 1.
  private let store: ModelContainer
  private let begin: CommitToken

  /// Four commits of version 1: insert, rename, another property, delete.
  init() throws {
    keeper = try Scratch()
    let configuration = ModelConfiguration(url: URL(filePath: keeper.file()), changeLog: .on())
    let first = try ModelContainer(for: FolioV1.Folio.self, configurations: configuration)
    begin = try #require(first.latestToken)
    let context = ModelContext(first)
    let folio = FolioV1.Folio(name: "first")
    context.insert(folio)
    try context.save()
    folio.name = "second"
    try context.save()
    folio.pages = 2
    try context.save()
    context.delete(folio)
    try context.save()
    store = try ModelContainer(
      for: Schema(versionedSchema: FolioV2.self), migrationPlan: FolioPlan.self, configurations: configuration)
  }

  @Test func `history names the property as the models do now, and a tombstone has its value`() throws {
    let history = try ModelContext(store).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let changes = history.flatMap(\.changes)
    try #require(changes.count == 4)
    guard case .insert = changes[0], case .update(let renamed as DefaultHistoryUpdate<Folio>) = changes[1],
      case .update(let other as DefaultHistoryUpdate<Folio>) = changes[2],
      case .delete(let deleted as DefaultHistoryDelete<Folio>) = changes[3]
    else {
      Issue.record("\(changes)")
      return
    }
    #expect(renamed.updatedAttributes == [\.title] && other.updatedAttributes == [\.pages])
    #expect(deleted.tombstone[\.title] as? String == "second")
  }

  @Test func `commits have the value, and a subscriber of the property receives its changes`() async throws {
    var seen: [String] = []
    for try await commit in try store.commits(of: Folio.self, changing: \.title, after: begin) {
      seen += commit.changes.map { "\($0.kind) \($0.old?.title ?? "-") \($0.new?.title ?? "-")" }
      if commit.rowsUnknown || seen.count == 3 { break }
    }
    #expect(seen == ["insert - first", "update first second", "delete second -"])
  }
}

/// What the change log has of pairs whose table, classes and properties had other names.
@Suite(.fewAtOnce) struct RenamedPairsHistoryTests {
  @Test func `history has the relationships of objects whose classes and properties are called otherwise`() throws {
    let keeper = try Scratch()
    let configuration = ModelConfiguration(url: URL(filePath: keeper.file()), changeLog: .on())
    do {
      let store = try ModelContainer(for: Schema(versionedSchema: SheafV1.self), configurations: configuration)
      let context = ModelContext(store)
      let (one, two, mark) = (SheafV1.Sheaf("one"), SheafV1.Sheaf("two"), SheafV1.Mark("red"))
      for sheaf in [one, two] { context.insert(sheaf) }
      context.insert(mark)
      try context.save()
      one.marks = [mark]
      try context.save()
      two.next = [one]
      try context.save()
      context.delete(mark)
      try context.save()
    }
    let store = try ModelContainer(
      for: Schema(versionedSchema: SheafV2.self), migrationPlan: SheafPlan.self, configurations: configuration)
    let history = try ModelContext(store).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let seen = history.map { $0.changes.map(described) }.filter { !$0.isEmpty }
    let (batch, label) = ("Batch", "Label")
    #expect(
      seen == [
        ["insert \(batch) 1", "insert \(batch) 2", "insert \(label) 1"],
        ["\(batch) 1 labels", "\(label) 1 batches"],
        ["\(batch) 1 previous", "\(batch) 2 following"],
        ["delete \(label) 1", "\(batch) 1 labels"],
      ])
  }

  private func described(_ change: HistoryChange) -> String {
    let id = change.changedPersistentIdentifier
    let name = "\(id.entityName) \(id.rowKey ?? 0)"
    switch change {
    case .insert: return "insert \(name)"
    case .delete: return "delete \(name)"
    case .update(let update as DefaultHistoryUpdate<SheafV2.Batch>):
      let names: [(PartialKeyPath<SheafV2.Batch>, String)] = [
        (\.labels, "labels"), (\.following, "following"), (\.previous, "previous"),
      ]
      return name + names.filter { update.updatedAttributes.contains($0.0) }.map { " " + $0.1 }.joined()
    case .update(let update as DefaultHistoryUpdate<SheafV2.Label>):
      return name + (update.updatedAttributes == [\.batches] ? " batches" : "?")
    case .update: return "?"
    }
  }
}

private enum SheafV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Sheaf.self, Mark.self] }
  @Model final class Sheaf {
    var name: String
    @Relationship(inverse: \Mark.sheaves) var marks: [Mark] = []
    @Relationship(inverse: \Sheaf.previous) var next: [Sheaf] = []
    var previous: [Sheaf] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Mark {
    var word: String
    var sheaves: [Sheaf] = []
    init(_ word: String) { self.word = word }
  }
}

private enum SheafV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Batch.self, Label.self] }
  @Model(table: "sheaf") final class Batch {
    var name: String
    @Relationship(originalName: "marks") var labels: [Label] = []
    @Relationship(originalName: "next") var following: [Batch] = []
    @Relationship(inverse: \Batch.following) var previous: [Batch] = []
    init(_ name: String) { self.name = name }
  }
  @Model(table: "mark") final class Label {
    var word: String
    @Relationship(originalName: "sheaves", inverse: \Batch.labels) var batches: [Batch] = []
    init(_ word: String) { self.word = word }
  }
}

private enum SheafPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SheafV1.self, SheafV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: SheafV1.self, toVersion: SheafV2.self)] }
}

private enum FolioV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Folio.self] }
  @Model final class Folio {
    var name: String
    var pages = 1
    init(name: String) { self.name = name }
  }
}

private enum FolioV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Folio.self] }
  @Model final class Folio {
    @Attribute(.preserveValueOnDeletion, originalName: "name") var title: String
    var pages = 1
    init(title: String) { self.title = title }
  }
}

private enum FolioPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [FolioV1.self, FolioV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: FolioV1.self, toVersion: FolioV2.self)] }
}
