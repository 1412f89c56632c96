import Quire
import TestSupport
import Testing

/// What a save decides on committed rows, with a commit between the save's first look and its lock: an observer makes it
/// while the save takes in what others have committed.
@Suite(.fewAtOnce) struct LookAndLockTests {
  private func store() throws -> ModelContainer {
    try ModelContainer(
      for: Tome.self, Shelf.self, Team.self, Player.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  /// Has the next move of the context run SQL: a commit of another one, to which the object belongs, is waiting for it.
  private func meanwhile(_ tome: Tome, in store: ModelContainer, _ commits: Counter, _ sql: SQL) throws {
    withObservationTracking {
      _ = tome.title
    } onChange: {
      if (try? store.execute(sql)) != nil { commits.add() }
    }
    try store.execute("UPDATE tome SET title = title || '+' WHERE code = \(tome.code)")
  }

  private final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  private func shown(in context: ModelContext) throws -> Tome {
    let tome = Tome("shown", "Shown", shelf: nil)
    context.insert(tome)
    try context.save()
    return tome
  }

  @Test func `a unique value taken meanwhile is the row that an upsert becomes`() throws {
    let (store, counter) = (try store(), Counter())
    let context = ModelContext(store)
    let shown = try shown(in: context)
    context.insert(Tome("x", "mine", shelf: nil))
    try meanwhile(
      shown, in: store, counter,
      "INSERT INTO tome (code, title, number, series, pages) VALUES ('x', 'theirs', 1000, 't', 7)")
    try context.save(onUniqueConflict: .upsert)
    #expect(counter.value == 1 && shown.title == "Shown+")
    #expect(try store.query("SELECT title FROM tome WHERE code = 'x'").map(\.values) == [["mine"]])
  }

  @Test func `a place taken meanwhile counts`() throws {
    let (store, counter) = (try store(), Counter())
    let context = ModelContext(store)
    let shown = try shown(in: context)
    let team = Team()
    context.insert(team)
    for _ in 0..<2 {
      let player = Player()
      player.team = team
      context.insert(player)
    }
    try context.save()
    let third = Player()
    context.insert(third)
    team.players.removeLast()
    third.team = team
    try meanwhile(shown, in: store, counter, "INSERT INTO player (team_id) SELECT id FROM team")
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .relationshipCount? = error else { throw try #require(error) }
    #expect(counter.value == 1)
    #expect(try store.value("SELECT count(*) FROM player") == 3)
  }

  @Test func `a target deleted meanwhile is named, and nothing is saved`() throws {
    let (store, counter) = (try store(), Counter())
    let context = ModelContext(store)
    let shown = try shown(in: context)
    let shelf = Shelf("gone")
    context.insert(shelf)
    try context.save()
    context.insert(Tome("x", "mine", shelf: shelf))
    try meanwhile(shown, in: store, counter, "DELETE FROM shelf")
    #expect(throws: ModelError.self) { try context.save() }
    #expect(counter.value == 1)
    #expect(try store.value("SELECT count(*) FROM tome WHERE code = 'x'") == 0)
  }
}
