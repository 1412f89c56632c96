import Quire
import TestSupport
import Testing

/// What goes in comes out, and what no column holds is refused by name.
@Suite(.fewAtOnce) struct TypeTests {
  static func store() throws -> ModelContainer {
    try ModelContainer(
      for: Everything.self, Names.Task.self, Ticket.self, Coded.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try Self.store()
    context = ModelContext(store)
  }

  /// Saves an object with these values, and gives another context's object of the row.
  func again(_ change: (Everything) -> Void) throws -> Everything {
    let model = Everything()
    change(model)
    context.insert(model)
    try context.save()
    return try #require(ModelContext(store).model(for: model.persistentModelID) as? Everything)
  }

  static let extremes: [@Sendable (Everything) -> Void] = [
    { _ in },
    {
      $0.text = "a\0b ‘é’ e\u{301} 🏴󠁧󠁢󠁥󠁮󠁧󠁿"
      $0.int = .max
      $0.int8 = .min
      $0.int16 = .max
      $0.int32 = .min
      $0.int64 = .min
      $0.uint8 = .max
      $0.uint32 = .max
      $0.flag = true
      $0.double = .greatestFiniteMagnitude
      $0.float = .leastNonzeroMagnitude
      $0.date = Date(timeIntervalSince1970: 1_700_000_000.123456)
      $0.uuid = UUID(uuidString: "12345678-9ABC-DEF0-1234-56789ABCDEF0")!
      $0.url = URL(string: "https://example.org/a%20b?q=é#f")!
      $0.decimal = Decimal(string: "-12345678901234567890.0123456789")!
      $0.data = Data([0, 255, 0])
      $0.genre = .poem
      $0.rank = .high
      $0.place = Place(street: "\"Main\" \\ St", floor: -1)
      $0.words = ["", "a,b", "\n"]
      $0.numbers = [.min, 0, .max]
      $0.table = ["b": 2, "a": 1]
    },
    {
      $0.double = -.infinity
      $0.float = .infinity
      $0.date = Date(timeIntervalSince1970: -62_000_000_000)
      $0.maybeText = ""
      $0.maybeInt = 0
      $0.maybeFlag = false
      $0.maybeDouble = 0.1
      $0.maybeFloat = 0.1
      $0.maybeDate = Date(timeIntervalSince1970: 0.5)
      $0.maybeUUID = UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")
      $0.maybeURL = URL(string: "file:///tmp")
      $0.maybeDecimal = Decimal(string: "0.1")
      $0.maybeData = Data()
      $0.maybeGenre = .novel
      $0.maybeRank = .low
      $0.maybePlace = Place(street: "x")
      $0.maybeWords = []
    },
  ]

  @Test(arguments: extremes.indices) func `every type comes back as it was`(index: Int) throws {
    let wanted = Everything()
    Self.extremes[index](wanted)
    let found = try again(Self.extremes[index])
    func same<V: Equatable>(_ keyPath: KeyPath<Everything, V>) {
      #expect(found[keyPath: keyPath] == wanted[keyPath: keyPath])
    }
    #expect(found.text.utf8.elementsEqual(wanted.text.utf8))
    same(\.int); same(\.int8); same(\.int16); same(\.int32); same(\.int64); same(\.uint8); same(\.uint32); same(\.flag)
    same(\.double); same(\.float); same(\.uuid); same(\.url); same(\.decimal); same(\.data); same(\.genre); same(\.rank)
    same(\.place); same(\.words); same(\.numbers); same(\.table); same(\.maybeText); same(\.maybeInt); same(\.maybeFlag)
    same(\.maybeDouble); same(\.maybeFloat); same(\.maybeDate); same(\.maybeUUID); same(\.maybeURL)
    same(\.maybeDecimal); same(\.maybeData); same(\.maybeGenre); same(\.maybeRank); same(\.maybePlace);
    same(\.maybeWords)
    #expect(abs(found.date.timeIntervalSince(wanted.date)) < 0.000_001)
  }

  @Test func `columns are readable in SQL`() throws {
    _ = try again {
      $0.date = Date(timeIntervalSince1970: 0)
      $0.words = ["a", "b"]
      $0.genre = .poem
      $0.decimal = 1.5
    }
    let row = try store.query(
      "SELECT genre, rank, flag, words, json_extract(place, '$.street'), maybe_genre, maybe_place, typeof(decimal), date(date) FROM everything"
    ).map(\.values)
    #expect(row == [["poem", -1, 0, #"["a","b"]"#, "", nil, nil, "text", "1970-01-01"]])
  }

  @Test(arguments: ["double", "float", "maybeDouble"]) func `NaN is refused by name, inserted or edited`(
    property: String
  ) throws {
    func set(_ model: Everything) {
      switch property {
      case "double": model.double = .nan
      case "float": model.float = .nan
      default: model.maybeDouble = .nan
      }
    }
    let saved = Everything()
    context.insert(saved)
    try context.save()
    set(saved)
    for _ in 0..<2 {
      let error = #expect(throws: ModelError.self) { try context.save() }
      guard case .notStorable("Everything", property, _)? = error else { throw error! }
      context.rollback()
      let new = Everything()
      set(new)
      context.insert(new)
    }
    context.rollback()
    #expect(try store.value("SELECT count(*) FROM everything") == 1)
  }

  @Test func `nil becomes NULL and a value again`() throws {
    let model = Everything()
    context.insert(model)
    (model.maybePlace, model.maybeGenre, model.maybeDate) = (Place(street: "x"), .poem, .now)
    try context.save()
    (model.maybePlace, model.maybeGenre, model.maybeDate) = (nil, nil, nil)
    try context.save()
    #expect(
      try store.query("SELECT maybe_place, maybe_genre, maybe_date FROM everything").map(\.values) == [[nil, nil, nil]])
    let other = try #require(try ModelContext(store).all(Everything.self).first)
    #expect(other.maybePlace == nil && other.maybeGenre == nil && other.maybeDate == nil)
  }

  @Test func `what another tool wrote that is no case or no JSON is refused`() throws {
    let model = Everything()
    context.insert(model)
    try context.save()
    for (column, value, property) in [
      ("genre", "'drama'", "genre"), ("rank", "0", "rank"), ("place", "'{}'", "place"), ("words", "'[1]'", "words"),
      ("uuid", "'no'", "uuid"), ("date", "'no'", "date"), ("decimal", "'x'", "decimal"), ("int8", "300", "int8"),
      ("maybe_genre", "'drama'", "maybeGenre"), ("maybe_place", "'['", "maybePlace"),
    ] {
      let before = try store.value("SELECT \(identifier: column) FROM everything")
      try store.execute(SQL(verbatim: "UPDATE everything SET \(column) = \(value)"))
      let error = #expect(throws: ModelError.self, "\(column)") { try ModelContext(store).all(Everything.self) }
      guard case .undecodable("Everything", 1, property, _)? = error else { throw error! }
      try store.execute("UPDATE everything SET \(identifier: column) = \(before)")
    }
    #expect(try ModelContext(store).all(Everything.self).count == 1)
  }

  @Test func `a decimal with zeros at its end is read and sorted as its number, and is equal to it once converted`()
    throws
  {
    for _ in 0..<3 { context.insert(Everything()) }
    try context.save()
    for (key, text) in [(1, "12.50"), (2, "9.5"), (3, "9.00")] {
      try store.execute("UPDATE everything SET decimal = \(text) WHERE id = \(key)")
    }
    func keys(_ predicate: Predicate<Everything>) throws -> [Int64] {
      let descriptor = FetchDescriptor<Everything>(predicate: predicate, sortBy: [SortDescriptor(\.decimal)])
      return try ModelContext(store).fetch(descriptor).compactMap(\.persistentModelID.rowKey)
    }
    let (price, least) = (Decimal(12.5), Decimal(9))
    #expect(try keys(#Predicate { $0.decimal >= least }) == [3, 2, 1])
    #expect(try ModelContext(store).all(Everything.self).map(\.decimal) == [12.5, 9.5, 9])
    #expect(try keys(#Predicate { $0.decimal == price }) == [])
    try store.execute(
      "UPDATE everything SET decimal = rtrim(rtrim(decimal, '0'), '.') WHERE decimal LIKE '%.%'")
    #expect(try keys(#Predicate { $0.decimal == price }) == [1])
    #expect(try context.fetchDistinct(\Everything.decimal) == [9, 9.5, 12.5])
  }

  @Test func `models called Task and Actor, nested and not final, are models like others`() async throws {
    let actor = Names.Actor(name: "Ada")
    actor.tasks = [Names.Task("1"), Names.Task("2")]
    context.insert(actor)
    try context.save()
    #expect(try store.query("SELECT title, actor_id FROM task").map(\.values) == [["1", 1], ["2", 1]])
    let name = "Ada"
    let tasks = try ModelContext(store).fetch(
      FetchDescriptor<Names.Task>(predicate: #Predicate { $0.actor?.name == name }, sortBy: [SortDescriptor(\.title)]))
    #expect(tasks.map(\.title) == ["1", "2"])
  }

  @Test func `a model's own id is the column id, and the key has another name`() throws {
    let id = UUID()
    let ticket = Ticket(id: id)
    ticket.next = Ticket()
    context.insert(ticket)
    try context.save()
    #expect(ticket.id == id)
    let other = ModelContext(store)
    let found = try other.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.id == id }))
    #expect(found.first?.next?.persistentModelID == ticket.next?.persistentModelID)
    #expect(try store.query("SELECT _id, next_id FROM ticket WHERE next_id IS NOT NULL").count == 1)
    context.insert(Ticket(id: id))
    #expect(throws: ModelError.self) { try context.save() }
    context.rollback()

    context.insert(Coded("x", label: "y", order: 3))
    try context.save()
    #expect(try store.query(#"SELECT _id, id, "the label", "order" FROM coded"#).map(\.values) == [[1, "x", "y", 3]])
    let sorted = try context.fetch(FetchDescriptor<Coded>(sortBy: [SortDescriptor(\.order), SortDescriptor(\.label)]))
    #expect(sorted.first?.label == "y")
  }
}
