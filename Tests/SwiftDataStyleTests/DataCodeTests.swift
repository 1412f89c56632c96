import Dispatch
import Quire
import Synchronization
import Testing

/// Data code as applications have it, run.
@Suite @MainActor struct DataCodeTests {
  let app: Persistence
  init() throws { app = try Persistence() }

  private func fill(_ titles: String...) throws {
    for title in titles { app.context.insert(Recipe(title: title)) }
    try app.context.save()
  }

  @Test func `descriptors, counts, identifiers and look-ups`() throws {
    try fill("Bread", "Cake", "Apple pie")
    let context = app.context
    var descriptor = FetchDescriptor<Recipe>(sortBy: [SortDescriptor(\.title)])
    descriptor.fetchLimit = 2
    descriptor.fetchOffset = 1
    descriptor.propertiesToFetch = [\.title]
    descriptor.relationshipKeyPathsForPrefetching = [\.ingredients]
    #expect(try context.fetch(descriptor).map(\.title) == ["Bread", "Cake"])
    #expect(try context.fetchCount(FetchDescriptor<Recipe>()) == 3)
    let ids = try context.fetchIdentifiers(FetchDescriptor<Recipe>(sortBy: [SortDescriptor(\.title, order: .reverse)]))
    #expect(ids.compactMap { (context.model(for: $0) as? Recipe)?.title } == ["Cake", "Bread", "Apple pie"])
    let cake: Recipe? = context.registeredModel(for: ids[0])
    cake?.isFavorite = true
    #expect(context.hasChanges && context.changedModelsArray.count == 1)
    #expect(try context.fetch(Recipe.favorites).map(\.title) == ["Cake"])
    var committed = Recipe.favorites
    committed.includePendingChanges = false
    #expect(try context.fetch(committed).isEmpty)
    context.rollback()
    #expect(cake?.isFavorite == false)
    context.delete(context.model(for: ids[1]))
    #expect(context.deletedModelsArray.count == 1)
    try context.save()
    try context.transaction { context.insert(Recipe(title: "Dumplings")) }
    #expect(try Repository<Recipe>(context: context).all().count == 3)
    #expect(try Repository<Recipe>(context: context).first(where: #Predicate { $0.title == "Cake" }) === cake)
    try Repository<Recipe>(context: context).removeAll()
    #expect(try context.fetchCount(FetchDescriptor<Recipe>()) == 0 && cake?.isDeleted == true)
  }

  @Test func `an actor with a context imports in the background, and the main context hears of it`() async throws {
    let importer = RecipeImporter(modelContainer: app.container)
    let ids = try await importer.importTitles(["Bread", "Cake"])
    #expect(try app.context.fetchCount(FetchDescriptor<Recipe>()) == 2)
    let bread = try #require(app.context.model(for: ids[0]) as? Recipe)
    try await importer.rename(ids[0], to: "Rye bread")
    for _ in 0..<6000 where bread.title == "Bread" { try await _Concurrency.Task.sleep(for: .milliseconds(5)) }
    #expect(bread.title == "Rye bread")
    #expect(try await importer.count() == 2)
  }

  @Test func `an actor with an init of its own takes in what others commit, where it runs`() async throws {
    let container = try ModelContainer(
      for: Account.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let keeper = LedgerKeeper(container: container, name: "keeper")
    let id = try await keeper.open("Daily")
    #expect((container.mainContext.model(for: id) as? Account)?.name == "Daily")
    try container.execute("UPDATE account SET name = 'Weekly'")
    #expect(try await keeper.name(of: id) == "Weekly")
    #expect(await keeper.runsOnItsExecutor())
  }

  @Test func `an actor with the main context works on the main actor, with its objects`() async throws {
    let importer = MainImporter(modelContainer: app.container)
    #expect(await importer.isOnMainThread == Thread.isMainThread)
    let id = try await importer.add("Bread")
    let bread = try #require(app.context.registeredModel(for: id) as Recipe?)
    bread.title = "Cake"
    #expect(await importer.title(of: id) == "Cake")
    // The end of a turn, too, is the main actor's.
    app.context.autosaveEnabled = true
    while app.context.hasChanges { await _Concurrency.Task.yield() }
    #expect(try ModelContext(app.container).fetch(FetchDescriptor<Recipe>()).map(\.title) == ["Cake"])
  }

  @Test func `objects come in batches, and of the others only identifiers are held`() throws {
    for number in 0..<1000 { app.context.insert(Recipe(title: "\(number)")) }
    try app.context.save()
    let context = ModelContext(app.container)
    let all = try context.fetch(FetchDescriptor<Recipe>(sortBy: [SortDescriptor(\.createdAt)]), batchSize: 50)
    #expect(all.count == 1000 && context.registeredCount == 0)
    #expect(all[120].title == "120" && context.registeredCount <= 50)
    #expect(all.map(\.title) == (0..<1000).map(String.init))
    var most = 0
    var seen = 0
    try ModelContext(app.container).enumerate(FetchDescriptor<Recipe>(), batchSize: 50) { recipe in
      seen += 1
      most = max(most, recipe.modelContext?.registeredCount ?? 0)
    }
    #expect(seen == 1000 && most <= 150)
  }

  @Test func `a save is announced before and after, with what it wrote`() throws {
    struct Heard: Sendable {
      var names: [String] = []
      var counts: [String: Int] = [:]
    }
    let heard = Mutex(Heard())
    let context = ModelContext(app.container)
    let center = NotificationCenter.default
    let before = center.addObserver(forName: ModelContext.willSave, object: context, queue: nil) { _ in
      heard.withLock { $0.names.append("will") }
    }
    let after = center.addObserver(forName: ModelContext.didSave, object: context, queue: nil) { note in
      let lists = note.userInfo as? [String: [PersistentIdentifier]] ?? [:]
      heard.withLock {
        $0.names.append("did")
        $0.counts = lists.mapValues(\.count)
      }
    }
    defer {
      center.removeObserver(before)
      center.removeObserver(after)
    }
    let first = Recipe(title: "Bread")
    context.insert(first)
    try context.save()
    #expect(heard.withLock { $0.names } == ["will", "did"])
    #expect(heard.withLock { $0.counts["inserted"] } == 1)
    first.title = "Rolls"
    context.insert(Recipe(title: "Cake"))
    try context.save()
    let inserted = ModelContext.NotificationKey.insertedIdentifiers.rawValue
    let updated = ModelContext.NotificationKey.updatedIdentifiers.rawValue
    #expect(heard.withLock { $0.counts[inserted] } == 1 && heard.withLock { $0.counts[updated] } == 1)
  }

  @Test func `a save that only links objects announces both as updated, and never a deleted one`() throws {
    let context = ModelContext(app.container)
    for title in ["Bread", "Cake"] { context.insert(Recipe(title: title)) }
    context.insert(Cookbook())
    try context.save()
    let elsewhere = ModelContext(app.container)
    let recipes = try elsewhere.fetch(FetchDescriptor<Recipe>(sortBy: [SortDescriptor(\.title)]))
    let book = try #require(try elsewhere.fetch(FetchDescriptor<Cookbook>()).first)
    let heard = Mutex<[String: Set<PersistentIdentifier>]>([:])
    let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: elsewhere, queue: nil) {
      let lists = $0.userInfo as? [String: [PersistentIdentifier]] ?? [:]
      heard.withLock { $0 = lists.mapValues { Set($0) } }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let ids = recipes.map(\.persistentModelID)
    book.recipes = recipes
    try elsewhere.save()
    #expect(heard.withLock { $0 } == ["updated": Set(ids + [book.persistentModelID]), "inserted": [], "deleted": []])
    book.recipes?.removeAll { $0 === recipes[0] }
    elsewhere.delete(recipes[1])
    try elsewhere.save()
    #expect(heard.withLock { $0["updated"] } == [ids[0], book.persistentModelID])
    #expect(heard.withLock { $0["deleted"] } == [ids[1]])
  }

  @Test func `configurations of every shape`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-style-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "recipes.store")
    let schema = Schema([Recipe.self, Ingredient.self, Cookbook.self], version: Schema.Version(1, 2, 0))
    do {
      let file = ModelConfiguration("Recipes", schema: schema, url: url, allowsSave: true, cloudKitDatabase: .none)
      let container = try ModelContainer(for: schema, configurations: file)
      container.mainContext.insert(Recipe(title: "Bread"))
      try container.mainContext.save()
      #expect(container.schema.version.description == "1.2.0" && container.configuration.name == "Recipes")
      #expect(throws: SchemaError.self) {
        try ModelContainer(for: schema, configurations: [file, ModelConfiguration(isStoredInMemoryOnly: true)])
      }
    }
    let reading = ModelConfiguration(url: url, allowsSave: false)
    let container = try ModelContainer(for: Recipe.self, migrationPlan: nil, configurations: reading)
    let context = ModelContext(container)
    #expect(try context.fetch(FetchDescriptor<Recipe>()).map(\.title) == ["Bread"])
    context.insert(Recipe(title: "Cake"))
    #expect(throws: ModelError.self) { try context.save() }
    let shared = ModelConfiguration(
      "Shared", schema: schema, groupContainer: .identifier("group.recipes"), cloudKitDatabase: .private("iCloud.x"))
    #expect(shared.url.path.hasSuffix("group.recipes/Shared.store") == true)
    let memory = try ModelContainer(
      for: Recipe.self, configurations: ModelConfiguration(for: Recipe.self, isStoredInMemoryOnly: true))
    memory.mainContext.insert(Recipe(title: "Bread"))
    try memory.mainContext.save()
    try memory.deleteAllData()
    #expect(try memory.mainContext.fetchCount(FetchDescriptor<Recipe>()) == 0)
  }
}

extension LedgerKeeper {
  func name(of id: PersistentIdentifier) throws -> String? {
    try modelContext.refresh()
    return self[id, as: Account.self]?.name
  }

  func runsOnItsExecutor() -> Bool {
    modelExecutor.checkIsolated()  // traps where it is not so
    return true
  }
}
