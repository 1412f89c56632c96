import Quire
import TestSupport
import Testing

/// Saves that refuse to overwrite what others have committed.
@Suite(.fewAtOnce) struct ConflictTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Le Guin": ["Eden"], "Lem": ["Solaris", "Fiasco"]])
    context = ModelContext(store)
    context.onConflict = .refuse
  }

  private func other() -> ModelContext {
    let other = ModelContext(store)
    other.onConflict = .refuse
    return other
  }

  @discardableResult
  private func conflicts(_ save: () throws -> Void, _ place: SourceLocation = #_sourceLocation) throws -> [SaveConflict]
  {
    let error = #expect(throws: ModelError.self, sourceLocation: place) { try save() }
    guard case .conflict(let conflicts)? = error else { throw try #require(error, sourceLocation: place) }
    return conflicts
  }

  @Test func `two that take one from the same stock cannot both be saved`() throws {
    let other = other()
    let (mine, theirs) = (try context.volume("Eden"), try other.volume("Eden"))
    mine.price -= 1
    theirs.price -= 1
    try other.save()
    let conflict = try #require(try conflicts { try context.save() }.first)
    #expect(conflict.kind == .edited && conflict.identifier == mine.persistentModelID)
    let price = try #require(conflict.properties.first)
    #expect(conflict.properties.count == 1 && price.name == "price")
    #expect([price.base, price.mine, price.theirs] == [0.0, -1.0, -1.0])
    context.rollback()
    mine.price -= 1
    try context.save()
    #expect(try store.value("SELECT price FROM volume WHERE title = 'Eden'") == -2.0)
  }

  @Test func `a conflict is thrown at every save until it is rolled back or merged`() throws {
    let mine = try context.volume("Eden")
    mine.title = "mine"
    mine.year = 3
    try store.execute("UPDATE volume SET title = 'theirs', price = 7 WHERE title = 'Eden'")
    for _ in 0..<3 {
      try conflicts { try context.save() }
      try context.refresh()
      #expect(context.hasChanges && mine.title == "mine" && mine.price == 7)
    }
    #expect(try store.value("SELECT count(*) FROM volume WHERE title = 'theirs'") == 1)
    try context.save(onConflict: .merge)
    #expect(context.onConflict == .refuse && !context.hasChanges)
    #expect(try store.query("SELECT title, year, price FROM volume WHERE id = 1").map(\.values) == [["mine", 3, 7.0]])
    mine.title = "again"
    try store.execute("UPDATE volume SET title = 'theirs' WHERE id = 1")
    try conflicts { try context.save() }
    context.rollback()
    #expect(mine.title == "theirs" && !context.hasChanges)
    mine.title = "last"
    try context.save()
    #expect(try store.value("SELECT title FROM volume WHERE id = 1") == "last")
  }

  @Test func `what others have changed in other properties, and changed back, is no conflict`() throws {
    let mine = try context.volume("Eden")
    mine.title = "mine"
    try store.execute("UPDATE volume SET year = 2 WHERE id = 1")
    try store.execute("UPDATE volume SET title = 'x' WHERE id = 1")
    try store.execute("UPDATE volume SET title = 'Eden' WHERE id = 1")
    try context.save()
    #expect(try store.query("SELECT title, year FROM volume WHERE id = 1").map(\.values) == [["mine", 2]])
  }

  @Test func `an edit is made on the value that the property has then, not when another was edited`() throws {
    let mine = try context.volume("Eden")
    mine.title = "mine"
    try store.execute("UPDATE volume SET year = 1959 WHERE id = 1")
    try context.refresh()
    mine.year = 1960
    try context.save()
    mine.title = "more"
    try store.execute("UPDATE volume SET year = 1961 WHERE id = 1")
    mine.year = 1962  // made on 1960: nothing was read since
    #expect(try conflicts { try context.save() }.first?.properties.map(\.name) == ["year"])
  }

  @Test func `a delete of a row that others have changed or deleted is a conflict`() throws {
    let eden = try context.volume("Eden")
    let solaris = try context.volume("Solaris")
    let fiasco = try context.volume("Fiasco")
    for volume in [eden, solaris, fiasco] { context.delete(volume) }
    try store.execute("UPDATE volume SET year = 1 WHERE title = 'Eden'")
    try store.execute("DELETE FROM volume WHERE title = 'Solaris'")
    for _ in 0..<2 {
      let found = try conflicts { try context.save() }
      #expect(found.map(\.kind) == [.deletedHere, .deletedElsewhere])
      #expect(found.first?.properties.map(\.name) == ["year"] && found.first?.properties.first?.theirs == 1)
    }
    #expect(try store.value("SELECT count(*) FROM volume") == 2)
    context.rollback()
    #expect(!eden.isDeleted && eden.year == 1 && solaris.isDeleted && !fiasco.isDeleted)
    context.delete(eden)
    context.delete(fiasco)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM volume") == 0)
  }

  @Test func `a merging save leaves what others delete and bring back after it was deleted here`() throws {
    let eden = try context.volume("Eden")
    context.delete(eden)
    try store.execute("DELETE FROM volume WHERE title = 'Eden'")
    try context.refresh()
    #expect(eden.isDeleted && context.hasChanges)
    try store.execute("INSERT INTO volume (id, title, year, price, is_in) VALUES (1, 'Eden', 1, 0, 1)")
    for _ in 0..<2 {
      #expect(try conflicts { try context.save() }.map(\.kind) == [.deletedElsewhere])
    }
    try context.save(onConflict: .merge)
    #expect(try !context.hasChanges && context.volume("Eden").year == 1)
  }

  @Test func `a merging save of a deletion that others have made too throws nothing`() throws {
    context.delete(try context.volume("Eden"))
    try store.execute("DELETE FROM volume WHERE title = 'Eden'")
    try context.refresh()
    try context.save(onConflict: .merge)
    try context.save()
  }

  @Test func `an edit of a row that others have deleted is a conflict`() throws {
    let eden = try context.volume("Eden")
    eden.title = "mine"
    try store.execute("DELETE FROM volume WHERE id = 1")
    for _ in 0..<2 {
      let found = try conflicts { try context.save() }
      #expect(found.map(\.kind) == [.deletedElsewhere])
      #expect(found.first?.properties.map(\.name) == ["title"] && found.first?.properties.first?.mine == "mine")
    }
    try context.save(onConflict: .merge)
    #expect(!context.hasChanges && eden.isDeleted)
    try context.save()
  }

  @Test func `an edit that a merging save has dropped with its row is no conflict later`() throws {
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    eden.title = "mine"
    solaris.title = "mine, too"
    try store.execute("DELETE FROM volume WHERE title = 'Eden'")
    let error = #expect(throws: ModelError.self) { try context.save(onConflict: .merge) }
    guard case .ignoredAssignments? = error else { throw try #require(error) }
    try context.save()
    #expect(eden.isDeleted && !context.hasChanges)
    #expect(try store.value("SELECT count(*) FROM volume WHERE title = 'mine, too'") == 1)
  }

  @Test func `a to-one that others have set, to the same object too, is a conflict`() throws {
    let eden = try context.volume("Eden")
    eden.writer = try context.writer("Lem")
    try store.execute("UPDATE volume SET writer_id = (SELECT id FROM writer WHERE name = 'Lem') WHERE id = 1")
    #expect(try conflicts { try context.save() }.first?.properties.map(\.name) == ["writer"])
  }

  @Test func `values are compared by their bytes`() throws {
    try store.execute("UPDATE volume SET title = 'e\u{301}' WHERE id = 1")
    let volume = try #require(try context.get(Volume.self, key: 1))
    volume.title = "mine"
    try store.execute("UPDATE volume SET title = '\u{e9}' WHERE id = 1")
    try conflicts { try context.save() }
    context.rollback()
    #expect(volume.title.unicodeScalars.count == 1)
  }

  @Test func `a transaction refuses edits made before it, and takes those made in it`() throws {
    let eden = try context.volume("Eden")
    eden.price = 1
    try store.execute("UPDATE volume SET price = 5 WHERE id = 1")
    try conflicts { try context.transaction { eden.year = 1 } }
    #expect(eden.price == 1 && eden.year == nil && context.changedModelsArray.count == 1)
    context.rollback()
    try store.execute("UPDATE volume SET price = 6 WHERE id = 1")
    try context.transaction {
      eden.price += 1
      try context.save()
      eden.price += 1
    }
    #expect(try store.value("SELECT price FROM volume WHERE id = 1") == 8.0)
  }

  /// An observer commits while the save takes in what others have committed: so the save finds one more commit when it
  /// has the lock. If it concerns an observed object, the save takes it in outside the lock.
  @Test(arguments: [false, true])
  func `what was committed between the look and the lock is a conflict`(isObserved: Bool) throws {
    let eden = try context.volume("Eden")
    let solaris = try context.volume("Solaris")
    eden.price = 1
    let commits = Locked(0)
    withObservationTracking {
      _ = solaris.year
    } onChange: { [store] in
      commits.withLock { $0 += 1 }
      _ = try? store.execute("UPDATE volume SET price = price + 10 WHERE id = 1")
      if isObserved { _ = try? store.execute("UPDATE volume SET price = price + 10 WHERE title = 'Solaris'") }
    }
    try store.execute("UPDATE volume SET year = 0 WHERE title = 'Solaris'")
    #expect(try conflicts { try context.save() }.first?.properties.first?.theirs == 10.0)
    #expect(commits.withLock { $0 } == 1 && solaris.year == 0 && solaris.price == (isObserved ? 10 : 0))
  }

  @Test(arguments: [false, true])
  func `increments of threads that try again lose nothing`(inTransactions: Bool) throws {
    let store = store
    let failures = Locked([String]())
    let threads = (0..<4).map { _ in
      Thread {
        let context = ModelContext(store, isolation: nil)
        context.onConflict = .refuse
        for _ in 0..<50 {
          while true {
            do {
              if inTransactions {
                try context.transaction { try context.get(Volume.self, key: 1)?.price += 1 }
              } else {
                try context.get(Volume.self, key: 1)?.price += 1
                try context.save()
              }
              break
            } catch ModelError.conflict {
              context.rollback()
              try? context.refresh()
            } catch {
              failures.withLock { $0.append("\(error)") }
              break
            }
          }
        }
      }
    }
    run(threads)
    #expect(failures.withLock { $0 } == [])
    #expect(try store.value("SELECT price FROM volume WHERE id = 1") == 200.0)
  }
}

/// Runs threads to their end.
func run(_ threads: [Thread]) {
  for thread in threads { thread.start() }
  for thread in threads {
    while !thread.isFinished { usleep(500) }
  }
}
