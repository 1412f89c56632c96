import Quire
import TestSupport
import Testing

/// Where a change comes from: who tracks must not be able to tell.
enum Source: String, CaseIterable, Sendable {
  case own, otherContext, rawSQL, trigger

  /// Sets a column of one volume, and lets `context` take it in.
  func change(_ title: String, _ column: String, _ value: Value, in store: ModelContainer, _ context: ModelContext)
    throws
  {
    switch self {
    case .own: try Source.edit(try context.volume(title), column, value)
    case .otherContext:
      let other = ModelContext(store)
      try Source.edit(try other.volume(title), column, value)
      try other.save()
    case .rawSQL: try store.execute("UPDATE volume SET \(identifier: column) = \(value) WHERE title = \(title)")
    case .trigger:
      try store.execute("CREATE TABLE IF NOT EXISTS bell (title TEXT, value ANY)")
      try store.execute("DROP TRIGGER IF EXISTS ring")
      try store.execute(
        """
        CREATE TRIGGER ring AFTER INSERT ON bell
        BEGIN UPDATE volume SET \(identifier: column) = new.value WHERE title = new.title; END
        """
      )
      try store.execute("INSERT INTO bell VALUES (\(title), \(value))")
    }
    if self != .own { try context.refresh() }
  }

  private static func edit(_ volume: Volume, _ column: String, _ value: Value) throws {
    switch (column, value) {
    case ("title", .text(let title)): volume.title = title
    case ("year", .integer(let year)): volume.year = Int(year)
    case ("is_in", .integer(let isIn)): volume.isIn = isIn != 0
    case ("writer_id", .integer(let key)):
      volume.writer = volume.modelContext?.model(Writer.self, key: key)
    default: throw ModelError.query("no such case")
    }
  }
}

/// What a reader depends on.
@Suite(.fewAtOnce) struct ObservationTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]])
    context = ModelContext(store)
  }

  @Test func `a save by who is told before an assignment loses nothing of it`() throws {
    let (eden, lem) = (try context.volume("Eden"), try #require(context.model(Writer.self, key: 1)))
    let new = Volume("Fiasco")
    context.insert(new)
    nonisolated(unsafe) let context = context
    func saving(_ read: () -> Void) {
      withObservationTracking(read) { #expect(throws: Never.self) { try context.save() } }
    }
    saving { _ = eden.title }
    saving { _ = eden.writer }
    saving { _ = new.title }
    eden.year = 1959
    eden.title = "Éden"
    #expect(context.hasChanges)
    eden.writer = nil
    #expect(context.hasChanges)
    new.title = "Solaris II"
    #expect(context.hasChanges && new.title == "Solaris II")
    new.writer = lem
    try context.save()
    let rows = try store.query(
      "SELECT title, year, writer_id FROM volume WHERE title IN ('Éden', 'Solaris II') ORDER BY id"
    ).map(\.values)
    #expect(rows == [["Éden", 1959, nil], ["Solaris II", nil, 1]])
  }

  @Test(arguments: Source.allCases) func `a reader of a title hears of the title and of nothing else`(
    source: Source
  ) throws {
    let eden = try context.volume("Eden")
    let title = tracking { _ = eden.title }
    try source.change("Eden", "year", 1959, in: store, context)
    try source.change("Eden", "is_in", 0, in: store, context)
    try source.change("Eden", "writer_id", 2, in: store, context)
    try source.change("Solaris", "title", "other", in: store, context)
    #expect(title.count == 0)
    try source.change("Eden", "title", "Eden II", in: store, context)
    #expect(title.count == 1 && eden.title == "Eden II")
  }

  @Test(arguments: Source.allCases) func `a computed property counts as what it reads`(source: Source) throws {
    let lem = try context.writer("Lem")
    func available() -> Int { lem.volumes.count { $0.isIn } }
    #expect(available() == 2)
    let first = tracking { _ = available() }
    try source.change("Eden", "title", "Eden II", in: store, context)
    #expect(first.count == 0)
    try source.change("Solaris", "is_in", 0, in: store, context)
    #expect(first.count == 1 && available() == 1)
    let second = tracking { _ = available() }
    try source.change("The Dispossessed", "writer_id", 1, in: store, context)
    #expect(second.count == 1 && available() == 2)
  }

  @Test(arguments: Source.allCases) func `a reader of a collection hears of its members, not of their properties`(
    source: Source
  ) throws {
    let lem = try context.writer("Lem")
    let list = tracking { _ = lem.volumes }
    try source.change("Eden", "title", "Eden II", in: store, context)
    try source.change("The Dispossessed", "is_in", 0, in: store, context)
    #expect(list.count == 0)
    try source.change("Eden II", "writer_id", 2, in: store, context)
    #expect(list.count == 1 && lem.volumes.map(\.title) == ["Solaris"])
  }

  @Test(arguments: Source.allCases) func `a path depends on each of its steps, and no longer on what it has left`(
    source: Source
  ) throws {
    let eden = try context.volume("Eden")
    let (lem, guin) = (try context.writer("Lem"), try context.writer("Le Guin"))
    let step = tracking { _ = eden.writer?.name }
    try source.change("Eden", "writer_id", 2, in: store, context)
    #expect(step.count == 1 && eden.writer === guin)
    let name = tracking { _ = eden.writer?.name }
    lem.name = "no longer heard"
    #expect(name.count == 0)
    guin.name = "Ursula K. Le Guin"
    #expect(name.count == 1)
  }

  @Test(arguments: Source.allCases) func `an equal value is no change`(source: Source) throws {
    let eden = try context.volume("Eden")
    try source.change("Eden", "year", 1959, in: store, context)
    try context.save()
    let all = tracking { _ = (eden.title, eden.year, eden.isIn, eden.writer) }
    for (column, value) in [("title", "Eden"), ("year", 1959), ("is_in", 1), ("writer_id", 1)] as [(String, Value)] {
      try source.change("Eden", column, value, in: store, context)
    }
    #expect(all.count == 0 && !context.hasChanges)
  }

  @Test(arguments: Source.allCases) func `another spelling of an equal text is a change`(source: Source) throws {
    let eden = try context.volume("Eden")
    try source.change("Eden", "title", "E\u{301}den", in: store, context)
    try context.save()
    let title = tracking { _ = eden.title }
    try source.change("E\u{301}den", "title", "\u{C9}den", in: store, context)
    try context.save()
    #expect(title.count == 1 && eden.title.utf8.elementsEqual("\u{C9}den".utf8))
    #expect(try store.query("SELECT title FROM volume WHERE id = 1").map(\.values) == [[.text("\u{C9}den")]])
  }

  @Test func `a collection is heard of on insert, delete and cascade`() throws {
    let lem = try context.writer("Lem")
    for change in [
      {
        _ = Volume("new", writer: lem); context.insert(Volume("new", writer: lem))
      },
      { context.delete(try context.volume("Eden")) },
      {
        try store.execute("DELETE FROM volume WHERE title = 'Solaris'"); try context.refresh()
      },
    ] as [() throws -> Void] {
      let list = tracking { _ = lem.volumes }
      try change()
      #expect(list.count == 1)
    }
    let contributed = tracking { _ = lem.contributed }
    let guin = try context.volume("The Dispossessed")
    guin.contributors = [lem]
    #expect(contributed.count == 1)
    try context.save()
    let cascade = tracking { _ = lem.contributed }
    try store.execute("DELETE FROM writer WHERE name = 'Le Guin'")
    try context.refresh()
    #expect(cascade.count == 1 && lem.contributed.isEmpty)
  }

  @Test func `handing an object through depends on nothing`() throws {
    let eden = try context.volume("Eden")
    func layer(_ volume: Volume) -> Volume { volume }
    let layers = tracking { _ = layer(layer(eden)) }
    eden.title = "Eden II"
    eden.writer = nil
    #expect(layers.count == 0)
  }

  @Test func `before a change the old value is read everywhere, after it the new one`() throws {
    let (eden, solaris, lem) = (try context.volume("Eden"), try context.volume("Solaris"), try context.writer("Lem"))
    #expect(lem.volumes.count == 2)
    nonisolated(unsafe) let (a, b, list) = (eden, solaris, lem)
    let seen = Locked<[String]>([])
    withObservationTracking {
      _ = a.title
    } onChange: {
      seen.withLock { $0 = [a.title, b.title, "\(list.volumes.count)"] }
    }
    try store.writeSQL { transaction in
      try transaction.connection.execute("UPDATE volume SET title = title || '!'")
      try transaction.connection.execute("DELETE FROM volume WHERE title = 'Solaris!'")
    }
    try context.refresh()
    #expect(seen.withLock { $0 } == ["Eden", "Solaris", "2"])
    #expect(eden.title == "Eden!" && solaris.isDeleted && lem.volumes.count == 1)
  }

  @Test @MainActor func `an Observations sequence gives the values of a property as they come`() async throws {
    let eden = try store.mainContext.volume("Eden")
    let titles = Observations { eden.title }
    var seen: [String] = []
    for await title in titles {
      seen.append(title)
      switch title {
      case "Eden": eden.title = "own"
      case "own":
        try store.mainContext.save()
        try store.execute("UPDATE volume SET title = 'raw' WHERE id = 1")
      default: break
      }
      if title == "raw" { break }
    }
    #expect(seen == ["Eden", "own", "raw"])
  }
}
