import Quire
import TestSupport
import Testing

/// The observation contract, D5, D7: relationships come on first read, for the siblings of one fetch, as of the context's commit.
@Suite(.fewAtOnce) struct LoadingTests {
  /// A thousand volumes, each with a writer of its own and two contributors.
  static func large() throws -> ModelContainer {
    let store = try store()
    try store.writeSQL { transaction in
      for sql in [
        "INSERT INTO writer (id, name) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, 'w' || i FROM n",
        "INSERT INTO volume (id, title, price, is_in, writer_id) SELECT id, 'v' || id, 0, 1, id FROM writer",
        "INSERT INTO volume_contributors SELECT id, id FROM writer UNION SELECT id, 1001 - id FROM writer",
      ] { try transaction.connection.execute(sql) }
    }
    return store
  }

  @Test func `the writers of a thousand volumes come in ten statements, and so do their lists`() throws {
    let context = ModelContext(try Self.large())
    let volumes = try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    let owner = context.owner
    func statements<Element>(_ elements: [Element], _ isRight: (Element) -> Bool) -> Int {
      let before = owner.queriesRun.value
      let right = elements.count(where: isRight)
      #expect(right == elements.count)
      return owner.queriesRun.value - before
    }
    let named = statements(volumes) { $0.writer?.name.isEmpty == false }
    let again = statements(volumes) { $0.writer?.name.isEmpty == false }
    let contributed = statements(volumes) { $0.contributors.count == 2 }
    #expect(named == 10 && again == 0 && contributed == 10)
    let writers = try context.fetch(FetchDescriptor<Writer>(sortBy: [SortDescriptor(\.name, order: .reverse)]))
    let lists = statements(writers) { $0.volumes.count == 1 }
    let pairs = statements(writers) { $0.contributed.count == 2 }
    #expect(lists == 10 && pairs == 10)
    #expect(context.drainDeferredErrors().isEmpty)
  }

  @Test func `reading one row never loads a whole table`() throws {
    let context = ModelContext(try Self.large())
    let volumes = try context.all(Volume.self)
    _ = volumes[0].writer
    #expect(context.registeredCount == 1100)
    let one = ModelContext(try Self.large())
    let alone = try one.volume("v500")
    _ = alone.writer?.contributed
    #expect(one.registeredCount == 3)
  }

  @Test func `a long list is loaded whole, and with it no more of its siblings' lists than a thousand rows`() throws {
    let container = try store()
    try container.writeSQL { transaction in
      for sql in [
        "INSERT INTO writer (id, name) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i, 'w' || i FROM n",
        // The ninth writer has 1 251, fifteen others about 250 each, and the others none.
        """
        INSERT INTO volume (title, price, is_in, writer_id)
        WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        SELECT 'v' || i, 0, 1, CASE WHEN i % 4 = 0 THEN 9 ELSE i % 10 * 5 + i % 4 END FROM n
        """,
        "INSERT INTO volume_contributors SELECT id, writer_id FROM volume",
      ] { try transaction.connection.execute(sql) }
    }
    for isJoined in [false, true] {
      let context = ModelContext(container)
      func list(_ writer: Writer) -> [String] { (isJoined ? writer.contributed : writer.volumes).map(\.title) }
      let writers = try context.fetch(FetchDescriptor<Writer>(sortBy: [SortDescriptor(\.name)]))
      let lengths = try container.query(
        "SELECT (SELECT count(*) FROM volume WHERE writer_id = w.id) FROM writer AS w ORDER BY name")
      let longest = try #require(context.model(Writer.self, key: 9))
      #expect(list(longest).count == 1251 && context.registeredCount == 50 + 1251)
      for writer in writers {
        let before = context.registeredCount
        _ = list(writer).count
        #expect(context.registeredCount - before <= RelationshipLoader.rowLimit, "\(writer.name)")
      }
      #expect(context.registeredCount == 50 + 5001)
      #expect(writers.map { .integer(Int64(list($0).count)) } == lengths.map { $0[0] })
      let before = context.owner.queriesRun.value
      for writer in writers {
        let keys = (isJoined ? writer.contributed : writer.volumes).map { $0.persistentModelID.rowKey ?? 0 }
        #expect(keys == keys.sorted())
      }
      #expect(context.owner.queriesRun.value == before)
      let asked = ModelContext(container)
      var descriptor = FetchDescriptor<Writer>()
      descriptor.relationshipKeyPathsForPrefetching = isJoined ? [\.contributed] : [\.volumes]
      _ = try asked.fetch(descriptor)
      #expect(asked.owner.queriesRun.value == 2 && asked.registeredCount == 5051)
    }
  }

  @Test func `what a fetch is to bring comes with its rows if they refer to it, and else in one statement`() throws {
    let container = try Self.large()
    let context = ModelContext(container)
    var descriptor = FetchDescriptor<Volume>()
    descriptor.relationshipKeyPathsForPrefetching = [\.writer, \.contributors]
    let volumes = try context.fetch(descriptor)
    #expect(context.owner.queriesRun.value == 2)
    for volume in volumes { #expect(volume.writer != nil && volume.contributors.count == 2) }
    #expect(context.owner.queriesRun.value == 2)
    try container.execute("UPDATE volume SET writer_id = NULL WHERE title = 'v500'")
    let fresh = ModelContext(container)
    let alone = try fresh.fetch(descriptor).filter { $0.writer == nil }.map(\.title)
    #expect(alone == ["v500"])
  }

  @Test func `what a fetch brings is what an unsaved edit says`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"], "Le Guin": ["The Dispossessed"]]))
    let eden = try context.volume("Eden")
    eden.writer = try context.writer("Le Guin")
    for includes in [true, false] {
      var descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)])
      descriptor.relationshipKeyPathsForPrefetching = [\.writer]
      descriptor.includePendingChanges = includes
      #expect(try context.fetch(descriptor).map { $0.writer?.name } == ["Le Guin", "Le Guin"])
    }
  }

  @Test func `a first read is no change`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"]]))
    let volumes = try context.all(Volume.self)
    let all = tracking { _ = volumes.map { ($0.title, $0.writer) } }
    _ = volumes[0].writer?.volumes
    _ = volumes[1].contributors
    #expect(all.count == 0 && !context.hasChanges && !volumes[0].hasChanges)
  }

  @Test(arguments: [false, true])
  func `a relationship is read as of the commit the context stands at, and the change is delivered afterwards`(
    isOnActor: Bool
  ) async throws {
    let store = try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]])
    if isOnActor {
      try await MainActor.run { try Self.saveBetweenReads(store, store.mainContext) }
    } else {
      try Self.saveBetweenReads(store, ModelContext(store))
    }
  }

  static func saveBetweenReads(_ store: ModelContainer, _ context: ModelContext) throws {
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    let before = context.commitNumber
    var failure: (any Error)?
    var seen: [String] = []
    let heard = tracking {
      seen.append(eden.title)
      do {
        let other = ModelContext(store)
        let lem = try other.writer("Lem")
        lem.name = "Stanisław Lem"
        lem.volumes[0].title = "Eden II"
        lem.volumes[1].writer = try other.writer("Le Guin")
        try other.save()
      } catch { failure = error }
      seen.append(eden.writer?.name ?? "none")
      seen.append(contentsOf: eden.writer?.volumes.map(\.title) ?? [])
      seen.append(solaris.writer?.name ?? "none")
    }
    if let failure { throw failure }
    #expect(seen == ["Eden", "Lem", "Eden", "Solaris", "Lem"])
    #expect(context.commitNumber == before && heard.count == 0)
    try context.refresh()
    #expect(heard.count == 1)
    #expect(eden.title == "Eden II" && eden.writer?.name == "Stanisław Lem")
    #expect(eden.writer?.volumes.map(\.title) == ["Eden II"])
    #expect(solaris.writer?.name == "Le Guin")
    #expect(context.drainDeferredErrors().isEmpty)
  }

  @Test func `what is read after many commits elsewhere is still as of the context's own`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    for index in 0..<50 { try store.execute("UPDATE writer SET name = \("\(index)")") }
    try store.execute("DELETE FROM volume WHERE title = 'Solaris'")
    #expect(eden.writer?.name == "Lem")
    #expect(eden.writer?.volumes.count == 2)
    try context.refresh()
    #expect(eden.writer?.name == "49")
    #expect(eden.writer?.volumes.count == 1)
  }

  @Test func `a first read works from inside the announcement of a move, as of before it`() throws {
    let store = try store(["Lem": ["Eden"], "Le Guin": []])
    let context = ModelContext(store)
    nonisolated(unsafe) let eden = try context.volume("Eden")
    let name = Locked<String?>(nil)
    withObservationTracking {
      _ = eden.title
    } onChange: {
      name.withLock { $0 = "\(eden.title) by \(eden.writer?.name ?? "none")" }
    }
    try store.execute("UPDATE volume SET title = 'Eden II', writer_id = 2")
    try context.refresh()
    #expect(name.withLock { $0 } == "Eden by Lem")
    #expect(eden.writer?.name == "Le Guin")
  }
}
