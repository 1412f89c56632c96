import Quire
import TestSupport
import Testing

/// What a new object that becomes a row's object by an upsert does to what the row has referred to, whether or not the
/// row's object is in memory.
@Suite(.fewAtOnce) struct UpsertedReferenceTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.onUniqueConflict = .upsert
    store = try ModelContainer(
      for: Curator.self, Permit.self, Exhibit.self, Banner.self, Emblem.self, configurations: configuration)
    context = ModelContext(store, isolation: nil)
    let other = ModelContext(store)
    let (ada, bob) = (Curator("ada"), Curator("bob"))
    ada.permit = Permit(1)
    ada.exhibits = [Exhibit("vase")]
    for curator in [ada, bob] { other.insert(curator) }
    try other.save()
  }

  private func curators() throws -> [Curator] {
    try context.fetch(FetchDescriptor<Curator>(sortBy: [SortDescriptor(\.name)]))
  }

  @Test(arguments: [true, false]) func `a one-to-one reference is to the new object only`(isInMemory: Bool) throws {
    let present = isInMemory ? try curators() : []
    let (ada, permit) = (Curator("ada"), Permit(2))
    ada.permit = permit
    context.insert(ada)
    try context.save()
    #expect(
      try store.query("SELECT number, curator_id FROM permit ORDER BY 1").map(\.values) == [[1, .null], [2, 1]])
    #expect(try curators().map { $0.permit?.number } == [2, nil])
    #expect(permit.curator === (isInMemory ? present[0] : ada) && ada.isDeleted == isInMemory)
  }

  @Test(arguments: [true, false])
  func `a one-to-one reference that a new object does not set is kept`(isInMemory: Bool) throws {
    let present = isInMemory ? try curators() : []
    context.insert(Curator("ada"))
    try context.save()
    #expect(try curators().map { $0.permit?.number } == [1, nil])
    #expect(present.count == (isInMemory ? 2 : 0))
  }

  @Test(arguments: [true, false]) func `a row leaves the list of what it referred to`(isInMemory: Bool) throws {
    let curators = try curators()
    #expect(curators.map(\.exhibits.count) == [1, 0] && curators.map { $0.permit?.number } == [1, nil])
    let present = isInMemory ? (curators[0].exhibits, curators[0].permit) : ([], nil)
    try context.refresh()  // what is not kept is released
    let (vase, permit) = (Exhibit("vase"), Permit(1))
    for model in [vase, permit] as [any PersistentModel] { context.insert(model) }
    (vase.curator, permit.curator) = (curators[1], curators[1])
    try context.save()
    #expect(curators.map(\.exhibits.count) == [0, 1] && curators.map { $0.permit?.number } == [nil, 1])
    #expect(vase.isDeleted == isInMemory && curators[1].exhibits[0] === (isInMemory ? present.0[0] : vase))
    #expect(try store.value("SELECT curator_id FROM exhibit") == 2)
  }

  /// Nothing but the list is edited, so its object has no unsaved values.
  @Test(arguments: [true, false], [true, false])
  func `a list without another side has the row's object in the new one's place`(isInMemory: Bool, isLoaded: Bool)
    throws
  {
    let other = ModelContext(store)
    for word in ["dragon", "wave"] { other.insert(Emblem(word)) }
    other.insert(Banner())
    try other.save()
    let present = isInMemory ? try context.fetch(FetchDescriptor<Emblem>()) : []
    let banner = try #require(context.fetch(FetchDescriptor<Banner>()).first)
    if isLoaded { #expect(banner.emblems.isEmpty) }
    let (dragon, wave) = (Emblem("dragon"), Emblem("wave"))
    banner.emblems = [dragon, Emblem("dragon")]
    dragon.besides = [wave]
    try context.save()
    #expect(banner.emblems.map(\.word) == ["dragon"] && banner.emblems[0].besides.map(\.word) == ["wave"])
    #expect(present.isEmpty || banner.emblems[0] === present[0] && present[0].besides[0] === present[1])
    #expect(try store.value("SELECT count(*) FROM banner_emblems") == 1 && !context.hasChanges)
    let reader = ModelContext(store)
    let read = try #require(reader.fetch(FetchDescriptor<Banner>()).first).emblems
    #expect(read.map(\.word) == ["dragon"] && read[0].besides.map(\.word) == ["wave"])
  }
}

@Model final class Curator {
  @Attribute(.unique) var name: String
  var permit: Permit?
  @Relationship(inverse: \Exhibit.curator) var exhibits: [Exhibit] = []
  init(_ name: String) { self.name = name }
}

@Model final class Permit {
  @Attribute(.unique) var number: Int
  @Relationship(inverse: \Curator.permit) var curator: Curator?
  init(_ number: Int) { self.number = number }
}

@Model final class Exhibit {
  @Attribute(.unique) var title: String
  var curator: Curator?
  init(_ title: String) { self.title = title }
}

@Model final class Banner {
  @Relationship var emblems: [Emblem] = []
  init() {}
}

@Model final class Emblem {
  @Attribute(.unique) var word: String
  @Relationship var besides: [Emblem] = []
  init(_ word: String) { self.word = word }
}
