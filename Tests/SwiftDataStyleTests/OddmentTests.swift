import Quire
import Testing

/// What is declared in rare ways is kept and found like anything else.
@Suite @MainActor struct OddmentTests {
  @Test func `contexts and containers equal themselves`() throws {
    let app = try Collection(inMemory: true)
    let (context, other) = (ModelContext(app.container), ModelContext(app.container))
    #expect(context == context && context != other && other.container == context.container)
    #expect(try app.container != Collection(inMemory: true).container)
    let specimen = Specimen()
    context.insert(specimen)
    #expect(specimen.modelContext == context && specimen.modelContext != Optional(other))
  }

  @Test func `values of all those types come back`() throws {
    let app = try Collection(inMemory: true)
    let specimen = Specimen()
    specimen.range = 3...9
    specimen.matrix = [[0.5, .infinity], []]
    specimen.byShelf = ["a": [1, 2]]
    specimen.length = Measurement(value: 2.5, unit: .centimeters)
    specimen.locale = Locale(identifier: "de_DE")
    specimen.interval = DateInterval(start: Date(timeIntervalSince1970: 1), duration: 5)
    specimen.finder = PersonNameComponents(givenName: "Mary", familyName: "Anning")
    specimen.boiled = .milliseconds(1500)
    specimen.place = CGPoint(x: 1, y: 2)
    specimen.words = ["old"]
    specimen.kinds = [.bone]
    specimen.marks = .torn
    specimen.shape = .flat(1, 2)
    specimen.tree = .node(.leaf, .node(.leaf, .leaf))
    specimen.in = "box"
    specimen.größe = 7
    specimen.名前 = "石"
    let id = try app.add(specimen)
    let copy = try #require(ModelContext(app.container).model(for: id) as? Specimen)
    #expect(
      copy !== specimen && copy.range == 3...9 && copy.matrix == specimen.matrix && copy.byShelf == ["a": [1, 2]])
    #expect(copy.length == specimen.length && copy.zone == specimen.zone && copy.locale == specimen.locale)
    #expect(copy.parts == specimen.parts && copy.interval == specimen.interval && copy.pages == [1, 3])
    #expect(copy.finder?.familyName == "Anning" && copy.boiled == .milliseconds(1500) && copy.place.y == 2)
    #expect(copy.words == ["old"] && copy.kinds == [.bone] && copy.kind == .stone && copy.marks == .torn)
    #expect(copy.shape == .flat(1, 2) && copy.tree == specimen.tree && copy.limits == Specimen.Limits())
    #expect(copy.in == "box" && copy.größe == 7 && copy.名前 == "石" && copy.wait == 300 && copy.half == 0.5)
    #expect(copy.greeting == "hello" && !copy.isRead && copy.key == specimen.key)
    #expect(try app.all(Specimen.self, where: #Predicate { $0.größe > 6 && $0.名前 == "石" }).count == 1)
    #expect(try app.context.fetch(Specimen.inOrder).count == 1)
  }

  @Test func `a relationship with .unique belongs to one`() throws {
    let app = try Collection(inMemory: true)
    let (one, other) = (Cabinet(name: "one"), Cabinet())
    let lock = Lock(number: 1)
    one.lock = lock
    _ = try app.add(one)
    other.lock = lock
    app.context.insert(other)
    #expect(throws: ModelError.self) { try app.context.save() }
  }

  @Test func `objects with an equality of their own are kept apart all the same`() throws {
    let app = try Collection(inMemory: true)
    let cabinet = Cabinet(name: "tall")
    cabinet.drawers = [Drawer(label: "b"), Drawer(label: "a"), Drawer(label: "a")]
    _ = try app.add(cabinet)
    #expect(cabinet.drawers.count == 3 && cabinet.drawers.sorted().first?.description == "a")
    let first = try #require(cabinet.drawers.first)
    first.cabinet = nil
    #expect(first.moves == 1 && cabinet.drawers.count == 2)
    try app.relabel()
    #expect(Set(try app.all(Drawer.self).map(\.label)) == ["A", "B"])
    let data = try JSONEncoder().encode(first)
    #expect(try JSONDecoder().decode(Drawer.self, from: data).label == "B")
  }

  @Test func `a data layer asks where it is, what it holds, and clears it`() throws {
    let app = try Collection(inMemory: true)
    #expect(app.path == "/dev/null" && app.names == ["Specimen", "Cabinet", "Drawer", "Lock", "Hidden"])
    app.hide(1)
    let ids = try ["b", "a"].map { try app.add(Drawer(label: $0)) }
    #expect(ids.reversed().sorted() == ids && ids[0].entityName == "Drawer" && ids[0].storeIdentifier != nil)
    #expect(try app.context.fetchIdentifiers(FetchDescriptor<Drawer>(), batchSize: 1) == ids)
    #expect(try app.all(Drawer.self, by: [SortDescriptor(\.label)], limit: 1).map(\.label) == ["a"])
    try app.clear([Drawer.self, Specimen.self])
    #expect(try app.context.fetchCount(FetchDescriptor<Drawer>()) == 0)
    _ = try app.add(Cabinet(name: "last"))
    try app.container.erase()
    #expect(try app.context.fetchCount(FetchDescriptor<Cabinet>()) == 0)
  }

  @Test func `a class whose macro stands in an #if is a model`() throws {
    let store = try ModelContainer(for: Sketch.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    context.insert(Sketch(title: "fern"))
    try context.save()
    context.insert(Sketch(title: "fern"))
    #expect(throws: ModelError.self) { try context.save() }
  }

  @Test func `a refusal is caught by SwiftData's name`() throws {
    let app = try Collection(inMemory: true)
    let (one, other) = (Specimen(), Specimen())
    (one.slug, other.slug) = ("same", "same")
    app.context.insert(one)
    app.context.insert(other)
    var caught = false
    do {
      try app.context.save()
    } catch SwiftDataError.historyTokenExpired {
    } catch SwiftDataError.modelValidationFailure {
      caught = true
    }
    #expect(caught)
  }
}
