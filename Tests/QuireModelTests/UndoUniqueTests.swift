import Quire
import TestSupport
import Testing

/// Rows that exchange unique values do so when a save is undone, too.
@Suite(.fewAtOnce) struct UndoUniqueTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Cabin.self, Berth.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    let cabins = ["A", "B", "C"].map(Cabin.init)
    for cabin in cabins { context.insert(cabin) }
    for place in 1...3 { context.insert(Berth(place, in: cabins[0])) }
    try context.save()
    context.undoManager = UndoManager()
  }

  private func rows() throws -> [[[Value]]] {
    try ["SELECT * FROM cabin ORDER BY id", "SELECT * FROM berth ORDER BY id"].map {
      try store.query(SQL(verbatim: $0)).map(\.values)
    }
  }

  private func cabins() throws -> [Cabin] { try context.fetch(FetchDescriptor<Cabin>()) }

  /// Saves what the body does, and takes it back and does it again, twice.
  private func roundTrips(_ body: () throws -> Void) throws {
    let before = try rows()
    try body()
    try context.save()
    let after = try rows()
    #expect(after != before)
    for _ in 0..<2 {
      try context.undo()
      #expect(try rows() == before)
      try context.redo()
      #expect(try rows() == after)
    }
    #expect(try store.query("PRAGMA foreign_key_check").isEmpty)
  }

  @Test func `two rows swap a value`() throws {
    try roundTrips {
      let cabins = try cabins()
      (cabins[0].code, cabins[1].code) = (cabins[1].code, cabins[0].code)
    }
  }

  @Test func `where the file refuses the values between, the error is about those that are exchanged`() throws {
    let cabins = try cabins()
    (cabins[0].code, cabins[1].code) = (cabins[1].code, cabins[0].code)
    try context.save()
    let after = try rows()
    try store.execute(
      SQL(
        verbatim: """
          CREATE TRIGGER only_letters BEFORE UPDATE OF code ON cabin WHEN new.code NOT GLOB '[A-Z]'
          BEGIN SELECT RAISE(ABORT, 'only a letter'); END
          """))
    let refused = #expect(throws: ModelError.self) { try context.undo() }
    guard case .notUnique("Cabin", ["code"], _)? = refused else { throw refused! }
    #expect(try rows() == after)
  }

  @Test func `three rows hand a value that may be nil round`() throws {
    let cabins = try cabins()
    for (cabin, deck) in zip(cabins, 1...3) { cabin.deck = deck }
    try context.save()
    try roundTrips {
      (cabins[0].deck, cabins[1].deck, cabins[2].deck) = (cabins[1].deck, cabins[2].deck, cabins[0].deck)
    }
  }

  @Test func `a new row has the value of a deleted one`() throws {
    try roundTrips {
      let cabins = try cabins()
      context.delete(cabins[2])
      context.insert(Cabin("C"))
    }
  }

  @Test func `a value goes from a deleted row over two others to a new one`() throws {
    try roundTrips {
      let cabins = try cabins()
      context.delete(cabins[2])
      (cabins[0].code, cabins[1].code) = ("C", "A")
      context.insert(Cabin("B"))
    }
  }

  @Test func `rows swap places among those of one reference, and a new row takes a deleted one's`() throws {
    try roundTrips {
      let berths = try context.fetch(FetchDescriptor<Berth>())
      (berths[0].place, berths[1].place) = (berths[1].place, berths[0].place)
      context.delete(berths[2])
      context.insert(Berth(3, in: berths[0].cabin))
    }
  }

  @Test func `rows exchange the references that are unique with their place`() throws {
    let cabins = try cabins()
    context.insert(Berth(1, in: cabins[1]))
    try context.save()
    try roundTrips {
      let berths = try context.fetch(FetchDescriptor<Berth>())
      (berths[0].cabin, berths[3].cabin) = (cabins[1], cabins[0])
    }
  }

  @Test func `a value that others have taken since is still refused`() throws {
    let cabins = try cabins()
    (cabins[0].code, cabins[1].code) = ("B", "X")
    try context.save()
    try store.execute("INSERT INTO cabin (code) VALUES ('A')")
    let before = try rows()
    #expect(throws: ModelError.self) { try context.undo() }
    #expect(try rows() == before)
    try store.execute("DELETE FROM cabin WHERE code = 'A'")
    try context.undo()
    #expect(cabins.map(\.code) == ["A", "B", "C"])
  }

  @Test func `a row that others refer to since is still refused where its value is handed on`() throws {
    let cabins = try cabins()
    context.delete(cabins[2])
    let new = Cabin("C")
    context.insert(new)
    try context.save()
    try store.execute("INSERT INTO berth (place, cabin_id) VALUES (9, \(new))")
    let error = #expect(throws: ModelError.self) { try context.undo() }
    #expect(error?.description.contains("refer to Cabin") == true)
    #expect(try context.fetchCount(FetchDescriptor<Berth>()) == 4)
  }
}

@Model private final class Cabin {
  @Attribute(.unique) var code: String
  @Attribute(.unique) var deck: Int?
  @Relationship(deleteRule: .cascade, inverse: \Berth.cabin) var berths: [Berth] = []
  init(_ code: String) { self.code = code }
}

@Model private final class Berth {
  #Unique<Berth>([\.cabin, \.place])
  var place: Int
  var cabin: Cabin
  init(_ place: Int, in cabin: Cabin) { (self.place, self.cabin) = (place, cabin) }
}
