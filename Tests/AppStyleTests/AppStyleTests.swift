import Foundation
import Quire
import Testing

/// Models and data code in the styles of public apps, with nothing changed but the import, at work.
struct AppStyleTests {
  private func memory(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    let schema = Schema(types)
    return try ModelContainer(
      for: schema, configurations: [ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)])
  }

  @Test func `a health log takes measurements on a model actor`() async throws {
    let container = try memory(HealthProfile.self, WeightEntry.self, Medication.self, MedicationIntake.self)
    let context = ModelContext(container)
    let profile = HealthProfile(displayName: "Ann")
    profile.heightInCentimeters = 180
    profile.medications = [Medication(name: "A", dosage: Dosage(amount: 5, unit: .milligram))]
    context.insert(profile)
    try context.save()
    let store = HealthStore(modelContainer: container)
    let day = Date(timeIntervalSinceReferenceDate: 0)
    let count = try await store.importWeights(
      [(day, 81), (day.addingTimeInterval(86400), 80)], for: profile.persistentModelID)
    #expect(count == 2)
    try await store.deleteWeights(before: day.addingTimeInterval(1))
    try context.refresh()
    #expect(profile.weights.map(\.kilograms) == [80])
    #expect(profile.medications?.first?.dosage == Dosage(amount: 5, unit: .milligram))
  }

  @MainActor @Test func `notes are found by text, folder and tag in a preview's sample data`() throws {
    let context = NotePreview.container.mainContext
    try context.save()
    let found = try context.fetch(
      FetchDescriptor(predicate: NoteItem.predicate(searchText: "MILK", onlyPinned: false)))
    #expect(found.map(\.title) == ["Groceries"])
    #expect(found[0].tags?.map(\.name).sorted() == ["list", "weekly"])
    let work = try #require(
      try context.fetch(FetchDescriptor<NoteFolder>(predicate: #Predicate { $0.name == "Work" })).first)
    #expect(try context.fetch(NoteItem.descriptor(in: work, sortedBy: .updated)).map(\.title) == ["Plan"])
    #expect(work.notes.first?.attachments?.first?.kind == .image(width: 640, height: 480))
  }

  @Test func `a budget keeps ownerId beside owner and adds up decimals`() throws {
    let container = try memory(BudgetCategory.self, BudgetEntry.self, BudgetOwner.self)
    let context = ModelContext(container)
    let food = BudgetCategory(name: "Food")
    let entry = BudgetEntry(amount: 12.5, kind: .expense, date: .distantPast, ownerId: 7)
    entry.owner = BudgetOwner(name: "Ann")
    food.entries = [entry, BudgetEntry(amount: 2.5, kind: .expense, date: .distantPast)]
    context.insert(food)
    try context.save()
    let read = ModelContext(container)
    let summary = try BudgetService(context: read).summary(from: .distantPast, to: .now)
    #expect(summary == BudgetSummary(total: 15, byCategory: ["Food": 15]))
    let one = try read.fetch(FetchDescriptor<BudgetEntry>(predicate: #Predicate { $0.owner?.name == "Ann" }))
    #expect(one.map(\.ownerId) == [7])
  }

  @Test func `a versioned schema with a plan opens, and a goal is saved in its newest form`() throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: SavingsSchemaV2.self), migrationPlan: SavingsMigrationPlan.self,
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
    let context = ModelContext(container)
    context.insert(SavingsGoal(name: "Bike", target: 900))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<SavingsGoal>()).map(\.saved) == [0])
  }

  @Test func `habits are kept by a repository, with their streaks`() throws {
    let repository = LocalHabitRepository(modelContext: ModelContext(try memory(Habit.self, HabitCheck.self)))
    let habit = Habit(name: "Read", frequency: .weekly(times: 3))
    habit.reminders = [.init(hour: 7, minute: 30)]
    try repository.add(habit)
    habit.check()
    habit.check()
    #expect(habit.streak() == 1)
    #expect(try repository.activeHabits().map(\.name) == ["Read"])
    habit.isArchived = true
    #expect(try repository.activeHabits().isEmpty)
    try repository.remove(habit)
    #expect(habit.modelContext == nil)
  }

  @Test func `messages arrive on an actor with an executor of its own`() async throws {
    let container = try memory(Conversation.self, ChatMessage.self, ChatUser.self)
    let sync = ChatSync(container: container)
    try await sync.receive(
      [
        MessagePayload(text: "hello", handle: "ann", sentAt: .distantPast),
        MessagePayload(text: "hi", handle: "ben", sentAt: .now),
      ], in: 5)
    let context = ModelContext(container)
    let conversation = try #require(try context.fetch(FetchDescriptor<Conversation>()).first)
    #expect(conversation.sortedMessages.map(\.text) == ["hello", "hi"])
    #expect(Set(conversation.members.map(\.displayName)) == ["Ann", "Ben"])
    let decoded = try JSONDecoder().decode(ChatUser.self, from: Data(#"{"handle":"c","display_name":"C"}"#.utf8))
    #expect(decoded.displayName == "C")
  }

  @Test func `episodes are filtered by predicates in predicates`() throws {
    let context = ModelContext(
      try memory(Podcast.self, Episode.self, EpisodeDownload.self, PlayQueue.self, QueueEntry.self))
    let podcast = Podcast(feedURL: URL(string: "https://example.org/feed")!, title: "Talk")
    let short = Episode(guid: "1", title: "Short one", publishedAt: .distantPast, duration: 600)
    let long = Episode(guid: "2", title: "Long one", publishedAt: .now, duration: 7200)
    long.download = EpisodeDownload(path: "/tmp/2", bytes: 10)
    short.state = .played
    podcast.episodes = [short, long]
    context.insert(podcast)
    let queue = PlayQueue()
    context.insert(queue)
    queue.append(long)
    queue.append(short)
    try context.save()
    #expect(try context.episodes(.all, matching: "ONE").map(\.guid) == ["2", "1"])
    for filter in [EpisodeFilter.unplayed, .downloaded, .long] {
      #expect(try context.episodes(filter).map(\.guid) == ["2"], "\(filter)")
    }
    #expect(queue.ordered.map(\.guid) == ["2", "1"])
  }

  @MainActor @Test func `a media library seeds itself once`() throws {
    let library = LibraryDataController.shared
    try library.seed()
    try library.seed()
    let films = try library.modelContext.fetch(FetchDescriptor<Film>(sortBy: [SortDescriptor(\.title)]))
    #expect(films.map(\.title) == ["Harbour", "Second Spring", "The Long Field"])
    #expect(films[0].director?.directed.count == 3)
    library.modelContext.insert(FilmCollection(smart: "Long", rule: .init(field: .runtime, value: "120")))
    try library.modelContext.save()
  }

  @Test func `a shop turns a cart into an order, through a generic repository`() throws {
    let context = ModelContext(
      try memory(Product.self, ProductVariant.self, Cart.self, CartLine.self, ShopOrder.self, OrderPosition.self))
    let repository = ProductRepository(context: context)
    let cup = Product(sku: "cup", name: "Cup", price: 8, stock: 4, keywords: ["kitchen"])
    cup.dimensions = .init(width: 1, height: 2, depth: 3)
    context.insert(cup)
    let cart = Cart(lines: [CartLine(product: cup, quantity: 3)])
    cart.coupon = .percent(50)
    context.insert(cart)
    #expect(cart.total == 12)
    let order = ShopOrder(number: 1, address: PostalAddress(street: "A", city: "B"), cart: cart)
    order.status = .paid
    context.insert(order)
    try context.save()
    #expect(try repository.product(sku: "cup")?.stock == 4)
    #expect(try repository.affordable(upTo: 4).count == 1)
    #expect(try repository.fetchAll(sortBy: [SortDescriptor(\.name)]).count == 1)
    try repository.deleteAll()
    #expect(try context.fetch(FetchDescriptor<ShopOrder>())[0].positions.map(\.quantity) == [3])
  }

  @Test func `trips, plants, workouts and books are saved and found`() throws {
    let context = ModelContext(
      try memory(
        Trip.self, TripStop.self, Stay.self, Plant.self, Watering.self, GardenBed.self, Workout.self,
        ExerciseSet.self, ReadingBook.self, ReadingGenre.self, ReadingQuote.self))
    let trip = Trip(name: "Coast", destination: "Sea", startDate: .distantPast)
    trip.stops = [TripStop(name: "Pier", order: 1, coordinate: Coordinate(latitude: 1, longitude: 2))]
    trip.stay = Stay(address: "Street 1", isConfirmed: true)
    context.insert(trip)
    let bed = GardenBed(name: "South")
    bed.plants = [Plant(species: "Mint", light: .bright)]
    bed.plants?[0].waterings.append(Watering(liters: 0.5))
    context.insert(bed)
    let workout = Workout(name: "Legs", activity: .strength)
    workout.sets = [ExerciseSet("squat", repetitions: 5, weight: 80), ExerciseSet("squat", repetitions: 5, weight: 90)]
    context.insert(workout)
    let book = ReadingBook(title: "T", author: "A", status: .inProgress)
    book.quotes = [ReadingQuote(text: "q", page: "3")]
    book.genres = [ReadingGenre(name: "Novel", color: "red")]
    context.insert(book)
    try context.save()

    #expect(try context.fetch(Trip.upcoming()).map(\.name) == ["Coast"])
    #expect(try context.fetchCount(FetchDescriptor(predicate: Trip.containing(stop: "Pier"))) == 1)
    #expect(try context.fetch(ExerciseSet.personalRecords).map(\.weight) == [90, 80])
    #expect(workout.volume == 850)
    bed.remove()
    #expect(try context.fetch(FetchDescriptor<Plant>()).map(\.bed?.name) == [nil])
    #expect(try context.fetch(FetchDescriptor<ReadingBook>())[0].genres?.count == 1)
  }
}
