import Foundation
import Quire
import TestSupport
import Testing

/// The change log under SwiftData's names.
@Suite(.fewAtOnce) struct HistoryTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Parcel.self, Depot.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true, changeLog: .on()))
    context = ModelContext(store)
    context.author = "desk"
  }

  private func all() throws -> [DefaultHistoryTransaction] {
    try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
  }

  @Test func `a transaction for each commit, with who, when, and what has changed`() throws {
    let before = Date.now.addingTimeInterval(-1)
    let depot = Depot("North")
    let parcel = Parcel("P-1", weight: 2)
    parcel.depot = depot
    context.insert(parcel)
    try context.save()
    parcel.weight = 3
    parcel.note = "fragile"
    try context.save()
    try store.execute("UPDATE parcel SET size = 'large'", author: "script")
    let history = try all()
    #expect(history.map(\.author) == ["desk", "desk", "script"])
    #expect(history.map(\.transactionIdentifier) == history.map(\.transactionIdentifier).sorted())
    #expect(history.allSatisfy { $0.timestamp > before && $0.timestamp < Date.now.addingTimeInterval(1) })
    #expect(history[0].processIdentifier == "\(ProcessInfo.processInfo.processIdentifier)")
    #expect(history[0].changes.count == 2)
    let inserts = history[0].changes.compactMap { change in
      if case .insert(let insert as DefaultHistoryInsert<Parcel>) = change { insert } else { nil }
    }
    #expect(inserts.map(\.changedPersistentIdentifier) == [parcel.persistentModelID])
    #expect(history[1].changes.map(\.changedPersistentIdentifier) == [parcel.persistentModelID])
    guard case .update(let update as DefaultHistoryUpdate<Parcel>)? = history[1].changes.first,
      case .update(let bySQL as DefaultHistoryUpdate<Parcel>)? = history[2].changes.first
    else {
      Issue.record("no updates")
      return
    }
    #expect(update.updatedAttributes == [\.note, \.weight] && bySQL.updatedAttributes == [\.size])
  }

  @Test func `a tombstone keeps what is preserved, as what it was`() throws {
    let made = Date(timeIntervalSince1970: 1_000_000)
    let parcel = Parcel("P-1", weight: 2)
    let id = parcel.uuid
    parcel.made = made
    parcel.size = .large
    parcel.box = Parcel.Box(width: 1.5, tags: ["a"])
    context.insert(parcel)
    try context.save()
    context.delete(parcel)
    try context.save()
    guard case .delete(let delete as DefaultHistoryDelete<Parcel>)? = try all().last?.changes.first else {
      Issue.record("no deletion")
      return
    }
    let left = delete.tombstone
    #expect(left[\.uuid] as? UUID == id && left[\.made] as? Date == made && left[\.size] as? Parcel.Size == .large)
    #expect(left[\.box] as? Parcel.Box == Parcel.Box(width: 1.5, tags: ["a"]))
    #expect(left[\.weight] == nil && left[\.note] == nil && left[\.code] == nil)
    #expect(left.map(\.key) == [\.uuid, \.made, \.size, \.box] as [PartialKeyPath<Parcel>])
  }

  @Test func `from a token on, and by author, time and order`() throws {
    for number in 1...4 {
      context.author = number % 2 == 0 ? "even" : nil
      context.insert(Parcel("P-\(number)", weight: number))
      try context.save()
    }
    let history = try all()
    let token = history[1].token
    let kept = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(kept == token)
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    descriptor.predicate = #Predicate { $0.token > kept }
    #expect(try context.fetchHistory(descriptor).map(\.token) == history.suffix(2).map(\.token))
    let author = "even"
    descriptor.predicate = #Predicate { transaction in
      (transaction.token > kept) && (transaction.author == author)
    }
    #expect(try context.fetchHistory(descriptor).map(\.token) == [history[3].token])
    let last = history[0].transactionIdentifier
    descriptor = HistoryDescriptor(
      predicate: #Predicate { $0.transactionIdentifier > last && ($0.author == nil || $0.author != author) },
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
    #expect(try context.fetchHistory(descriptor).map(\.token) == [history[2].token])
    descriptor = HistoryDescriptor(sortBy: [SortDescriptor(\.token, order: .reverse)])
    descriptor.fetchLimit = 1
    #expect(try context.fetchHistory(descriptor).map(\.token) == [history[3].token])
    let launch = Date.now.addingTimeInterval(60)
    descriptor = HistoryDescriptor(predicate: #Predicate { $0.timestamp > launch })
    #expect(try context.fetchHistory(descriptor).isEmpty)
    // Where SwiftData's history ends, the sequence of commits goes on.
    #expect(store.latestToken == history[3].token.commitToken)
  }

  @Test func `both sides of a many to many tell of a pair`() throws {
    let parcel = Parcel("P-1", weight: 2)
    let (north, south) = (Depot("North"), Depot("South"))
    context.insert(parcel)
    context.insert(north)
    context.insert(south)
    try context.save()
    parcel.route = [north]
    parcel.weight = 5
    try context.save()
    let changes = try #require(try all().last).changes
    let updates = changes.compactMap {
      if case .update(let update as DefaultHistoryUpdate<Parcel>) = $0 { update } else { nil }
    }
    let depots = changes.compactMap {
      if case .update(let update as DefaultHistoryUpdate<Depot>) = $0 { update } else { nil }
    }
    #expect(updates.map(\.updatedAttributes) == [[\.weight, \.route]])
    #expect(depots.map(\.updatedAttributes) == [[\.passing]])
    #expect(depots.map(\.changedPersistentIdentifier) == [north.persistentModelID])
  }

  @Test func `history is deleted from its beginning, and who stood there is told`() throws {
    for number in 1...4 {
      context.author = "\(number)"
      context.insert(Parcel("P-\(number)", weight: number))
      try context.save()
    }
    let history = try all()
    #expect(throws: ModelError.self) {
      try context.deleteHistory(HistoryDescriptor(predicate: #Predicate { $0.author == "3" }))
    }
    #expect(try all().count == 4)
    let end = history[2].token
    try context.deleteHistory(HistoryDescriptor(predicate: #Predicate { $0.token < end }))
    #expect(try all().map(\.author) == ["3", "4"])
    let first = history[0].token
    let error = #expect(throws: ChangeLogError.self) {
      try context.fetchHistory(HistoryDescriptor(predicate: #Predicate { $0.token > first }))
    }
    guard case .trimmed? = error else { throw error! }
    do {
      _ = try context.fetchHistory(HistoryDescriptor(predicate: #Predicate { $0.token > first }))
    } catch SwiftDataError.historyTokenExpired {
    } catch {
      Issue.record("\(error)")
    }
    try context.deleteHistory(HistoryDescriptor())
    #expect(try all().isEmpty)
    context.insert(Parcel("P-5", weight: 5))
    try context.save()
    #expect(try all().map(\.changes.count) == [1])
    let latest = history[3].token
    #expect(try context.fetchHistory(HistoryDescriptor(predicate: #Predicate { $0.token > latest })).count == 1)
    #expect(try ModelContext(store).fetchCount(FetchDescriptor<Parcel>()) == 5)
  }

  @Test func `without a log there is no history, and the error says how to have one`() throws {
    let context = ModelContext(try QuireModelTests.store())
    for ask in [
      { _ = try context.fetchHistory(HistoryDescriptor()) }, { try context.deleteHistory(HistoryDescriptor()) },
    ] {
      let error = #expect(throws: ChangeLogError.self) { try ask() }
      #expect(error?.description.contains("changeLog: .on()") == true)
    }
  }

  @Test func `history played from the beginning leads to what is there`() throws {
    let seed = extraSeed
    var random = Random(seed: seed)
    for step in 0..<80 {
      let parcels = try context.fetch(FetchDescriptor<Parcel>())
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: context.insert(Parcel("P-\(step)", weight: step))
      case 2: parcels.randomElement(using: &random)?.weight += 1
      case 3: if let parcel = parcels.randomElement(using: &random) { context.delete(parcel) }
      default: try store.execute("DELETE FROM parcel WHERE id = (SELECT min(id) FROM parcel)")
      }
      try context.save()
    }
    #expect(try played(all()) == keys(), "seed \(seed)")
    // The control: with a deletion overlooked it would lead elsewhere.
    let overlooked = try all().filter { transaction in
      !transaction.changes.contains { if case .delete = $0 { true } else { false } }
    }
    #expect(try played(overlooked) != keys(), "seed \(seed)")
  }

  private func played(_ history: [DefaultHistoryTransaction]) -> Set<PersistentIdentifier> {
    var result: Set<PersistentIdentifier> = []
    for change in history.flatMap(\.changes) {
      switch change {
      case .insert(let insert): result.insert(insert.changedPersistentIdentifier)
      case .update(let update): result.insert(update.changedPersistentIdentifier)
      case .delete(let delete): result.remove(delete.changedPersistentIdentifier)
      }
    }
    return result
  }

  private func keys() throws -> Set<PersistentIdentifier> {
    Set(try ModelContext(store).fetchIdentifiers(FetchDescriptor<Parcel>()))
  }
}

@Model final class Parcel {
  enum Size: String, Codable { case small, large }
  struct Box: Codable, Hashable {
    var width: Double
    var tags: [String]
  }
  @Attribute(.unique, .preserveValueOnDeletion) var uuid = UUID()
  var code: String
  @Attribute(.preserveValueOnDeletion) var made: Date?
  @Attribute(.preserveValueOnDeletion) var size = Size.small
  @Attribute(.preserveValueOnDeletion) var box: Box?
  @Attribute(.preserveValueOnDeletion) var note: String?
  var weight: Int
  var depot: Depot?
  @Relationship(inverse: \Depot.passing) var route: [Depot] = []
  init(_ code: String, weight: Int) {
    self.code = code
    self.weight = weight
  }
}

@Model final class Depot {
  var name: String
  @Relationship(inverse: \Parcel.depot) var parcels: [Parcel] = []
  var passing: [Parcel] = []
  init(_ name: String) { self.name = name }
}
