import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

/// Words in an index that follows its rows, whoever writes them.
@Suite(.fewAtOnce) struct FullTextTests {
  let folder = FileManager.default.temporaryDirectory.appending(path: "quire-fulltext-\(UUID().uuidString)")
  var file: URL { folder.appending(path: "books.db") }

  private func open() throws -> ModelContainer { try ModelContainer(for: Tale.self, url: file) }

  private func filled() throws -> (ModelContainer, ModelContext) {
    let store = try open()
    let context = ModelContext(store)
    for (title, summary, year) in [
      ("Dune", "Sand, spice and a boy", 1965), ("Dune Messiah", nil, 1969),
      ("Solaris", "An ocean that thinks of dunes", 1961),
      ("Über allen Gipfeln", "a night song", 1780),
    ] { context.insert(Tale(title, summary, year)) }
    try context.save()
    return (store, context)
  }

  private func titles(_ context: ModelContext, _ descriptor: FetchDescriptor<Tale>) throws -> [String] {
    try context.fetch(descriptor).map(\.title)
  }

  @Test func `words are found in all properties, the best first`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (_, context) = try filled()
    #expect(try titles(context, Tale.search("dune")) == ["Dune Messiah", "Dune"])
    #expect(try titles(context, Tale.search("messiah DUNE")) == ["Dune Messiah"])
    #expect(try titles(context, Tale.search("uber")) == ["Über allen Gipfeln"])
    #expect(try titles(context, Tale.search(.beginning("oce"))) == ["Solaris"])
    #expect(try titles(context, Tale.search("oce")).isEmpty)
    #expect(try titles(context, Tale.search(.phrase("a night song"))) == ["Über allen Gipfeln"])
    #expect(try titles(context, Tale.search(.phrase("song night"))).isEmpty)
    #expect(Set(try titles(context, Tale.search(.anyWord("messiah ocean")))) == ["Dune Messiah", "Solaris"])
    #expect(try titles(context, Tale.search(.fts5("title : dune NOT messiah"))) == ["Dune"])
  }

  @Test func `a file that another process has only just created is opened`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data().write(to: file)
    let (_, context) = try filled()
    #expect(try titles(context, Tale.search("spice")) == ["Dune"])
  }

  @Test func `a search is a descriptor: filtered, ordered, limited, counted`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (_, context) = try filled()
    var search = Tale.search("dune")
    search.predicate = #Predicate { $0.year < 1969 }
    #expect(try titles(context, search) == ["Dune"])
    search.predicate = nil
    search.sortBy = [SortDescriptor(\.year)]
    #expect(try titles(context, search) == ["Dune", "Dune Messiah"])
    search.fetchOffset = 1
    search.fetchLimit = 5
    #expect(try titles(context, search) == ["Dune Messiah"])
    #expect(try context.fetchCount(search) == 1)
    #expect(try context.fetchIdentifiers(search).compactMap(\.rowKey) == [2])
    #expect(try context.fetch(Tale.search("dune"), batchSize: 1).map(\.title).count == 2)
  }

  @Test(arguments: [
    "", " ", "\"", "dune\"", "dune OR", "(", "title:", "*", "-", "dune AND (", "\0", "dune\0", "NEAR(", "^", "'",
  ])
  func `whatever is typed is looked for, and is no command`(text: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (_, context) = try filled()
    for query in [FullTextQuery.words(text), .beginning(text), .anyWord(text), .phrase(text)] {
      #expect(try context.fetchCount(Tale.search(query)) <= 3)
    }
  }

  @Test func `what FTS5 refuses is a query that cannot be asked`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (_, context) = try filled()
    for text in ["dune AND", "author : dune", "\"dune"] {
      let error = #expect(throws: ModelError.self) { try context.fetch(Tale.search(.fts5(text))) }
      guard case .query(let sentence)? = error else { throw error! }
      #expect(sentence.contains(text))
    }
    let other = ModelContext(try store())
    #expect(throws: ModelError.self) { try other.fetch(Volume.search("dune")) }
    #expect(throws: ModelError.self) { try other.live(Volume.search("dune")) }
  }

  @Test func `the index follows saves, SQL and other programs, and what is rolled back is not in it`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (store, context) = try filled()
    let dune = try #require(try context.fetch(Tale.search("spice")).first)
    dune.summary = "worms"
    #expect(try context.fetchCount(Tale.search("worms")) == 0)  // not saved yet
    try context.save()
    #expect(try context.fetch(Tale.search("worms")).first === dune)
    #expect(try context.fetchCount(Tale.search("spice")) == 0)
    try store.execute("UPDATE tale SET title = 'Arrakis' WHERE id = 1")
    #expect(try titles(context, Tale.search("arrakis worms")) == ["Arrakis"])
    context.delete(dune)
    try context.save()
    #expect(try context.fetchCount(Tale.search("worms")) == 0)
    #expect(throws: (any Error).self) {
      try store.writeSQL { transaction in
        _ = try transaction.connection.execute("UPDATE tale SET title = 'Eden'")
        throw CancellationError()
      }
    }
    #expect(try context.fetchCount(Tale.search("eden")) == 0)
    let shell = try Connection(path: file.path, access: .readWrite, options: trusting)
    try shell.execute("INSERT INTO tale (title, year) VALUES ('Fiasco', 1986)")
    #expect(try titles(context, Tale.search("fiasco")) == ["Fiasco"])
    try store.execute("INSERT INTO tale_search(tale_search, rank) VALUES ('integrity-check', 1)")
  }

  private var trusting: ConnectionOptions {
    var options = ConnectionOptions()
    options.trustsSchema = true
    return options
  }

  @Test func `random writes leave the index as one that is made anew`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let seed = extraSeed
    var random = Random(seed: seed)
    let store = try open()
    let context = ModelContext(store)
    let words = ["dune", "eden", "ubik", "solaris", "fiasco"]
    func text() -> String { (0..<3).map { _ in words.randomElement(using: &random)! }.joined(separator: " ") }
    for step in 0..<60 {
      let tales = try context.fetch(FetchDescriptor<Tale>())
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: context.insert(Tale(text(), Bool.random(using: &random) ? text() : nil, step))
      case 2: tales.randomElement(using: &random)?.title = text()
      case 3: if let tale = tales.randomElement(using: &random) { context.delete(tale) }
      default:
        try store.execute("UPDATE tale SET summary = \(text()) WHERE id % 2 = \(step % 2)")
      }
      try context.save()
      for word in words {
        let found = Set(try context.fetchIdentifiers(Tale.search(word)).compactMap(\.rowKey))
        #expect(found == (try keys(store, having: word)), "seed \(seed), step \(step), \(word)")
      }
    }
    // The control: a row that the index has not followed is noticed.
    try store.execute("DROP TRIGGER tale_search_insert")
    context.insert(Tale("dune", nil, 0))
    try context.save()
    let found = Set(try context.fetchIdentifiers(Tale.search("dune")).compactMap(\.rowKey))
    #expect(found != (try keys(store, having: "dune")))
    try store.rebuildFullText(of: Tale.self)
    #expect(
      Set(try context.fetchIdentifiers(Tale.search("dune")).compactMap(\.rowKey)) == (try keys(store, having: "dune")))
  }

  private func keys(_ store: ModelContainer, having word: String) throws -> Set<Int64> {
    let rows = try store.query(
      "SELECT id FROM tale WHERE ' ' || title || ' ' || ifnull(summary, '') || ' ' LIKE \("% \(word) %")"
    ).map(\.values)
    return Set(rows.compactMap { if case .integer(let key)? = $0.first { key } else { nil } })
  }

  @Test func `a file without the index is told what would make it, words and all`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
      let connection = try Connection(path: file.path, access: .create)
      for sql in try ModelContainer.schemaSQL(for: Tale.self) where !sql.contains("tale_search") {
        try connection.execute(sql)
      }
      try connection.execute("INSERT INTO tale (title, year) VALUES ('Dune', 1965)")
    }
    let error = #expect(throws: SchemaError.self) { try open() }
    guard case .mismatch(_, let differences, let mending, _, _)? = error?.problem else { throw error! }
    #expect(differences.first == "full-text index tale_search is missing")
    do {
      let connection = try Connection(path: file.path, access: .readWrite, options: trusting)
      for sql in mending.flatMap({ $0.components(separatedBy: ";\n    ") }) { try connection.execute(sql) }
    }
    #expect(try titles(ModelContext(try open()), Tale.search("dune")) == ["Dune"])
  }

  @Test func `a file with triggers of its own is trusted only by who says so`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let (store, _) = try filled()
      try store.execute("CREATE TRIGGER mine AFTER DELETE ON tale BEGIN SELECT 1; END")
    }
    let error = #expect(throws: SchemaError.self) { try open() }
    guard case .untrusted(_, ["mine"])? = error?.problem else { throw error! }
    var configuration = ModelConfiguration(url: file)
    configuration.trustsSchema = true
    let store = try ModelContainer(for: Tale.self, configurations: configuration)
    #expect(try ModelContext(store).fetchCount(Tale.search("dune")) == 2)
  }

  @Test func `with a change log and live results beside it, and with an older state held`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try ModelContainer(
      for: Tale.self, configurations: ModelConfiguration(url: file, changeLog: .on()))
    let context = ModelContext(store)
    context.insert(Tale("Dune", nil, 1965))
    try context.save()
    let (older, newer) = (ModelContext(store), ModelContext(store))
    #expect(try older.fetchCount(Tale.search("dune")) == 1)
    newer.insert(Tale("Dune Messiah", nil, 1969))
    try newer.save()
    #expect(try newer.fetchCount(Tale.search("dune")) == 2)
    let list = try context.live(FetchDescriptor<Tale>(sortBy: [SortDescriptor(\.year)]))
    try store.execute("DELETE FROM tale WHERE id = 1")
    try context.refresh()
    #expect(list.map(\.title) == ["Dune Messiah"])
    #expect(try context.fetchHistory(HistoryDescriptor()).map(\.changes.count) == [1, 1, 1])
  }

  @Test func `a plan's stage makes the index, with the words that are there, and the rules that are new`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let store = try ModelContainer(
        for: Schema(versionedSchema: SagasV1.self), migrationPlan: SagaPlan.self,
        configurations: ModelConfiguration(url: file))
      let context = ModelContext(store)
      let saga = SagasV1.Saga("Njal")
      saga.skald = SagasV1.Skald()
      context.insert(saga)
      try context.save()
    }
    for _ in 0..<2 {  // once through the stage, once as it is
      let store = try ModelContainer(
        for: Schema(versionedSchema: SagasV2.self), migrationPlan: SagaPlan.self,
        configurations: ModelConfiguration(url: file))
      #expect(try ModelContext(store).fetch(SagasV2.Saga.search("njal")).map(\.title) == ["Njal"])
    }
    let store = try ModelContainer(for: SagasV2.Saga.self, url: file)
    try store.execute("DELETE FROM saga")
    #expect(try store.value("SELECT count(*) FROM skald") == 0)
    #expect(try store.value("SELECT count(*) FROM saga_search WHERE saga_search MATCH 'njal'") == 0)
  }

  @Test func `an index that cannot be is refused when the schema is made`() throws {
    for (type, sentence) in [
      (Ranked.self as any PersistentModel.Type, "FTS5 has a column rank"), (Numbered.self, "it is not text"),
    ] {
      let error = #expect(throws: SchemaError.self) { try ModelContainer.schemaSQL(for: type) }
      #expect(error?.description.contains(sentence) == true)
    }
  }
}

@Model final class Tale {
  #FullText<Tale>([\.title, \.summary])
  var title: String
  var summary: String?
  var year: Int
  init(_ title: String, _ summary: String?, _ year: Int) {
    self.title = title
    self.summary = summary
    self.year = year
  }
}

@Model final class Ranked {
  #FullText<Ranked>([\.rank])
  var rank = ""
  init() {}
}

@Model final class Numbered {
  #FullText<Numbered>([\.year], words: .stems)
  var year = 0
  init() {}
}

enum SagasV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Saga.self, Skald.self] }
  @Model final class Saga {
    var title: String
    var skald: Skald?
    init(_ title: String) { self.title = title }
  }
  @Model final class Skald { init() {} }
}

enum SagasV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Saga.self, Skald.self] }
  @Model final class Saga {
    #FullText<Saga>([\.title, \.note])
    var title: String
    var note = ""
    @Relationship(deleteRule: .cascade) var skald: Skald?
    init(_ title: String) { self.title = title }
  }
  @Model final class Skald { init() {} }
}

enum SagaPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SagasV1.self, SagasV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: SagasV1.self, toVersion: SagasV2.self)] }
}
