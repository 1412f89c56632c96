import Foundation
import Observation
import Quire
import TestSupport
import Testing

struct Edition: Codable, Hashable {
  var year = 1961
  var place = "Warsaw"
}

@Model final class Title {
  #Unique<Title>([\.shelf, \.place])
  var name: String
  @Attribute(.unique) var isbn: String?
  var rating: Int
  var price: Double = 1
  var isAvailable = true
  var edition = Edition()
  var tags: [String] = []
  var shelf: String?
  var place = 0
  var writer: Pen?
  init(_ name: String, isbn: String? = nil, rating: Int = 3) {
    self.name = name
    self.isbn = isbn
    self.rating = rating
  }
}

@Model final class Pen {
  var name: String
  @Relationship(inverse: \Title.writer) var titles: [Title] = []
  init(_ name: String) { self.name = name }
}

extension Title: ValidatedModel {
  static let rules: [ModelRule<Title>] = [
    ModelRule(\.name, "a title has a name") { !$0.isEmpty },
    ModelRule(\.rating, "it is from 0 to 5") { (0...5).contains($0) },
    ModelRule(\.edition, "nothing was printed before 1450") { $0.year >= 1450 },
  ]
}

/// What edits a text, wherever it comes from.
private struct Field { @ModelBinding var text: String }

@MainActor private let shared = Title("global")

@MainActor private enum Shared { @ModelBindable static var title = Title("global") }

/// The observation contract, F4 and F5: editing, bindings, and what refuses a value.
@MainActor @Suite(.fewOnMainActor) struct BindingTests {
  private let store: ModelContainer
  private let context: ModelContext
  @ModelBindable private var stored: Title

  init() throws {
    store = try ModelContainer(
      for: Title.self, Pen.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    stored = Title("Eden", isbn: "1")
    stored.writer = Pen("Lem")
    context.insert(stored)
    context.insert(Title("Solaris", isbn: "2"))
    try context.save()
  }

  private func turn() async { for _ in 0..<20 { await Task.yield() } }

  private func refusal(_ body: () throws -> Void) -> String? {
    do { try body() } catch { return "\(error)" }
    return nil
  }

  // MARK: Editing

  /// By itself: it is set here
  @Test func `F5: a binding is made from a stored, a global, a local and a loop variable, and from a parameter`() throws
  {
    $stored.name.wrappedValue = "Eden II"
    #expect(stored.name == "Eden II")
    try ModelBindable(shared).name.set("everywhere")
    try Shared.$title.name.set("everywhere")
    #expect(shared.name == "everywhere" && Shared.title.name == "everywhere")
    @ModelBindable var local = stored
    try $local.name.set("Eden III")
    #expect(stored.name == "Eden III")
    let all = try context.fetch(FetchDescriptor<Title>(sortBy: [SortDescriptor(\.name)]))
    for title in all {
      @ModelBindable var edited = title
      $edited.rating.wrappedValue += 1
    }
    all.map { ModelBindable($0) }.forEach { $title in $title.rating.wrappedValue += 1 }
    #expect(all.map(\.rating) == [5, 5])
    Field(text: $stored.name).text = "Eden IV"
    #expect(stored.name == "Eden IV" && context.changedModelsArray.count == 2)
  }

  @Test func `reading a binding is reading the property, and an equal value is silence`() async throws {
    let name = $stored.name
    var seen: [String] = []
    let token = observe { seen.append(name.wrappedValue) }
    name.wrappedValue = "Eden"
    try name.set("Eden")
    await turn()
    #expect(seen == ["Eden"] && !context.hasChanges)
    stored.rating = 5
    await turn()
    #expect(seen == ["Eden"])
    try name.set("Eden II")
    await turn()
    #expect(seen == ["Eden", "Eden II"])
    withExtendedLifetime(token) {}
  }

  @Test func `bindings compose: a struct's fields, an optional, elements, another form`() throws {
    let year = $stored.edition.year
    year.wrappedValue = 1959
    #expect(stored.edition == Edition(year: 1959))
    try $stored.edition.place.set("Kraków")
    #expect(stored.edition == Edition(year: 1959, place: "Kraków"))

    #expect($stored.shelf.unwrapped() == nil)
    let shelf = $stored.shelf.or("none")
    #expect(shelf.wrappedValue == "none" && stored.shelf == nil)
    shelf.wrappedValue = "A"
    let there = try #require($stored.shelf.unwrapped())
    there.wrappedValue = "B"
    #expect(stored.shelf == "B" && shelf.wrappedValue == "B")
    stored.shelf = nil
    #expect(there.wrappedValue == "B" && shelf.wrappedValue == "none")

    stored.tags = ["a", "b", "c"]
    for tag in $stored.tags.elements { tag.wrappedValue += "!" }
    let last = $stored.tags[2]
    #expect(stored.tags == ["a!", "b!", "c!"] && last.wrappedValue == "c!")
    stored.tags.removeLast()
    #expect(last.wrappedValue == "c!")
    #expect(throws: ModelBindingError.noElement(index: "2")) { try last.set("d") }
    #expect(stored.tags == ["a!", "b!"])

    struct NotANumber: Error {}
    let price = $stored.price.transformed {
      "\($0)"
    } back: { (text: String) in
      guard let number = Double(text) else { throw NotANumber() }
      return number
    }
    #expect(price.wrappedValue == "1.0")
    try price.set("2.5")
    #expect(throws: NotANumber.self) { try price.set("two") }
    #expect(stored.price == 2.5)
  }

  @Test func `a binding through another model edits whichever is there`() throws {
    let writer = try #require($stored.writer.unwrapped())
    try writer.name.set("Stanisław Lem")
    #expect(stored.writer?.name == "Stanisław Lem")
    let other = Pen("Le Guin")
    $stored.writer.wrappedValue = other
    writer.name.wrappedValue = "Ursula K. Le Guin"
    #expect(other.name == "Ursula K. Le Guin" && other.titles == [stored] && other.modelContext === context)
    for title in ModelBindable(other).titles.elements { title.rating.wrappedValue = 5 }
    #expect(stored.rating == 5)
  }

  // MARK: What refuses a value

  /// By itself: it is set here
  @Test func `F5: a rule refuses a value where it is set, and nobody hears of it`() async throws {
    var runs = 0
    let token = observe {
      _ = (stored.name, stored.edition)
      runs += 1
    }
    let error = refusal { try $stored.name.set("") }
    #expect(error == "Title.name: a title has a name. Nothing was changed.")
    #expect(refusal { try $stored.edition.year.set(1066) }?.contains("printed before 1450") == true)
    #expect(refusal { try stored.set(\.rating, to: 6) }?.contains("from 0 to 5") == true)
    await turn()
    #expect(runs == 1 && stored.name == "Eden" && !context.hasChanges)
    try context.save()
    try stored.set(\.rating, to: 5)
    #expect(stored.rating == 5)
    withExtendedLifetime(token) {}
  }

  /// By itself: it is set here
  @Test(arguments: ["the property", "a binding", "a field's binding", "a form's binding"])
  func `F5: a plain assignment that is refused keeps the old value, and the next save throws`(way: String) async throws
  {
    struct NotANumber: Error {}
    var runs = 0
    let token = observe {
      _ = (stored.rating, stored.edition.year)
      runs += 1
    }
    switch way {
    case "the property": stored.rating = 9
    case "a binding": $stored.rating.wrappedValue = 9
    case "a field's binding": $stored.edition.year.wrappedValue = 1066
    default: $stored.rating.transformed({ "\($0)" }, back: { _ in throw NotANumber() }).wrappedValue = "nine"
    }
    stored.isAvailable = false
    await turn()
    #expect(stored.rating == 3 && stored.edition.year == 1961 && runs == 1)
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .ignoredAssignments(let refused)? = error else { throw try #require(error) }
    #expect(refused.count == 1 && refused.allSatisfy { !$0.contains("Nothing was") })
    #expect(try store.query("SELECT is_available FROM title WHERE id = 1").map(\.values) == [[1]])
    try context.save()
    #expect(
      try store.query("SELECT is_available, rating FROM title WHERE id = 1").map(\.values) == [[0, 3]], "the rest, now")
    withExtendedLifetime(token) {}
  }

  @Test func `a value that must be unique is refused where it is set, by the file and by what is unsaved`() throws {
    #expect(refusal { try $stored.isbn.set("2") }?.contains("another Title has the same isbn (") == true)
    #expect(stored.isbn == "1" && !context.hasChanges)
    let new = Title("Fiasco", isbn: "3")
    context.insert(new)
    #expect(refusal { try $stored.isbn.set("3") } != nil, "of an object that is not saved")
    #expect(refusal { try ModelBindable(new).isbn.set("1") } != nil, "for an object that is not saved")
    try $stored.isbn.set(nil)
    try ModelBindable(new).isbn.set(nil)
    try $stored.isbn.set("3")
    $stored.isbn.wrappedValue = "2"
    #expect(stored.isbn == "3")
    #expect(throws: ModelError.self) { try context.save() }
    try context.save()
    #expect(try store.query("SELECT isbn FROM title ORDER BY id").map(\.values) == [["3"], ["2"], [.null]])
  }

  @Test func `a value that its holder gives up in the same save is free`() throws {
    let solaris = try #require(context.model(Title.self, key: 2))
    solaris.isbn = "9"
    try $stored.isbn.set("2")
    try context.save()
    context.delete(solaris)
    try $stored.isbn.set("9")
    try context.save()
    #expect(try store.query("SELECT isbn FROM title").map(\.values) == [["9"]])
  }

  @Test func `two properties that are unique together are looked at together`() throws {
    let solaris = try #require(context.model(Title.self, key: 2))
    (solaris.shelf, solaris.place) = ("A", 1)
    try context.save()
    try $stored.place.set(1)
    #expect(refusal { try $stored.shelf.set("A") }?.contains("shelf, place") == true)
    try $stored.place.set(2)
    try $stored.shelf.set("A")
    #expect(refusal { try $stored.place.set(1) } != nil)
    try context.save()
  }

  /// By itself: it is set here
  @Test func `F5: what the file's own constraints and triggers refuse is refused where it is set`() throws {
    try store.execute("CREATE UNIQUE INDEX by_name ON title (lower(name))")
    try store.execute(
      "CREATE TRIGGER dear BEFORE UPDATE ON title WHEN new.price > 100 BEGIN SELECT raise(ABORT, 'too dear'); END")
    try context.refresh()
    let commit = context.commitNumber
    #expect(refusal { try $stored.name.set("SOLARIS") } != nil)
    #expect(refusal { try $stored.price.set(101) }?.contains("too dear") == true)
    #expect(refusal { try $stored.price.set(.nan) }?.contains("Title.price") == true)
    try $stored.name.set("Edén")
    #expect(stored.price == 1 && stored.name == "Edén")
    #expect(try store.query("SELECT name FROM title WHERE id = 1").map(\.values) == [["Eden"]], "nothing was written")
    #expect(context.commitNumber == commit)
    try context.save()
    #expect(context.commitNumber == commit + 1)
  }

  @Test func `an object that cannot be saved for another reason still takes a good value`() throws {
    stored.isbn = "2"
    try $stored.price.set(7)
    #expect(stored.price == 7)
    #expect(throws: ModelError.self) { try context.save() }
    try $stored.isbn.set("1")
    try context.save()
  }

  @Test func `a deleted object refuses at once, and plain assignment leaves that to the save`() throws {
    let name = $stored.name
    context.delete(stored)
    try context.save()
    #expect(refusal { try name.set("x") } == "this Title is deleted: its name was not changed")
    #expect(refusal { try context.save() } == nil)
    name.wrappedValue = "x"
    #expect(stored.name == "Eden")
    #expect(refusal { try context.save() }?.contains("Title.name of Title 1") == true)
  }

  @Test func `an object in no context takes any value plainly, and its first save refuses it`() throws {
    let new = Title("")
    new.rating = 9
    #expect(refusal { try new.set(\.rating, to: 10) } != nil)
    #expect(new.rating == 9)
    context.insert(new)
    #expect(refusal { try context.save() }?.contains("Title.name") == true)
    new.name = "Fiasco"
    #expect(refusal { try context.save() }?.contains("Title.rating") == true)
    #expect(try store.query("SELECT count(*) FROM title").map(\.values) == [[2]])
    new.rating = 5
    try context.save()
    #expect(try store.query("SELECT count(*) FROM title").map(\.values) == [[3]])
  }

  @Test func `what the file says is never refused, nor is saying it again`() throws {
    try store.execute("UPDATE title SET rating = 11 WHERE id = 1")
    try context.refresh()
    #expect(stored.rating == 11)
    stored.rating = 11
    try stored.set(\.rating, to: 11)
    try context.save()
    #expect(refusal { try stored.set(\.rating, to: 12) } != nil)
  }

  @Test func `an object of another context is refused, and the context's own edits stay`() throws {
    let other = ModelContext(store)
    let pen = try #require(try other.fetch(FetchDescriptor<Pen>()).first)
    stored.rating = 4
    #expect(refusal { try $stored.writer.set(pen) } != nil)
    #expect(stored.writer?.modelContext === context)
    try context.save()
    #expect(try store.query("SELECT rating FROM title WHERE id = 1").map(\.values) == [[4]])
  }

  @Test func `with autosave the turn's end says what was refused, and saves the rest`() async throws {
    let main = store.mainContext
    let title = try #require(main.model(Title.self, key: 1))
    title.rating = 9
    title.price = 4
    await turn()
    #expect("\(try #require(main.autosaveError))".contains("Title.rating"))
    #expect(try store.query("SELECT rating, price FROM title WHERE id = 1").map(\.values) == [[3, 4.0]])
  }
}
