import Quire
import Testing

// A data layer that is asked by values: what to fetch is decided on one actor, and fetched on another.

enum Selection<Model: PersistentModel>: Sendable {
  case all
  case matching(Predicate<Model>)
  case descriptor(FetchDescriptor<Model>)

  var descriptor: FetchDescriptor<Model> {
    switch self {
    case .all: FetchDescriptor()
    case .matching(let predicate): FetchDescriptor(predicate: predicate)
    case .descriptor(let descriptor): descriptor
    }
  }
}

@ModelActor actor Archive {
  func values<Model: PersistentModel, Value: Sendable>(
    _ selection: Selection<Model>, _ value: @Sendable (Model) -> Value
  ) throws -> [Value] {
    try modelContext.fetch(selection.descriptor).map(value)
  }

  func count(of history: HistoryDescriptor<DefaultHistoryTransaction>) throws -> Int {
    try modelContext.fetchHistory(history).count
  }
}

/// Descriptors go from actor to actor.
@Suite @MainActor struct DescriptorTests {
  @Test func `what was asked for on the main actor is fetched on another`() async throws {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.changeLog = .on()
    let container = try ModelContainer(for: Letter.self, configurations: configuration)
    for subject in ["Bill", "Advert", "Card"] { container.mainContext.insert(Letter(subject: subject)) }
    try container.mainContext.save()
    let archive = Archive(modelContainer: container)
    var latest = FetchDescriptor<Letter>(sortBy: [SortDescriptor(\.subject, order: .reverse)])
    latest.fetchLimit = 1
    latest.propertiesToFetch = [\.subject]
    let selections: [Selection<Letter>] = [.all, .matching(#Predicate { $0.subject < "C" }), .descriptor(latest)]
    var found: [[String]] = []
    for selection in selections { found.append(try await archive.values(selection) { $0.subject }) }
    #expect(found == [["Bill", "Advert", "Card"], ["Bill", "Advert"], ["Card"]])
    let all = HistoryDescriptor<DefaultHistoryTransaction>()
    #expect(try await archive.count(of: all) == 1)
    #expect(latest.propertiesToFetch.count == 1)
  }
}
