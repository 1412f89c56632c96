import Quire
import Testing

@Model private final class Depot {
  var name: String
  init(_ name: String) { self.name = name }
}

/// Has an `id` of its own beside its identifier, and identifiers that are those of another object.
@Model private final class Parcel {
  @Attribute(.unique) var id: String
  var depot: Depot?
  var follows: Parcel?

  init(_ id: String, in depot: Depot? = nil, after: Parcel? = nil) {
    self.id = id
    self.depot = depot
    self.follows = after
  }

  var handle: PersistentIdentifier { id }
  var leader: PersistentIdentifier { follows?.persistentModelID ?? persistentModelID }
  /// Of a depot, or of the parcel itself.
  var place: PersistentIdentifier { depot?.persistentModelID ?? persistentModelID }
}

private func find<T: PersistentModel>(_ id: PersistentIdentifier, as type: T.Type, in context: ModelContext) throws
  -> T?
{
  try context.fetch(FetchDescriptor<T>(predicate: #Predicate { $0.id == id })).first
}

private func find<T: PersistentModel>(equal id: T.ID, as type: T.Type, in context: ModelContext) throws -> T?
where T.ID: Codable & Sendable {
  try context.fetch(FetchDescriptor<T>(predicate: #Predicate { $0.id == id })).first
}

@Suite @MainActor struct IdentifierTests {
  private let container: ModelContainer
  private var context: ModelContext { container.mainContext }

  init() throws {
    container = try ModelContainer(
      for: Depot.self, Parcel.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test func `an identifier names a store once its object is saved`() throws {
    let depot = Depot("north")
    #expect(depot.persistentModelID.storeIdentifier == nil)
    context.insert(depot)
    #expect(depot.persistentModelID.storeIdentifier == nil && depot.persistentModelID.entityName == "Depot")
    try context.save()
    #expect(depot.persistentModelID.storeIdentifier != nil)
  }

  @Test func `the type that is asked for decides between an id and the identifier`() throws {
    let parcel = Parcel("a", in: Depot("north"))
    context.insert(parcel)
    try context.save()
    let depot = try #require(parcel.depot)
    let handle: PersistentIdentifier = parcel.id
    #expect(parcel.id == "a" && handle == parcel.persistentModelID && parcel.handle == handle && depot.id != handle)
    #expect(try find(handle, as: Parcel.self, in: context) === parcel)
    #expect(try find(depot.id, as: Depot.self, in: context) === depot)
    #expect(try find(equal: "a", as: Parcel.self, in: context) === parcel)
    #expect(try find(equal: depot.id, as: Depot.self, in: context) === depot)
    #expect(try context.fetch(FetchDescriptor<Parcel>(predicate: #Predicate { $0.id == "a" })) == [parcel])
    #expect(try context.live(Parcel.self, where: #Predicate { $0.persistentModelID == handle }).count == 1)
  }

  @Test func `a computed identifier of another object is not taken for the object's own`() throws {
    let first = Parcel("a")
    let second = Parcel("b", after: first)
    let third = Parcel("c", after: first)
    for parcel in [third, second, first] {
      context.insert(parcel)
      try context.save()
    }
    let id = first.persistentModelID
    let names = SortDescriptor(\Parcel.id)
    let led = try context.fetch(FetchDescriptor<Parcel>(predicate: #Predicate { $0.leader == id }, sortBy: [names]))
    #expect(led.map(\.id) == ["a", "b", "c"])
    #expect(throws: UntranslatablePredicate.self) {
      try context.live(Parcel.self, where: #Predicate { $0.leader == id })
    }
    second.follows = third
    try context.save()
    let order = FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.leader, order: .reverse), names])
    #expect(try context.fetch(order).map(\.id) == ["a", "c", "b"])
    let ahead = FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.follows?.persistentModelID, order: .reverse)])
    #expect(try context.fetch(ahead).map(\.id) == ["c", "b", "a"])
  }

  @Test func `a computed identifier is compared by its model, too`() throws {
    let depots = ["north", "south"].map { Depot($0) }
    let parcels = ["a", "b", "c", "d"].map { Parcel($0) }
    for object in depots as [any PersistentModel] + parcels {
      context.insert(object)
      try context.save()
    }
    (parcels[1].depot, parcels[3].depot) = (depots[0], depots[1])
    func found(_ predicate: Predicate<Parcel>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.id)])).map(\.id)
    }
    // Rows 1 of both models, then rows 2; with what is unsaved, and saved.
    let (north, south, a, b) = (depots[0].id, depots[1].id, parcels[0].persistentModelID, parcels[1].persistentModelID)
    #expect(north.rowKey == a.rowKey && south.rowKey == b.rowKey)
    for _ in 0..<2 {
      #expect(try found(#Predicate { $0.place == north }) == ["b"])
      #expect(try found(#Predicate { $0.place == a }) == ["a"])
      #expect(try found(#Predicate { south == $0.place }) == ["d"])
      #expect(try found(#Predicate { $0.place == b }) == [])
      #expect(try found(#Predicate { $0.place != north }) == ["a", "c", "d"])
      let several = [south, a, b]
      #expect(try found(#Predicate { several.contains($0.place) }) == ["a", "d"])
      #expect(try found(#Predicate { !several.contains($0.place) }) == ["b", "c"])
      #expect(try found(#Predicate { $0.place == $0.persistentModelID }) == ["a", "c"])
      #expect(try found(#Predicate { $0.place == $0.leader && $0.id > "a" }) == ["c"])
      #expect(try found(#Predicate { $0.depot?.persistentModelID == $0.place }) == ["b", "d"])
      #expect(try found(#Predicate { ($0.id == "a" ? $0.persistentModelID : $0.place) == a }) == ["a"])
      #expect(try found(#Predicate { $0.place < a }) == parcels.filter { $0.place < a }.map(\.id))
      try context.save()
    }
  }
}
