import Quire
import Testing

/// What such models hold comes back from the file as it was.
@Suite @MainActor struct DeclarationTests {
  @Test func `every kind of property of the recipes survives a save`() throws {
    let app = try Persistence()
    let recipe = Recipe(title: "Soup", difficulty: .medium, prepTime: 90.5, tags: ["warm", "quick"])
    recipe.summary = "thin"
    recipe.course = .dessert
    recipe.season = .winter
    recipe.cookTime = 30
    recipe.sourceURL = URL(string: "https://example.org/soup")
    recipe.equipment = ["pot"]
    recipe.stepMinutes = [1, 2]
    recipe.nutrition = Nutrition(calories: 80, protein: 2.5, notes: ["salt"])
    recipe.alternatives = [Nutrition(calories: 1, protein: 1)]
    recipe.scores = ["ann": 4]
    recipe.courses = [.starter, .main]
    recipe.seasons = [.spring, .autumn]
    recipe.photo = Data([1, 2, 3])
    recipe.photos = [Data([4])]
    recipe.links = [URL(filePath: "/tmp")]
    recipe.ingredients = [
      Ingredient(name: "Water", measure: .grams(1000), order: 1), Ingredient(name: "Salt", measure: .toTaste, order: 0),
    ]
    let book = Cookbook()
    book.recipes?.append(recipe)
    recipe.draftNote = "kept by the object only"
    app.context.insert(recipe)
    app.context.insert(book)
    try app.context.save()

    let other = ModelContext(app.container)
    let copy = try #require(try other.fetch(FetchDescriptor<Recipe>()).first)
    #expect(copy !== recipe && copy.id == recipe.id && copy.title == "Soup" && copy.summary == "thin")
    #expect(copy.difficulty == .medium && copy.course == .dessert && copy.season == .winter && copy.totalTime == 120.5)
    #expect(copy.sourceURL == recipe.sourceURL && copy.equipment == ["pot"] && copy.stepMinutes == [1, 2])
    #expect(copy.nutrition == recipe.nutrition && copy.alternatives == recipe.alternatives && copy.scores == ["ann": 4])
    #expect(copy.courses == [.starter, .main] && copy.seasons == [.spring, .autumn])
    #expect(copy.photo == Data([1, 2, 3]) && copy.photos == [Data([4])] && copy.links == recipe.links)
    #expect(copy.ingredientList.map(\.name) == ["Salt", "Water"])
    #expect(copy.ingredients.map(\.measure).contains(.grams(1000)))
    #expect(copy.cookbooks?.first?.title == "Untitled" && copy.draftNote == nil && copy.isArchived == nil)
    #expect(abs(copy.createdAt.timeIntervalSince(recipe.createdAt)) < 0.00001)

    app.context.delete(recipe)
    try app.context.save()
    #expect(try app.context.fetchCount(FetchDescriptor<Ingredient>()) == 0)
    #expect(try app.context.fetchCount(FetchDescriptor<Cookbook>()) == 1)
  }

  @Test func `constants, observers and numbers of every width come back`() throws {
    let container = try ModelContainer(
      for: Account.self, Transfer.self, Category.self, Person.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = container.mainContext
    let account = Account(name: "Daily", currency: .gbp, openedOn: Date(timeIntervalSince1970: 1))
    account.overdraft = Decimal(string: "12.50")
    account.icon = -3
    account.color = .max
    account.flags = 7
    account.remoteRevision = .min
    account.scale = 0.5
    account.isExpanded = true
    account.owner = Person(firstName: "Ada", lastName: "Lovelace")
    let food = Category(name: "Food")
    food.children?.append(Category(name: "Bread"))
    let transfer = Transfer(
      reference: 1, date: .now, memo: "rolls", price: Money(amount: Decimal(string: "-1.20") ?? 0, currency: .gbp))
    transfer.category = food
    account.note(transfer)
    transfer.memo = "bread rolls"
    context.insert(account)
    try context.save()

    let other = ModelContext(container)
    let id = account.id
    let copy = try #require(try other.fetch(FetchDescriptor<Account>(predicate: #Predicate { $0.id == id })).first)
    #expect(copy.currency == .gbp && copy.openedOn == Date(timeIntervalSince1970: 1))
    #expect(copy.overdraft == Decimal(string: "12.5") && copy.icon == -3 && copy.color == .max && copy.flags == 7)
    #expect(copy.remoteRevision == .min && copy.scale == 0.5 && copy.balance == Decimal(string: "-1.2"))
    #expect(!copy.isExpanded && copy.owner?.description == "Ada Lovelace" && copy.owner?.accounts.first === copy)
    let line = try #require(copy.transactions.first)
    #expect(line.memo == "bread rolls" && line.edits == 1 && line.price.currency == .gbp)
    #expect(
      line.category?.children?.map(\.name) == ["Bread"] && line.category?.children?.first?.parent === line.category)
    // By a constant at the end of a path, which no getter tells of.
    #expect(try other.fetch(FetchDescriptor<Transfer>(sortBy: [SortDescriptor(\.account?.openedOn)])).count == 1)

    let data = try JSONEncoder().encode(food)
    #expect(try JSONDecoder().decode(Category.self, from: data).name == "Food")
    context.delete(food)
    #expect(throws: ModelError.self) { try context.save() }
  }

  @Test func `models may be called Task and Actor, and have an id or a hash of their own`() async throws {
    let container = try ModelContainer(
      for: Task.self, Step.self, Actor.self, Tag.self, configurations: .init(isStoredInMemoryOnly: true))
    let context = container.mainContext
    let task = Task(title: "Write")
    task.steps = [Step("one", 1), Step("two", 2)]
    task.actor = Actor(id: "a1")
    task.actor?.hash = "abc"
    task.priority = .high
    context.insert(task)
    let tag = Tag(name: "red")
    tag.color = [1, 0, 0]
    context.insert(tag)
    try context.save()
    let other = ModelContext(container)
    let actor = try #require(try other.fetch(FetchDescriptor<Actor>(predicate: #Predicate { $0.hash == "abc" })).first)
    #expect(actor.id == "a1" && actor.tasks.first?.priority == .high && Set(arrayLiteral: actor).contains(actor))
    #expect(actor.tasks.first?.steps?.sorted { $0.index < $1.index }.map(\.title) == ["one", "two"])
    #expect(try other.fetch(FetchDescriptor<Tag>()).first?.color == [1, 0, 0])
    #expect(try container.query("SELECT _id, id FROM actor").map(\.values) == [[1, "a1"]])
  }

  @Test func `a constant keeps its value, and the row's is what a later object has`() throws {
    let container = try ModelContainer(
      for: Account.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let account = Account(name: "Daily", currency: .eur)
    context.insert(account)
    try context.save()
    try container.execute("UPDATE account SET currency = 'usd', name = 'Other'")
    try context.refresh()
    #expect(account.currency == .eur && account.name == "Other")
    #expect(try ModelContext(container).fetch(FetchDescriptor<Account>()).first?.currency == .usd)
  }
}
