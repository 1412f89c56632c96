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
