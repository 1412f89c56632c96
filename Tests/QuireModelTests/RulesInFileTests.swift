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

@Model(table: "drawer") private final class OpenDrawer {
  var name = "upper"
  @Relationship(inverse: \LooseSpoon.drawer) var spoons: [LooseSpoon] = []
  init() {}
}

@Model(table: "spoon") private final class LooseSpoon {
  var drawer: OpenDrawer?
  init() {}
}

@Model(table: "drawer") private final class SharedDrawer {
  var name = "upper"
  @Relationship(deleteRule: .cascade, inverse: \SharedSpoon.drawer) var spoons: [SharedSpoon] = []
  init() {}
}

@Model(table: "spoon") private final class SharedSpoon {
  var drawer: SharedDrawer?
  init() {}
}

@Model(table: "drawer") private final class FullDrawer {
  var name = "upper"
  @Relationship(deleteRule: .deny, inverse: \KeptSpoon.drawer) var spoons: [KeptSpoon] = []
  init() {}
}

@Model(table: "spoon") private final class KeptSpoon {
  var drawer: FullDrawer?
  init() {}
}

private enum FirstDrawers: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [OpenDrawer.self, LooseSpoon.self] }
}

private enum CascadingDrawers: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [SharedDrawer.self, SharedSpoon.self] }
}

private enum DrawerPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [FirstDrawers.self, CascadingDrawers.self] }
  static var stages: [MigrationStage] { [] }
}

/// A model whose delete rule is another one than that of the file's foreign key.
@Suite @MainActor struct DeleteRuleInFileTests {
  private let file: TemporaryFile

  init() throws {
    file = try TemporaryFile()
    let store = try ModelContainer(for: OpenDrawer.self, LooseSpoon.self, url: file.url)
    let drawer = OpenDrawer()
    drawer.spoons = [LooseSpoon(), LooseSpoon()]
    store.mainContext.insert(drawer)
    try store.mainContext.save()
    try store.close()
  }

  @Test func `a cascade that the file would not make is refused, and a plan makes it`() throws {
    let error = try #require(throws: SchemaError.self) {
      _ = try ModelContainer(for: SharedDrawer.self, SharedSpoon.self, url: file.url)
    }
    #expect(
      "\(error)".contains(
        "spoon.drawer_id has ON DELETE SET NULL in the file, and the delete rule of SharedDrawer.spoons is .cascade"),
      "\(error)")
    let store = try ModelContainer(
      for: SharedDrawer.self, SharedSpoon.self, migrationPlan: DrawerPlan.self,
      configurations: ModelConfiguration(url: file.url))
    let drawers = try store.mainContext.fetch(FetchDescriptor<SharedDrawer>())
    #expect(drawers.count == 1 && drawers[0].spoons.count == 2)
    store.mainContext.delete(drawers[0])
    try store.mainContext.save()
    #expect(try store.mainContext.fetchCount(FetchDescriptor<SharedSpoon>()) == 0)
    try store.close()
  }

  @Test(arguments: [
    ("REFERENCES drawer ON DELETE CASCADE", "has ON DELETE CASCADE"), ("", nil),
    ("REFERENCES drawer", nil), ("REFERENCES drawer ON DELETE RESTRICT", nil),
  ])
  func `a deletion that the file would not prevent is refused`(reference: String, found: String?) throws {
    do {
      let maker = try Connection(path: file.url.path, access: .readWrite)
      try maker.execute(
        "DROP TABLE spoon; CREATE TABLE spoon (id INTEGER PRIMARY KEY, drawer_id INTEGER \(reference))")
    }
    let open = { try ModelContainer(for: FullDrawer.self, KeptSpoon.self, url: file.url).close() }
    guard let found else { return try open() }
    let error = try #require(throws: SchemaError.self) { try open() }
    #expect(
      "\(error)".contains("spoon.drawer_id \(found) in the file, and the delete rule of FullDrawer.spoons is .deny"))
  }
}
