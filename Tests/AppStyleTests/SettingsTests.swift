import OwnSettings
import Quire
import Testing

/// Models of a module with the settings of newer projects: that they compile without a warning is half of the test.
@MainActor struct SettingsTests {
  @Test func `models, an actor and a live list of a module that belongs to the main actor work from another one`()
    async throws
  {
    let container = try ModelContainer(
      for: Schema(versionedSchema: ShelfSchema.self),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true, changeLog: .on()))
    let context = container.mainContext
    let shelf = try Shelf(container)
    let keys = try await Importer(modelContainer: container).add(["Eden", "Solaris"], by: "Lem")
    try context.refresh()
    #expect(shelf.books.map(\.title) == ["Eden", "Solaris"])

    let eden = try #require(context.model(for: keys[0]) as? Book)
    eden.origin = .bought(price: 8.5, from: nil)
    eden.labels = [Label(word: "sea")]
    try context.save()
    #expect(
      try context.fetch(FetchDescriptor<Label>(predicate: #Predicate { $0.books?.count == 1 })).map(\.word) == ["sea"])
    #expect(try context.fetchCount(FetchDescriptor(predicate: Book.titled("EDEN"))) == 1)

    try shelf.remove("eden")
    #expect(shelf.books.map(\.title) == ["Solaris"])
    let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
    var deleted: [String?] = []
    for case .delete(let change as DefaultHistoryDelete<Book>) in changes {
      deleted.append(change.tombstone[\.title] as? String)
    }
    #expect(deleted == ["Eden"])
  }
}
