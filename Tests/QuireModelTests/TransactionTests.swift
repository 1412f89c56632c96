import Quire
import QuireSQLite
import TestSupport
import Testing

/// `transaction`: one lock, one state, all or nothing.
@Suite(.fewAtOnce) struct TransactionTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Le Guin": ["Eden"], "Lem": ["Solaris", "Fiasco"]])
    context = ModelContext(store)
  }

  struct Refused: Error {}

  @Test func `it returns what its block returns, and a new object has its identifier then`() throws {
    let made = try context.transaction {
      let volume = Volume("Memoirs")
      context.insert(volume)
      return volume
    }
    let other = ModelContext(store)
    #expect(other.model(for: made.persistentModelID) != nil)
    let count = try context.transaction { try context.fetchCount(FetchDescriptor<Volume>()) }
    #expect(count == 4)
  }

  @Test func `two that look before they write do not both pass`() throws {
    let other = ModelContext(store)
    func hold(_ context: ModelContext, meanwhile: () throws -> Void = {}) throws {
      try context.transaction {
        guard try context.fetchCount(FetchDescriptor<Volume>(predicate: #Predicate { $0.title == "hold" })) == 0 else {
          throw Refused()
        }
        try meanwhile()
        context.insert(Volume("hold"))
      }
    }
    let error = #expect(throws: DatabaseError.self) { try hold(context) { try hold(other) } }
    #expect(error == .nestedWrite)
    try hold(context)
    #expect(throws: Refused.self) { try hold(other) }
    #expect(try store.value("SELECT count(*) FROM volume WHERE title = 'hold'") == 1)
  }

  @Test func `another context's save, SQL of the store and its transactions are nested writes`() throws {
    let other = ModelContext(store)
    try other.volume("Eden").year = 1
    try context.transaction {
      #expect(throws: DatabaseError.nestedWrite) { try other.save() }
      #expect(throws: DatabaseError.nestedWrite) { try store.execute("DELETE FROM volume") }
      #expect(throws: DatabaseError.nestedWrite) { try other.transaction {} }
      let seen = try other.all(Volume.self).count
      #expect(seen == 3)
    }
    try other.save()
  }

  @Test func `so are those through another container of the file, which would wait for themselves`() async throws {
    let file = try TemporaryFile()
    var configuration = ModelConfiguration(url: file.url)
    configuration.busyTimeout = .seconds(3600)
    let stores = try (0..<2).map { _ in try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    }
    let (one, two) = (stores[0], stores[1])
    let other = ModelContext(two, isolation: nil)
    func refused() {
      other.insert(Volume("Eden"))
      #expect(throws: DatabaseError.nestedWrite) { try other.save() }
      #expect(throws: DatabaseError.nestedWrite) { try two.execute("DELETE FROM volume") }
      #expect(throws: DatabaseError.nestedWrite) { try other.transaction {} }
      other.rollback()
    }
    try one.writeSQL { _ in refused() }
    try await one.write { _ in
      #expect(throws: DatabaseError.nestedWrite) { try two.execute("DELETE FROM volume") }
    }
    // A write of another thread is waited for.
    let writer = Thread { _ = try? one.writeSQL { _ in usleep(20_000) } }
    writer.start()
    other.insert(Volume("Solaris"))
    try other.save()
    #expect(try one.value("SELECT count(*) FROM volume") == 1)
    while !writer.isFinished { usleep(500) }
  }

  @Test func `a save inside writes into the transaction, seen by its fetches and by nobody else`() throws {
    let other = ModelContext(store)
    let number = store.database.commitNumber
    try context.transaction {
      let volume = Volume("Memoirs", writer: try context.writer("Lem"))
      context.insert(volume)
      try context.volume("Eden").title = "Eden 2"
      try context.save()
      #expect(!context.hasChanges)
      let key = volume.persistentModelID
      #expect(context.model(for: key) === volume)
      #expect(try context.writer("Lem").volumes.contains { $0 === volume })
      #expect(try context.volume("Eden 2").persistentModelID == context.volume("Eden 2").persistentModelID)
      #expect(try other.all(Volume.self).map(\.title).sorted() == ["Eden", "Fiasco", "Solaris"])
      #expect(store.database.commitNumber == number)
      volume.year = 1961
      try context.delete(model: Volume.self, where: #Predicate { $0.title == "Fiasco" })
      #expect(try context.all(Volume.self).map(\.title).sorted() == ["Eden 2", "Memoirs", "Solaris"])
      #expect(try context.writer("Lem").volumes.count == 2)
    }
    #expect(store.database.commitNumber == number + 1)
    #expect(try other.all(Volume.self).map(\.title).sorted() == ["Eden 2", "Memoirs", "Solaris"])
    #expect(try store.value("SELECT year FROM volume WHERE title = 'Memoirs'") == 1961)
  }

  @Test func `SQL and a kept value of the context are part of its transaction`() throws {
    let kept = try context.setting("shelf", default: 0)
    let eden = try context.volume("Eden")
    struct Refused: Error {}
    for isRefused in [true, false] {
      let block = {
        #expect(try context.execute("UPDATE volume SET year = 7 WHERE title = 'Eden'") == 1)
        #expect(eden.year == 7 && context.commitNumber == store.database.commitNumber)
        try kept.set(5)
        #expect(try context.fetch(Int.self, sql: "SELECT year FROM volume WHERE title = 'Eden'") == [7])
        if isRefused { throw Refused() }
      }
      if isRefused {
        #expect(throws: Refused.self) { try context.transaction(block: block) }
        #expect(eden.year == nil && kept.value == 0)
      } else {
        try context.transaction(block: block)
      }
    }
    #expect(eden.year == 7 && kept.value == 5 && !context.hasChanges)
    try context.execute("DELETE FROM volume WHERE id = \(eden.persistentModelID.rowKey)")
    #expect(eden.isDeleted)
  }

  @Test func `live results and subscribers stand at the commit before until the commit`() async throws {
    let live = try context.live(Volume.self, sortBy: [SortDescriptor(\.title)])
    let count = try context.liveCount(Volume.self)
    var commits = store.commits.makeAsyncIterator()
    try context.transaction {
      context.insert(Volume("Memoirs"))
      try context.save()
      try context.delete(model: Volume.self, where: #Predicate { $0.title == "Eden" })
      #expect(live.count == 3 && count.value == 3)
      let inside = try context.liveCount(Volume.self, where: #Predicate { $0.title == "Memoirs" })
      #expect(inside.value == 0)
      try context.delete(model: Volume.self, where: #Predicate { $0.title == "Solaris" })
    }
    #expect(live.map(\.title) == ["Fiasco", "Memoirs"] && count.value == 2)
    let commit = try #require(await commits.next())
    #expect(commit.changes(of: Volume.self).count == 3)
  }

  @Test func `edits made before the block are saved with it, and are as they were when it throws`() throws {
    let eden = try context.volume("Eden")
    let fiasco = try context.volume("Fiasco")
    let lem = try context.writer("Lem")
    eden.title = "before"
    let new = Volume("new", writer: lem)
    context.insert(new)
    context.delete(fiasco)
    #expect(lem.volumes.map(\.title) == ["Solaris", "new"])
    #expect(throws: Refused.self) {
      try context.transaction {
        eden.title = "inside"
        eden.year = 1
        new.title = "other"
        lem.volumes.removeAll()
        context.insert(Volume("inside", writer: lem))
        try context.save()
        context.delete(new)
        context.delete(eden)
        try context.save()
        throw Refused()
      }
    }
    #expect(eden.title == "before" && eden.year == nil && !eden.isDeleted && eden.hasChanges)
    #expect(new.title == "new" && new.writer === lem && new.hasChanges && fiasco.isDeleted)
    #expect(lem.volumes.map(\.title) == ["Solaris", "new"])
    #expect(context.insertedModelsArray.count == 1 && context.deletedModelsArray.count == 1)
    try context.transaction { eden.year = 2 }
    #expect(
      try store.query("SELECT title, year FROM volume ORDER BY title").map(\.values)
        == [["Solaris", .null], ["before", 2], ["new", .null]])
  }

  @Test func `a transaction inside undoes only itself`() throws {
    let eden = try context.volume("Eden")
    try context.transaction {
      eden.title = "outer"
      #expect(throws: Refused.self) {
        try context.transaction {
          eden.title = "inner"
          context.insert(Volume("inner"))
          try context.save()
          throw Refused()
        }
      }
      #expect(eden.title == "outer" && context.insertedModelsArray.isEmpty)
      try context.transaction { context.insert(Volume("kept")) }
      #expect(!context.hasChanges)
    }
    #expect(
      try store.query("SELECT title FROM volume ORDER BY title").map(\.values) == [
        ["Fiasco"], ["Solaris"], ["kept"], ["outer"],
      ])
  }

  @Test func `a save inside that is refused leaves its edits, and the transaction can go on`() throws {
    try store.execute("CREATE UNIQUE INDEX one ON volume (title)")
    let eden = try context.volume("Eden")
    try context.transaction {
      eden.title = "Solaris"
      #expect(throws: (any Error).self) { try context.save() }
      #expect(eden.title == "Solaris" && eden.hasChanges)
      eden.title = "Eden 2"
    }
    #expect(try store.value("SELECT count(*) FROM volume WHERE title = 'Eden 2'") == 1)
  }

  @Test func `when the commit is refused, all is as before the block`() throws {
    let examiner = store.database.beforeCommit { _ in throw Refused() }
    let eden = try context.volume("Eden")
    eden.year = 1
    let new = Volume("new")
    #expect(throws: Refused.self) {
      try context.transaction {
        eden.year = 2
        context.insert(new)
        try context.save()
        try context.delete(model: Volume.self, where: #Predicate { $0.title == "Solaris" })
      }
    }
    #expect(eden.year == 1 && eden.hasChanges && new.modelContext == nil)
    #expect(try context.all(Volume.self).count == 3)
    examiner.cancel()
    try context.save()
    #expect(try store.query("SELECT year FROM volume WHERE title = 'Eden'").map(\.values) == [[1]])
  }

  @Test func `an observer is notified when values are put back`() throws {
    let eden = try context.volume("Eden")
    let changes = Locked(0)
    #expect(throws: Refused.self) {
      try context.transaction {
        eden.title = "inside"
        withObservationTracking {
          _ = eden.title
        } onChange: {
          changes.withLock { $0 += 1 }
        }
        throw Refused()
      }
    }
    #expect(changes.withLock { $0 } == 1 && eden.title == "Eden" && !context.hasChanges)
  }

  @Test func `a value is tried out inside a transaction`() throws {
    try store.execute("CREATE UNIQUE INDEX one ON volume (title)")
    let eden = try context.volume("Eden")
    try context.transaction {
      #expect(throws: (any Error).self) { try eden.set(\.title, to: "Solaris") }
      try eden.set(\.title, to: "Eden 2")
    }
    #expect(try store.value("SELECT count(*) FROM volume WHERE title = 'Eden 2'") == 1)
  }

  @Test func `transfers by threads, contexts and containers keep the sum`() throws {
    let file = try TemporaryFile()
    let stores = try (0..<2).map { _ in try ModelContainer(for: Writer.self, Volume.self, url: file.url) }
    try ModelContext(stores[0]).transaction { context in
      for number in 0..<5 {
        let volume = Volume("\(number)")
        volume.price = 100
        context.insert(volume)
      }
    }
    let failures = Locked([String]())
    let threads = (0..<4).map { number in
      Thread {
        let context = ModelContext(stores[number % 2], isolation: nil)
        var random = Random(seed: UInt64(number))
        for _ in 0..<50 {
          let (from, to) = (Int64.random(in: 1...5, using: &random), Int64.random(in: 1...5, using: &random))
          do {
            try context.transaction {
              let (source, target) = (try context.get(Volume.self, key: from), try context.get(Volume.self, key: to))
              guard let source, let target, source !== target, source.price >= 1 else { return }
              let amount = Double(Int.random(in: 1...Int(source.price), using: &random))
              source.price -= amount
              target.price += amount
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
    }
    run(threads)
    #expect(failures.withLock { $0 } == [])
    #expect(try stores[0].value("SELECT sum(price) FROM volume") == 500.0)
    #expect(try stores[1].value("SELECT min(price) >= 0 FROM volume") == 1)
  }
}
