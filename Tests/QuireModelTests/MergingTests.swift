import Quire
import TestSupport
import Testing

/// Commits made elsewhere, taken in.
@Suite(.fewAtOnce) struct MergingTests {
  @Test func `a context moves with its next fetch, save or refresh, and not before`() throws {
    let store = try store(["Lem": ["Eden"]])
    let (a, b) = (ModelContext(store), ModelContext(store))
    let (mine, yours) = (try a.volume("Eden"), try b.volume("Eden"))
    for (title, move) in [
      ("1", { try a.refresh() }), ("2", { _ = try a.all(Writer.self) }),
      (
        "3",
        {
          mine.price += 1; try a.save()
        }
      ),
    ] {
      let before = mine.title
      yours.title = title
      try b.save()
      #expect(mine.title == before)
      try move()
      #expect(mine.title == title)
    }
    #expect(a.commitNumber == a.container.store.database.commitNumber)
  }

  @Test @MainActor func `a context on an actor moves by itself`() async throws {
    let store = try store(["Lem": ["Eden"]])
    let eden = try store.mainContext.volume("Eden")
    await Task.detached {
      _ = try? store.execute("UPDATE volume SET title = 'Eden II'")
    }.value
    for _ in 0..<10_000 where eden.title == "Eden" { await turn() }
    #expect(eden.title == "Eden II")
  }

  @Test(arguments: [
    "UPDATE volume SET title = 'theirs', year = 7",
    "REPLACE INTO volume SELECT id, 'theirs', 7, price, is_in, writer_id FROM volume",
    "INSERT INTO volume SELECT id, 'theirs', 7, price, is_in, writer_id FROM volume WHERE true ON CONFLICT (id) DO UPDATE SET title = excluded.title, year = 7",
  ])
  func `an unsaved edit wins over a merged value, property by property`(sql: String) throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    eden.title = "mine"
    try store.execute(SQL(verbatim: sql))
    try context.refresh()
    #expect(eden.title == "mine" && eden.year == 7 && eden.writer?.name == "Lem")
    try context.save()
    #expect(try store.query("SELECT title, year FROM volume").map(\.values) == [["mine", 7]])
  }

  @Test func `a row deleted elsewhere under an unsaved edit is not resurrected, and the save says what it lost`() throws
  {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = ModelContext(store)
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    eden.title = "edited"
    solaris.year = 1961
    try store.execute("DELETE FROM volume WHERE title = 'Eden'")
    let error = #expect(throws: ModelError.self) {
      try context.refresh(); try context.save()
    }
    guard case .ignoredAssignments(let names)? = error else { throw error! }
    #expect(names == ["Volume.title of Volume 1"])
    #expect(eden.isDeleted && eden.title == "edited")
    try context.save()
    #expect(try store.query("SELECT title, year FROM volume").map(\.values) == [["Solaris", 1961]])
  }

  @Test func `deleting here what was deleted there is no error`() throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let eden = try context.volume("Eden")
    try store.execute("DELETE FROM volume")
    context.delete(eden)
    try context.save()
    #expect(eden.isDeleted && !context.hasChanges)
  }

  @Test func `a trigger's change shows in the object whose save fired it`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    try store.execute(
      "CREATE TRIGGER stamp AFTER UPDATE OF title ON volume BEGIN UPDATE volume SET price = price + 1; END")
    let context = ModelContext(store)
    let (eden, solaris) = (try context.volume("Eden"), try context.volume("Solaris"))
    let price = tracking { _ = solaris.price }
    eden.title = "Eden II"
    try context.save()
    #expect(eden.price == 1 && solaris.price == 1 && price.count == 1)
    #expect(!context.hasChanges)
  }

  @Test func `lists follow children that come, leave and go, from wherever`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]])
    let (context, other) = (ModelContext(store), ModelContext(store))
    let (lem, guin) = (try context.writer("Lem"), try context.writer("Le Guin"))
    #expect(lem.volumes.count == 2 && guin.volumes.count == 1 && lem.contributed.isEmpty)

    try store.execute("UPDATE volume SET writer_id = 2 WHERE title = 'Eden'")
    try store.execute("INSERT INTO volume (id, title, price, is_in, writer_id) VALUES (10, 'Fiasko', 0, 1, 1)")
    try context.refresh()
    #expect(lem.volumes.map(\.title) == ["Solaris", "Fiasko"])
    #expect(guin.volumes.map(\.title) == ["Eden", "The Dispossessed"])

    let theirs = try other.volume("Solaris")
    other.delete(theirs)
    let dispossessed = try other.volume("The Dispossessed")
    dispossessed.contributors = [try other.writer("Lem")]
    try other.save()
    try context.refresh()
    #expect(lem.volumes.map(\.title) == ["Fiasko"])
    #expect(lem.contributed.map(\.title) == ["The Dispossessed"])

    try store.execute("DELETE FROM volume_contributors")
    try store.execute("DELETE FROM writer WHERE id = 2")
    try context.refresh()
    #expect(lem.contributed.isEmpty)
    #expect(guin.isDeleted)
    #expect(try context.all(Volume.self).map(\.title) == ["Fiasko"])
  }

  @Test func `lists of objects inserted here follow what others do with their members`() throws {
    let store = try store()
    let context = ModelContext(store)
    let (lem, guin) = (Writer(name: "Lem"), Writer(name: "Le Guin"))
    lem.volumes = [Volume("Eden")]
    context.insert(lem)
    context.insert(guin)
    try context.save()
    try store.execute("UPDATE volume SET writer_id = 2")
    try context.refresh()
    #expect(lem.volumes.isEmpty && guin.volumes.map(\.title) == ["Eden"])
  }

  @Test func `unsaved moves in a list win over what comes from elsewhere`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]])
    let context = ModelContext(store)
    let (lem, guin) = (try context.writer("Lem"), try context.writer("Le Guin"))
    let (eden, new) = (try context.volume("Eden"), Volume("new"))
    #expect(lem.volumes.count == 2)
    guin.volumes.append(eden)
    lem.volumes.append(new)
    lem.contributed = [eden]
    try store.execute("UPDATE volume SET writer_id = 1")
    try store.execute("INSERT INTO volume_contributors VALUES (2, 1)")
    try context.refresh()
    #expect(lem.volumes.map(\.title) == ["Solaris", "The Dispossessed", "new"])
    #expect(guin.volumes.map(\.title) == ["Eden"])
    #expect(lem.contributed.map(\.title) == ["Eden", "Solaris"])
    try context.save()
    #expect(
      try store.query("SELECT title, writer_id FROM volume ORDER BY id").map(\.values) == [
        ["Eden", 2], ["Solaris", 1], ["The Dispossessed", 1], ["new", 1],
      ])
    #expect(lem.contributed.map(\.title) == ["Eden", "Solaris"])
  }

  @Test func `an unlink that is unsaved survives the same link made elsewhere`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = ModelContext(store)
    let (lem, eden) = (try context.writer("Lem"), try context.volume("Eden"))
    lem.contributed = [eden]
    try context.save()
    lem.contributed = []
    try store.execute("DELETE FROM volume_contributors")
    try store.execute("INSERT INTO volume_contributors VALUES (1, 1), (2, 1)")
    try context.refresh()
    #expect(lem.contributed.map(\.title) == ["Solaris"])
    try context.save()
    #expect(try store.query("SELECT volume_id FROM volume_contributors").map(\.values) == [[2]])
  }

  @Test(arguments: [false, true], [false, true])
  func `what is linked and unlinked again is written if others have linked it meanwhile, and the reverse`(
    isLinked: Bool, isMoved: Bool
  ) throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store)
    let (lem, eden) = (try context.writer("Lem"), try context.volume("Eden"))
    lem.contributed = isLinked ? [] : [eden]
    if !isLinked { try context.save() }
    lem.contributed = isLinked ? [eden] : []
    try store.execute(
      isLinked ? "INSERT INTO volume_contributors VALUES (1, 1)" : "DELETE FROM volume_contributors")
    if isMoved { try context.refresh() }
    eden.contributors = isLinked ? [] : [lem]
    // Of what it has not seen it has undone its own edit, and nothing is left to be written.
    #expect(context.hasChanges == isMoved)
    try context.save()
    let pairs = try store.value("SELECT count(*) FROM volume_contributors")
    #expect(pairs == (isLinked == isMoved ? 0 : 1) && lem.contributed.count == (isLinked == isMoved ? 0 : 1))
  }

  @Test func `two contexts that save in turn from two threads lose nothing`() async throws {
    let store = try store(["Lem": ["Eden"]])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          let context = ModelContext(store)
          for _ in 0..<200 {
            context.insert(Volume("copy"))
            try? context.save()
          }
        }
      }
    }
    #expect(try store.value("SELECT count(*) FROM volume WHERE title = 'copy'") == 400)
    #expect(try store.value("SELECT max(id) FROM volume") == 401)
  }

  @Test func `whatever order reads and commits come in, a context shows the commit it says it stands at`() async throws
  {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    // Many rows, so that a commit's changes take their time from the file to the contexts.
    try store.execute(
      """
      INSERT INTO volume (title, price, is_in) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      SELECT 'v' || i, 0, 1 FROM n
      """)
    let context = ModelContext(store)
    let (eden, lem) = (try context.volume("Eden"), try context.writer("Lem"))
    let first = context.commitNumber
    // In turn, so that a commit that was passed over is not made good by the next.
    let writing = Task.detached {
      for index in 1...200 {
        try store.execute("UPDATE volume SET price = \(Double(index)) WHERE id > 2 OR id = \(index % 2 + 1)")
      }
    }
    var torn = 0
    while context.commitNumber < first + 200 {
      // Some wait for it, while the next is on its way.
      try await Task.sleep(for: .microseconds(.random(in: 0..<4000)))
      try context.refresh()
      let last = Int(context.commitNumber - first)
      let (even, odd) = (last / 2 * 2, (last + 1) / 2 * 2 - 1)
      if eden.price != Double(even) || lem.volumes[1].price != Double(max(odd, 0)) { torn += 1 }
    }
    try await writing.value
    #expect(torn == 0 && eden.price == 200)
    #expect(context.drainDeferredErrors().isEmpty)
  }
}
