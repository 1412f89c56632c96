import Quire
import Testing

// Models that mark their rows instead of deleting them. Their names are those of properties that every model has.

protocol Discardable: PersistentModel {
  var isDeleted: Bool { get set }
}

@Model final class Letter: Discardable {
  var subject: String
  var isDeleted: Bool = false
  var hasChanges = false
  init(subject: String) { self.subject = subject }
}

struct Mailbox {
  let context: ModelContext

  func discard(_ item: some Discardable) throws {
    item.isDeleted = true
    try context.save()
  }

  func letters(discarded: Bool) throws -> [String] {
    let chosen = #Predicate<Letter> { $0.isDeleted == discarded && !$0.hasChanges }
    return try context.fetch(FetchDescriptor(predicate: chosen, sortBy: [SortDescriptor(\.subject)])).map(\.subject)
  }
}

/// A property called `isDeleted` or `hasChanges` is the model's own, and what Quire knows is asked of any model.
@Suite @MainActor struct SoftDeletionTests {
  let container: ModelContainer
  let mailbox: Mailbox

  init() throws {
    container = try ModelContainer(for: Letter.self, configurations: .init(isStoredInMemoryOnly: true))
    mailbox = Mailbox(context: ModelContext(container))
    for subject in ["Bill", "Advert", "Card"] { mailbox.context.insert(Letter(subject: subject)) }
    try mailbox.context.save()
  }

  @Test func `a letter is discarded, found among the discarded, and taken back`() throws {
    let advert = try #require(try mailbox.context.fetch(FetchDescriptor<Letter>()).first { $0.subject == "Advert" })
    try mailbox.discard(advert)
    #expect(try mailbox.letters(discarded: true) == ["Advert"])
    #expect(try mailbox.letters(discarded: false) == ["Bill", "Card"])
    let there = try #require(ModelContext(container).model(for: advert.persistentModelID) as? Letter)
    #expect(there.isDeleted && !(there as any PersistentModel).isDeleted)
    advert.isDeleted = false
    #expect((advert as any PersistentModel).hasChanges && !advert.hasChanges)
    mailbox.context.rollback()
    #expect(advert.isDeleted)
  }

  @Test func `a letter that is deleted keeps its own value, and assignments to it are named`() throws {
    let bill = try #require(try mailbox.context.fetch(FetchDescriptor<Letter>()).first { $0.subject == "Bill" })
    mailbox.context.delete(bill)
    try mailbox.context.save()
    #expect(!bill.isDeleted && (bill as any PersistentModel).isDeleted)
    bill.isDeleted = true
    #expect(!bill.isDeleted)
    #expect(throws: ModelError.self) { try mailbox.context.save() }
    #expect(try mailbox.letters(discarded: false) == ["Advert", "Card"])
  }

  @Test func `a context is made by the initializer as a function`() throws {
    let stores: [ModelContainer?] = [container, nil]
    let contexts = stores.map { $0.map(ModelContext.init) }
    let make: @Sendable (ModelContainer) -> ModelContext = ModelContext.init
    #expect(contexts[1] == nil && make(container) !== contexts[0])
    let reading = try #require(contexts[0])
    #expect(try reading.fetchCount(FetchDescriptor<Letter>()) == 3)
    mailbox.context.insert(Letter(subject: "Parcel"))
    try mailbox.context.save()
    #expect(try reading.fetchCount(FetchDescriptor<Letter>()) == 4)
  }
}
