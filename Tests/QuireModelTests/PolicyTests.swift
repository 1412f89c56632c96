import Quire
import TestSupport
import Testing

/// Unique values and conflicting edits, by the rules that a context is given.
@Suite(.fewAtOnce) struct PolicyTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Tome.self, Shelf.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    let shelf = Shelf("first")
    for (code, title) in [("a", "Emma"), ("b", "Ulysses"), ("c", "Walden")] {
      context.insert(Tome(code, title, shelf: shelf))
    }
    try context.save()
  }

  private func titles() throws -> [[Value]] {
    try store.query("SELECT code, title, shelf_id FROM tome ORDER BY id").map(\.values)
  }
  private func tome(_ code: String, in context: ModelContext) throws -> Tome {
    try #require(try context.fetch(FetchDescriptor<Tome>(predicate: #Predicate { $0.code == code })).first)
  }

  // MARK: Unique values

  @Test func `two rows change places, three go in a circle, and other contexts see only where they stand at last`()
    throws
  {
    let tomes = try context.fetch(FetchDescriptor<Tome>())
    let other = ModelContext(store)
    let theirs = try tome("a", in: other)
    (tomes[0].code, tomes[1].code) = (tomes[1].code, tomes[0].code)
    try context.save()
    #expect(try titles().map { $0[0] } == ["b", "a", "c"])
    (tomes[0].code, tomes[1].code, tomes[2].code) = ("a", "c", "b")
    (tomes[0].number, tomes[1].number) = (tomes[1].number, tomes[0].number)
    try context.save()
    #expect(try titles().map { $0[0] } == ["a", "c", "b"])
    try other.refresh()
    #expect(theirs.code == "a" && !context.hasChanges)
  }

  @Test func `a value that another row keeps is refused still`() throws {
    let tomes = try context.fetch(FetchDescriptor<Tome>())
    tomes[0].code = "b"
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("Tome", ["code"], ["'b'"])? = error else { throw error! }
    #expect(try titles().map { $0[0] } == ["a", "b", "c"])
    #expect(tomes[0].code == "b")
  }

  @Test func `an upsert makes a new object the row's, with what the row had besides`() throws {
    let context = ModelContext(store)
    let new = Tome("b", "Odyssey", shelf: nil)
    context.insert(new)
    #expect(throws: ModelError.self) { try context.save() }
    try context.save(onUniqueConflict: .upsert)
    #expect(try titles() == [["a", "Emma", 1], ["b", "Odyssey", 1], ["c", "Walden", 1]])
    #expect(new.persistentModelID.rowKey == 2 && new.shelf?.name == "first" && !context.hasChanges && !new.isDeleted)
    #expect(try tome("b", in: context) === new)
    #expect(new.shelf?.tomes.count == 3)
    #expect(context.onUniqueConflict == .refuse)
    new.title = "Iliad"
    try context.save()
    #expect(try store.value("SELECT title FROM tome WHERE id = 2") == "Iliad")
  }

  @Test func `a list that has the row, and no object of it yet, has the new object once`() throws {
    let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
    #expect(shelf.tomes.count == 3)
    try store.execute(
      "INSERT INTO tome (code, title, number, series, pages, shelf_id) VALUES ('d', 'Dubliners', 9, '', 0, 1)")
    try context.refresh()
    let new = Tome("d", "Dubliners, again", shelf: shelf)
    context.insert(new)
    try context.save(onUniqueConflict: .upsert)
    #expect(shelf.tomes.map(\.code) == ["a", "b", "c", "d"] && shelf.tomes.last === new)
  }

  @Test func `where the row's object is in memory it takes the values, and its observers hear`() throws {
    let present = try tome("b", in: context)
    let heard = tracking { _ = present.title }
    context.onUniqueConflict = .upsert
    let shelf = Shelf("second")
    let new = Tome("b", "Odyssey", shelf: shelf)
    new.readers = [Shelf("third")]
    context.insert(new)
    try context.save()
    #expect(heard.count == 1 && present.title == "Odyssey" && present.shelf === shelf && new.isDeleted)
    #expect(shelf.tomes.first === present && present.readers.first?.name == "third")
    #expect(try titles() == [["a", "Emma", 1], ["b", "Odyssey", 2], ["c", "Walden", 1]])
    #expect(try store.query("SELECT tome_id FROM tome_readers").map(\.values) == [[2]])
  }

  @Test func `random upserts leave what a dictionary would hold, and refusals what it held first`() throws {
    for policy in [UniqueConflictPolicy.upsert, .refuse] {
      let seed = extraSeed
      var random = Random(seed: seed)
      var last = ["a": "Emma", "b": "Ulysses", "c": "Walden"]
      var first = last
      let context = ModelContext(store)
      context.onUniqueConflict = policy
      for step in 0..<60 {
        let code = String("abcdefgh".randomElement(using: &random) ?? "a")
        let title = "\(policy) \(step)"
        if step % 9 == 0, let old = try context.fetch(FetchDescriptor<Tome>()).randomElement(using: &random) {
          (last[old.code], first[old.code]) = (nil, nil)
          context.delete(old)
          try context.save()
        }
        context.insert(Tome(code, title, shelf: nil))
        last[code] = title
        first[code] = first[code] ?? title
        do { try context.save() } catch ModelError.notUnique { context.rollback() }
      }
      let found = Dictionary(
        uniqueKeysWithValues: try ModelContext(store).fetch(FetchDescriptor<Tome>()).map { ($0.code, $0.title) })
      // Each is the other's control: what the one leaves is not what the other does.
      #expect(found == (policy == .upsert ? last : first), "seed \(seed)")
      #expect(found != (policy == .upsert ? first : last), "seed \(seed)")
      try store.deleteAllData()
      let again = ModelContext(store)
      for (code, title) in [("a", "Emma"), ("b", "Ulysses"), ("c", "Walden")] {
        again.insert(Tome(code, title, shelf: nil))
      }
      try again.save()
    }
  }

  @Test func `who refers to a new object refers to the row`() throws {
    context.onUniqueConflict = .upsert
    let first = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
    let again = Shelf("first")
    let tome = Tome("d", "Dubliners", shelf: again)
    let twin = Tome("d", "Dubliners, again", shelf: nil)
    tome.readers = [again]
    context.insert(tome)
    context.insert(twin)
    try context.save()
    #expect(tome.shelf === first && tome.title == "Dubliners, again" && twin.isDeleted && again.isDeleted)
    #expect(tome.readers.count == 1 && tome.readers.first === first)
    #expect(
      try store.query("SELECT (SELECT count(*) FROM shelf), (SELECT count(*) FROM tome)").map(\.values) == [[1, 4]])
  }

  @Test func `the error names the objects of a pair of references that is taken, saved or not`() throws {
    let store = try ModelContainer(
      for: Call.self, Halt.self, Line.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let line = Line("U1")
    context.insert(line)
    try context.save()
    let stop = Halt("Zoo", in: line)
    for minute in 1...2 { context.insert(Call(stop, line, minute: minute)) }
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("Call", ["stop", "line"], let values)? = error else { throw error! }
    #expect(values == ["\(stop.persistentModelID)", "Line 1"] && values[0].hasPrefix("Halt, unsaved"))
  }

  /// The pair is looked at before the stop and the line are known to be those of rows, in whatever order models come.
  @Test(arguments: [false, true])
  func `a pair of references is unique by the rows that they come to refer to`(inMemory: Bool) throws {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.onUniqueConflict = .upsert
    let store = try ModelContainer(for: Call.self, Halt.self, Line.self, configurations: configuration)
    let held = ModelContext(store)
    for round in 1...3 {
      let context = inMemory ? held : ModelContext(store)
      let line = Line("U1")
      context.insert(line)
      for (place, name) in ["Zoo", "Park"].enumerated() {
        let stop = Halt(name, in: Line("U1"))
        context.insert(stop)
        context.insert(Call(stop, line, minute: round * 10 + place))
      }
      try context.save()
    }
    let counts = try store.query(
      "SELECT (SELECT count(*) FROM call), (SELECT count(*) FROM halt), (SELECT count(*) FROM line)")
    #expect(counts.map(\.values) == [[2, 2, 1]])
    #expect(try store.query("SELECT minute FROM call ORDER BY id").map(\.values) == [[30], [31]])
  }

  @Test func `the configuration says it for all contexts`() throws {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.onUniqueConflict = .upsert
    configuration.onConflict = .refuse
    let store = try ModelContainer(for: Tome.self, configurations: configuration)
    let context = ModelContext(store)
    #expect(context.onUniqueConflict == .upsert && context.onConflict == .refuse)
    for title in ["one", "two", "three"] {
      context.insert(Tome("a", title, shelf: nil))
      try context.save()
    }
    #expect(try store.query("SELECT id, title FROM tome").map(\.values) == [[1, "three"]])
  }

  // MARK: Conflicts

  /// A row with the key of one that is gone is another one, or comes back by an undo.
  @Test func `a list gives up what it has by an unsaved edit alone when the row goes`() throws {
    let emma = try tome("a", in: context)
    let second = Shelf("second")
    context.insert(second)
    try context.save()
    let key = try #require(second.persistentModelID.rowKey)
    #expect(emma.readers.isEmpty && second.tomes.isEmpty)
    emma.readers.append(second)
    emma.shelf = second
    let ulysses = try tome("b", in: context)
    ulysses.shelf = second
    #expect(second.tomes.count == 2)
    try store.execute("DELETE FROM tome WHERE code = 'b'")
    try context.refresh()
    #expect(second.tomes.map(\.code) == ["a"])
    try store.execute("DELETE FROM shelf WHERE id = \(key)")
    try context.refresh()
    #expect(emma.readers.isEmpty)
    context.rollback()
    try store.execute("INSERT INTO shelf (id, name) VALUES (\(key), 'third')")
    try store.execute("INSERT INTO tome (id, code, title, number, series, pages) VALUES (2, 'e', 'Eden', 1, 's', 0)")
    try context.refresh()
    #expect(emma.readers.isEmpty && emma.shelf?.name == "first")
    let third = try #require(
      try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.name == "third" })).first)
    #expect(third.tomes.isEmpty)
  }

  @Test func `with the usual rule the edit wins`() throws {
    let mine = try tome("a", in: context)
    mine.title = "mine"
    try store.execute("UPDATE tome SET title = 'theirs' WHERE id = 1")
    try context.save()
    #expect(try store.value("SELECT title FROM tome WHERE id = 1") == "mine")
  }
}

@Model final class Tome {
  #Unique<Tome>([\.number, \.series])
  @Attribute(.unique) var code: String
  var title: String
  var number: Int
  var series: String
  var pages = 0
  var year: Int?
  var shelf: Shelf?
  @Relationship(inverse: \Shelf.read) var readers: [Shelf] = []
  init(_ code: String, _ title: String, shelf: Shelf?) {
    self.code = code
    self.title = title
    number = code.utf8.reduce(0) { $0 + Int($1) }
    series = "s"
    self.shelf = shelf
  }
}

@Model final class Shelf {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Tome.shelf) var tomes: [Tome] = []
  var read: [Tome] = []
  init(_ name: String) { self.name = name }
}

@Model final class Call {
  #Unique<Call>([\.stop, \.line])
  var minute: Int
  var stop: Halt
  var line: Line
  init(_ stop: Halt, _ line: Line, minute: Int) { (self.stop, self.line, self.minute) = (stop, line, minute) }
}

@Model final class Halt {
  #Unique<Halt>([\.home, \.name])
  var name = ""
  var home: Line?
  init(_ name: String, in home: Line) { (self.name, self.home) = (name, home) }
}

@Model final class Line {
  @Attribute(.unique) var code = ""
  init(_ code: String) { self.code = code }
}
