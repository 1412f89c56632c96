import Quire

// Data code as applications have it: a container made at the start, a store of its own, a background actor.

@MainActor
final class Persistence {
  static let schema = Schema([Recipe.self, Ingredient.self, Cookbook.self])

  let container: ModelContainer
  var context: ModelContext { container.mainContext }

  init(inMemory: Bool = true) throws {
    let configuration = ModelConfiguration(schema: Persistence.schema, isStoredInMemoryOnly: inMemory)
    container = try ModelContainer(for: Persistence.schema, configurations: [configuration])
  }

  static func preview() throws -> Persistence {
    let result = try Persistence(inMemory: true)
    let soup = Recipe(title: "Soup", difficulty: .easy, prepTime: 600, tags: ["warm"])
    soup.ingredients = [
      Ingredient(name: "Water", measure: .grams(1000), order: 0), Ingredient(name: "Salt", measure: .toTaste, order: 1),
    ]
    result.context.insert(soup)
    try result.context.save()
    return result
  }
}

@ModelActor
actor RecipeImporter {
  func importTitles(_ titles: [String]) throws -> [PersistentIdentifier] {
    for title in titles { modelContext.insert(Recipe(title: title)) }
    try modelContext.save()
    return try modelContext.fetchIdentifiers(FetchDescriptor<Recipe>(sortBy: [SortDescriptor(\.title)]))
  }

  func rename(_ id: PersistentIdentifier, to title: String) throws {
    guard let recipe = self[id, as: Recipe.self] else { return }
    recipe.title = title
    try modelContext.save()
  }

  func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Recipe>()) }
}

/// An actor whose `init` is its own.
@ModelActor
actor LedgerKeeper {
  let name: String

  init(container: ModelContainer, name: String) {
    self.modelContainer = container
    let context = ModelContext(container)
    context.autosaveEnabled = false
    self.modelExecutor = DefaultSerialModelExecutor(modelContext: context)
    self.name = name
  }

  func open(_ title: String) throws -> PersistentIdentifier {
    let account = Account(name: title, currency: .eur)
    modelContext.insert(account)
    try modelContext.save()
    return account.persistentModelID
  }
}

/// An actor that works in the main context.
actor MainImporter: ModelActor {
  nonisolated let modelContainer: ModelContainer
  nonisolated let modelExecutor: any ModelExecutor

  @MainActor init(modelContainer: ModelContainer) {
    self.modelContainer = modelContainer
    modelExecutor = DefaultSerialModelExecutor(modelContext: modelContainer.mainContext)
  }

  var isOnMainThread: Bool { Thread.isMainThread }

  func add(_ title: String) throws -> PersistentIdentifier {
    let recipe = Recipe(title: title)
    modelContext.insert(recipe)
    try modelContext.save()
    return recipe.persistentModelID
  }

  func title(of id: PersistentIdentifier) -> String? { self[id, as: Recipe.self]?.title }
}

protocol DataSource {
  associatedtype Item: PersistentModel
  func all() throws -> [Item]
}

struct Repository<Item: PersistentModel>: DataSource {
  let context: ModelContext

  func all() throws -> [Item] { try context.fetch(FetchDescriptor<Item>()) }

  func first(where predicate: Predicate<Item>) throws -> Item? {
    var descriptor = FetchDescriptor<Item>(predicate: predicate)
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  func add(_ items: [Item]) throws {
    items.forEach { context.insert($0) }
    if context.hasChanges { try context.save() }
  }

  func removeAll() throws {
    try context.delete(model: Item.self)
    try context.save()
  }
}
