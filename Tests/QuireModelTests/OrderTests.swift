import Quire
import TestSupport
import Testing

/// Lists that stay as they are assigned, and lists that say how long they may be.
@Suite(.fewAtOnce) struct OrderTests {
  let store: ModelContainer
  let context: ModelContext
  let novel: Novel

  init() throws {
    store = try ModelContainer(for: Novel.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    novel = Novel()
    novel.chapters = ["one", "two", "three", "four"].map(Chapter.init)
    context.insert(novel)
    try context.save()
  }

  /// As a context that has read nothing sees it.
  private func afresh() throws -> [String] {
    let context = ModelContext(store)
    return try #require(try context.fetch(FetchDescriptor<Novel>()).first).chapters.map(\.title)
  }

  @Test func `a list is as it was assigned, in every context`() throws {
    #expect(novel.chapters.map(\.title) == ["one", "two", "three", "four"])
    #expect(try afresh() == ["one", "two", "three", "four"])
    novel.chapters.reverse()
    #expect(novel.chapters.map(\.title) == ["four", "three", "two", "one"])
    try context.save()
    #expect(try afresh() == ["four", "three", "two", "one"])
    context.rollback()
    novel.chapters.swapAt(0, 3)
    context.rollback()
    #expect(novel.chapters.map(\.title) == ["four", "three", "two", "one"])
  }

  @Test func `a move writes one row, an insertion between two as well`() throws {
    let last = try #require(novel.chapters.last)
    novel.chapters = [last] + novel.chapters.dropLast()
    #expect(context.changedModelsArray.count == 1)
    try context.save()
    #expect(try afresh() == ["four", "one", "two", "three"])
    novel.chapters.insert(Chapter("half"), at: 2)
    #expect(context.changedModelsArray.isEmpty && context.insertedModelsArray.count == 1)
    try context.save()
    #expect(try afresh() == ["four", "one", "half", "two", "three"])
    let heard = tracking { _ = novel.chapters.map(\.title) }
    let first = novel.chapters.removeFirst()
    #expect(heard.count == 1)
    novel.chapters.append(first)
    try context.save()
    #expect(try afresh() == ["one", "half", "two", "three", "four"])
  }

  @Test func `who tracks a list in another context hears of a move`() throws {
    let other = ModelContext(store)
    let theirs = try #require(try other.fetch(FetchDescriptor<Novel>()).first)
    let heard = tracking { _ = theirs.chapters }
    novel.chapters.swapAt(1, 2)
    try context.save()
    try other.refresh()
    #expect(heard.count == 1 && theirs.chapters.map(\.title) == ["one", "three", "two", "four"])
  }

  @Test func `random moves leave the list as an array would be, and mostly write one row each`() throws {
    let seed = extraSeed
    var random = Random(seed: seed)
    var expected = novel.chapters
    var renumbered = 0
    for step in 0..<200 {
      let from = Int.random(in: 0..<expected.count, using: &random)
      let chapter = expected.remove(at: from)
      expected.insert(chapter, at: min(1, expected.count))  // always to the same place: numbers run out there
      novel.chapters = expected
      #expect(novel.chapters.map(\.title) == expected.map(\.title), "seed \(seed), step \(step)")
      if context.changedModelsArray.count > 1 { renumbered += 1 }
      try context.save()
    }
    #expect(try afresh() == expected.map(\.title), "seed \(seed)")
    #expect(renumbered < 20, "seed \(seed)")
  }

  @Test func `an order that cannot be kept is refused when the schema is made`() throws {
    let error = #expect(throws: SchemaError.self) { try ModelContainer.schemaSQL(for: Crowd.self) }
    guard case .unusableOrder("Crowd", "members", _)? = error?.problem else { throw error! }
    let other = #expect(throws: SchemaError.self) { try ModelContainer.schemaSQL(for: Queue.self) }
    #expect(other?.description.contains("Waiting.place must be a Double") == true)
  }

  @Test func `too few or too many are an error of the save, which names them`() throws {
    let store = try ModelContainer(for: Team.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let team = Team()
    context.insert(team)
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .relationshipCount("Team", "players", 0, 1...2)? = error else { throw error! }
    team.players = [Player(), Player()]
    try context.save()
    let third = Player()
    third.team = team
    context.insert(third)
    #expect(throws: ModelError.self) { try context.save() }
    context.rollback()
    for player in team.players { context.delete(player) }
    #expect(throws: ModelError.self) { try context.save() }
    context.rollback()
    #expect(team.players.count == 2)
  }

  @Test func `counts hold where the list has not been read, and where rows are deleted by predicate`() throws {
    let store = try ModelContainer(for: Team.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    for _ in 0..<2 {
      let team = Team()
      team.players = [Player()]
      context.insert(team)
    }
    try context.save()
    func refusal(_ body: (ModelContext, [Player]) throws -> Void) throws -> Int? {
      let other = ModelContext(store)
      let players = try other.fetch(FetchDescriptor<Player>())
      do {
        try body(other, players)
        try other.save()
      } catch ModelError.relationshipCount("Team", "players", let count, 1...2) {
        return count
      }
      return nil
    }
    #expect(try refusal { context, players in context.delete(players[0]) } == 0)
    #expect(try refusal { _, players in players[0].team = nil } == 0)
    #expect(try refusal { _, players in players[0].team = players[1].team } == 0)
    #expect(try refusal { context, _ in try context.delete(model: Player.self) } == 0)
    let error = #expect(throws: ModelError.self) { try context.delete(model: Player.self) }
    #expect("\(error as Any)".contains("Nothing was written, and unsaved edits are still pending"))
    #expect(
      try refusal { context, players in
        for _ in 0..<2 {
          let new = Player()
          new.team = players[1].team
          context.insert(new)
        }
      } == 3)
    #expect(try store.value("SELECT count(*) FROM player") == 2)
    // An exchange keeps both, and a team goes with its players.
    #expect(
      try refusal { _, players in (players[0].team, players[1].team) = (players[1].team, players[0].team) } == nil)
    #expect(
      try refusal { context, players in
        if let team = players[0].team { context.delete(team) }
        context.delete(players[0])
      } == nil)
    #expect(
      try store.query("SELECT (SELECT count(*) FROM team), (SELECT count(*) FROM player)").map(\.values) == [[1, 1]])
  }

  @Test func `counts of a many to many hold on both sides`() throws {
    let store = try ModelContainer(for: Choir.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let (choir, other) = (Choir(), Choir())
    let (ann, bob) = (Singer(), Singer())
    choir.singers = [ann]
    other.singers = [bob]
    context.insert(choir)
    context.insert(other)
    try context.save()
    let refused = { (body: () -> Void) in
      body()
      let error = #expect(throws: ModelError.self) { try context.save() }
      context.rollback()
      return error.map { "\($0)" } ?? ""
    }
    #expect(refused { choir.singers = [] }.hasPrefix("Choir.singers would have 0"))
    #expect(refused { choir.singers = [ann, bob] }.hasPrefix("Singer.choirs would have 2"))
    #expect(refused { context.delete(bob) }.hasPrefix("Choir.singers would have 0"))
    let fresh = ModelContext(store)
    let theirs = try #require(try fresh.fetch(FetchDescriptor<Singer>()).first)
    fresh.delete(theirs)
    #expect(throws: ModelError.self) { try fresh.save() }
    choir.singers = [bob]
    other.singers = [ann]
    try context.save()
    #expect(try store.query("SELECT singer_id FROM choir_singers ORDER BY choir_id").map(\.values) == [[2], [1]])
  }

  @Test func `the control: a list that is not as it was moved is noticed`() throws {
    let expected = ["two", "one", "three", "four"]
    novel.chapters.swapAt(0, 1)
    try context.save()
    #expect(try afresh() == expected)
    try store.execute("UPDATE chapter SET place = -place")
    #expect(try afresh() != expected)
    try store.execute("UPDATE chapter SET place = 0")
    #expect(try afresh() != expected)
  }

  #if DEBUG
    @Test func `a relationship that is loaded for one object at a time is reported once a turn`() throws {
      for _ in 0..<40 {
        let novel = Novel()
        novel.chapters = [Chapter("x")]
        context.insert(novel)
      }
      try context.save()
      let ids = try context.fetchIdentifiers(FetchDescriptor<Chapter>())
      for prefetches in [false, true] {
        let context = ModelContext(store)
        let reports = Locked<[StoreWarning]>([])
        let observation = store.observeWarnings { warning in reports.withLock { $0.append(warning) } }
        defer { observation.cancel() }
        if prefetches {
          var descriptor = FetchDescriptor<Chapter>()
          descriptor.relationshipKeyPathsForPrefetching = [\.novel]
          let chapters = try context.fetch(descriptor)
          #expect(chapters.allSatisfy { $0.novel != nil } && reports.withLock { $0.isEmpty })
        } else {
          var held: [Chapter] = []
          for id in ids {
            let chapter = try #require(context.model(for: id) as? Chapter)
            _ = chapter.novel
            held.append(chapter)
          }
          let warnings = reports.withLock { $0 }
          #expect(warnings.map(\.kind) == [.repeatedLoads])
          #expect(warnings.first?.description.hasPrefix("Chapter.novel was loaded") == true)
        }
      }
    }
  #endif
}

@Model final class Novel {
  @Relationship(deleteRule: .cascade, inverse: \Chapter.novel, order: \Chapter.place) var chapters: [Chapter] = []
  init() {}
}

@Model final class Chapter {
  var title: String
  private(set) var place: Double = 0
  var novel: Novel?
  init(_ title: String) { self.title = title }
}

@Model final class Crowd {
  @Relationship(order: \Guest.place) var members: [Guest] = []
  init() {}
}

@Model final class Guest {
  var place = 0.0
  init() {}
}

@Model final class Queue {
  @Relationship(inverse: \Waiting.queue, order: \Waiting.place) var all: [Waiting] = []
  init() {}
}

@Model final class Waiting {
  var place = 0
  var queue: Queue?
  init() {}
}

@Model final class Choir {
  @Relationship(minimumModelCount: 1, inverse: \Singer.choirs) var singers: [Singer] = []
  init() {}
}

@Model final class Singer {
  @Relationship(maximumModelCount: 1) var choirs: [Choir] = []
  init() {}
}

@Model final class Team {
  @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Player.team) var players: [Player] = []
  init() {}
}

@Model final class Player {
  var team: Team?
  init() {}
}
