import Quire
import TestSupport
import Testing

@Model(table: "label") private final class LooseLabel {
  var word: String
  var shelf = 0
  init(word: String) { self.word = word }
}

@Model(table: "label") private final class TagLabel {
  #Unique<TagLabel>([\.shelf, \.word])
  @Attribute(.unique) var word: String
  var shelf = 0
  init(word: String) { self.word = word }
}

private enum FirstLabels: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [LooseLabel.self] }
}

private enum UniqueLabels: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [TagLabel.self] }
}

private enum LabelPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [FirstLabels.self, UniqueLabels.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: FirstLabels.self, toVersion: UniqueLabels.self)] }
}

/// A model whose unique values the file does not keep apart.
@Suite @MainActor struct UniqueInFileTests {
  private let file: TemporaryFile

  init() throws {
    file = try TemporaryFile()
    let store = try ModelContainer(for: LooseLabel.self, url: file.url)
    store.mainContext.insert(LooseLabel(word: "a"))
    try store.mainContext.save()
    try store.close()
  }

  @Test func `it is refused, and the statements in the error mend it`() throws {
    let error = try #require(throws: SchemaError.self) { _ = try ModelContainer(for: TagLabel.self, url: file.url) }
    #expect("\(error)".contains("label.word is not UNIQUE in the file, and TagLabel says it is"), "\(error)")
    let statements = "\(error)".split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) }
      .filter { $0.hasPrefix("CREATE UNIQUE INDEX") }
    #expect(
      statements == [
        #"CREATE UNIQUE INDEX "label_word_unique" ON "label" ("word");"#,
        #"CREATE UNIQUE INDEX "label_shelf_word_unique" ON "label" ("shelf", "word");"#,
      ])
    do {
      let maker = try Connection(path: file.url.path, access: .readWrite)
      for sql in statements { try maker.execute(String(sql)) }
    }
    let store = try ModelContainer(for: TagLabel.self, url: file.url)
    store.mainContext.insert(TagLabel(word: "a"))
    #expect(throws: ModelError.self) { try store.mainContext.save() }
    store.mainContext.rollback()
    try store.close()
  }

  @Test func `a plan makes it unique`() throws {
    let store = try ModelContainer(
      for: TagLabel.self, migrationPlan: LabelPlan.self, configurations: ModelConfiguration(url: file.url))
    store.mainContext.insert(TagLabel(word: "a"))
    #expect(throws: ModelError.self) { try store.mainContext.save() }
    store.mainContext.rollback()
    #expect(try store.mainContext.fetch(FetchDescriptor<TagLabel>()).map(\.word) == ["a"])
    try store.close()
  }
}
