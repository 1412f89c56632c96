import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Triggers of the file's own: what they do to the rows of a save is followed, or is an error of the save.
@Suite(.fewAtOnce) struct TriggerTests {
  private func store(_ trigger: String) throws -> (ModelContainer, ModelContext, Volume) {
    let store = try QuireModelTests.store(["Lem": ["first"]])
    let context = ModelContext(store, isolation: nil)
    let first = try context.volume("first")
    first.contributors = [try context.writer("Lem")]
    try context.save()
    try store.execute(SQL(verbatim: "CREATE TRIGGER t \(trigger); END"))
    try context.refresh()
    return (store, context, first)
  }

  private func expectRefused(_ context: ModelContext, _ store: ModelContainer, _ text: String) throws {
    let rows: SQL = "SELECT group_concat(id || title || price) FROM volume"
    let before = try store.value(rows)
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .changedByTrigger(let words)? = error else { throw error! }
    #expect(words.contains(text) && words.hasSuffix("Nothing was saved."), "\(words)")
    #expect(try store.value(rows) == before)
    #expect(context.hasChanges)
    context.rollback()
    try context.save()
  }

  @Test(arguments: [
    "BEFORE INSERT ON volume WHEN new.title = 'new' BEGIN SELECT RAISE(IGNORE)",
    "AFTER INSERT ON volume WHEN new.title = 'new' BEGIN DELETE FROM volume WHERE id = new.id",
    "AFTER INSERT ON volume WHEN new.title = 'new' BEGIN UPDATE volume SET id = new.id + 100 WHERE id = new.id",
  ])
  func `a new object whose row is dropped or moved is an error of its save`(trigger: String) throws {
    let (store, context, first) = try store(trigger)
    for number in 0..<3 { context.insert(Volume(number == 1 ? "new" : "other")) }
    first.price = 3
    try expectRefused(context, store, "new Volume")
    #expect(first.price == 0 && !first.isDeleted)
    let other = Volume("other")
    context.insert(other)
    try context.save()
    #expect(try store.value("SELECT title FROM volume ORDER BY id DESC LIMIT 1") == "other")
  }

  @Test func `an edit or a deletion that is ignored is an error of its save`() throws {
    let (store, context, first) = try store("BEFORE UPDATE ON volume BEGIN SELECT RAISE(IGNORE)")
    first.title = "edited"
    context.insert(Volume("new"))
    try expectRefused(context, store, "Volume 1 was not updated")
    #expect(first.title == "first")
    try store.execute("CREATE TRIGGER d BEFORE DELETE ON volume BEGIN SELECT RAISE(IGNORE); END")
    context.delete(first)
    try expectRefused(context, store, "Volume 1 was not deleted")
    #expect(!first.isDeleted)
  }

  @Test func `a link that is ignored is one too`() throws {
    let (store, context, first) = try store("BEFORE DELETE ON volume_contributors BEGIN SELECT RAISE(IGNORE)")
    first.contributors = []
    try expectRefused(context, store, "was not deleted")
    #expect(first.contributors.count == 1)
  }

  @Test func `inside a transaction only the save's own part is undone`() throws {
    let (store, context, _) = try store("BEFORE INSERT ON volume WHEN new.title = 'new' BEGIN SELECT RAISE(IGNORE)")
    #expect(throws: ModelError.self) { try context.transaction { context.insert(Volume("new")) } }
    #expect(try store.value("SELECT count(*) FROM volume") == 1 && !context.hasChanges)
  }

  @Test func `what triggers write besides is followed`() throws {
    let (store, context, first) = try store(
      """
      AFTER INSERT ON volume BEGIN UPDATE volume SET price = price + 1 WHERE id = new.id; \
      UPDATE volume SET price = price + 10 WHERE id = 1
      """)
    let new = Volume("new")
    context.insert(new)
    try context.save()
    #expect(new.price == 1 && first.price == 10)
    #expect(try store.value("SELECT sum(price) FROM volume") == 11.0)
    context.delete(try context.writer("Lem"))  // its cascade takes the volume, which is edited in the same save
    first.price = 3
    try context.save()
    #expect(first.isDeleted && !new.isDeleted)
  }

  @Test(arguments: [0, 1, 2])
  func `rows that a trigger adds to the same table get the keys behind those of new objects`(form: Int) async throws {
    let store = try QuireModelTests.store(["Lem": ["first"]])
    let context = ModelContext(store, isolation: nil)
    try store.execute(
      """
      CREATE TRIGGER t AFTER INSERT ON volume WHEN new.title NOT LIKE 'index of %' BEGIN \
      INSERT INTO volume (title, price, is_in, writer_id) VALUES ('index of ' || new.title, 0, 1, new.writer_id); END
      """)
    let lem = try context.writer("Lem")
    #expect(lem.volumes.count == 1)
    let new = (1...3).map { Volume("\($0)", writer: lem) }
    for volume in new { context.insert(volume) }
    lem.name = "Stanisław Lem"
    switch form {
    case 0: try context.save()
    case 1: try context.transaction { try context.save() }
    default: try await context.saveWhenReady()
    }
    #expect(new.map(\.persistentModelID.rowKey) == [2, 3, 4] && !context.hasChanges)
    #expect(Set(lem.volumes.map(\.title)) == ["first", "1", "2", "3", "index of 1", "index of 2", "index of 3"])
    #expect(
      try store.value("SELECT group_concat(title) FROM (SELECT title FROM volume WHERE id < 5 ORDER BY id)")
        == "first,1,2,3")
  }

  @Test(arguments: [0, 1, 2])
  func `rows that a trigger adds to the table of other new objects get the keys behind theirs`(form: Int) async throws {
    let store = try ModelContainer(for: Novel.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store, isolation: nil)
    try store.execute(
      "CREATE TRIGGER t AFTER INSERT ON novel BEGIN INSERT INTO chapter (title, place, novel_id) VALUES ('preface', -9, new.id); END"
    )
    let novels = (1...2).map { _ in Novel() }
    for novel in novels {
      context.insert(novel)
      novel.chapters = [Chapter("one"), Chapter("two")]
    }
    let new = novels.flatMap(\.chapters)
    switch form {
    case 0: try context.save()
    case 1: try context.transaction { try context.save() }
    default: try await context.saveWhenReady()
    }
    #expect(new.map(\.persistentModelID.rowKey) == [1, 2, 3, 4] && !context.hasChanges)
    for novel in novels { #expect(novel.chapters.map(\.title) == ["preface", "one", "two"]) }
    #expect(try store.value("SELECT count(*) FROM chapter WHERE id > 4 AND title = 'preface'") == .integer(2))
  }

  @Test func `also where a trigger adds rows to its own table and to that of its targets`() throws {
    let store = try ModelContainer(for: Novel.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store, isolation: nil)
    try store.execute(
      """
      CREATE TRIGGER t AFTER INSERT ON chapter WHEN new.title <> 'index' BEGIN \
      INSERT INTO novel (id) VALUES (NULL); INSERT INTO chapter (title, place) VALUES ('index', 0); END
      """)
    let novel = Novel()
    context.insert(novel)
    novel.chapters = [Chapter("one"), Chapter("two")]
    try context.save()
    #expect(novel.persistentModelID.rowKey == 1 && novel.chapters.map(\.persistentModelID.rowKey) == [1, 2])
    #expect(try context.fetchCount(FetchDescriptor<Novel>()) == 3)
    #expect(try context.fetchCount(FetchDescriptor<Chapter>()) == 4)
  }

  @Test func `also where the new objects of the table refer to each other`() throws {
    let store = try ModelContainer(
      for: Shoot.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store, isolation: nil)
    try store.execute(
      "CREATE TRIGGER t AFTER INSERT ON shoot WHEN new.name <> 'bud' BEGIN INSERT INTO shoot (name, stem_id) VALUES ('bud', new.id); END"
    )
    let stem = Shoot("stem")
    let branch = Shoot("branch", stem)
    context.insert(Shoot("twig", branch))
    try context.save()
    #expect(Set(stem.shoots.map(\.name)) == ["branch", "bud"] && Set(branch.shoots.map(\.name)) == ["twig", "bud"])
    #expect(try store.value("SELECT count(*) FROM shoot") == 6)
  }
}

@Model private final class Shoot {
  var name: String
  var stem: Shoot?
  @Relationship(inverse: \Shoot.stem) var shoots: [Shoot] = []
  init(_ name: String, _ stem: Shoot? = nil) {
    self.name = name
    self.stem = stem
  }
}
