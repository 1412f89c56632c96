import Foundation
import Quire
import Testing

/// What code written for SwiftData asks of a model, a schema, a context and an error beside fetching and saving.
struct CompatibilityTests {
  private func context(_ types: any PersistentModel.Type...) throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: Schema(types), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]))
  }

  @Test func `a reference beside a number of its name has the column key`() throws {
    let context = try context(BudgetEntry.self)
    let entry = BudgetEntry(amount: 1, kind: .income, ownerId: 3)
    entry.owner = BudgetOwner(name: "Ann")
    context.insert(entry)
    try context.save()
    #expect(try context.fetch(Int.self, sql: "SELECT owner_id FROM budget_entry") == [3])
    #expect(try context.fetch(Int.self, sql: "SELECT owner_key FROM budget_entry") == [1])
  }

  @Test func `two properties with one column are refused with their names and a remedy`() throws {
    let error = #expect(throws: SchemaError.self) { try context(TwiceNamed.self) }
    #expect(
      error?.localizedDescription
        == "TwiceNamed.url and TwiceNamed.URL would have the column url: name another with @Attribute(column:)")
  }

  @Test func `every error's localized description is its whole text`() throws {
    let refused = try #require(#expect(throws: SchemaError.self) { try context(TwiceNamed.self) })
    let errors: [any Error] = [
      ModelError.readOnly, refused, ChangeLogError.off(path: "books.db"),
      ModelEnvironmentError.missing(type: "Book"), StoreBackupError.exists(path: "books.db"),
    ]
    for error in errors { #expect(error.localizedDescription == "\(error)") }
  }

  /// Code that is generic over a protocol: its key paths name no column.
  private func ordered<T: Titled>(
    _: T.Type, in context: ModelContext, from start: String = "", limit: Int? = nil, offset: Int? = nil
  ) throws -> [String] {
    var descriptor = FetchDescriptor<T>(
      predicate: #Predicate { $0.title >= start },
      sortBy: [SortDescriptor(\.subtitle, order: .reverse), SortDescriptor(\.title)])
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    let identifiers = try context.fetchIdentifiers(descriptor)
    let found = try context.fetch(descriptor)
    #expect(found.map(\.persistentModelID) == identifiers)
    #expect(try context.fetchCount(descriptor) == found.count)
    return found.map(\.title)
  }

  private func remove<T: Titled>(_: T.Type, in context: ModelContext, from start: String) throws {
    try context.delete(model: T.self, where: #Predicate { $0.title >= start })
  }

  @Test func `rows are sorted and deleted by the properties of a protocol, with unsaved edits`() throws {
    let context = try context(Recipe.self)
    for (title, subtitle) in [("b", "x"), ("a", "x"), ("d", nil), ("C", "y"), ("e", "é")] {
      context.insert(Recipe(title: title, subtitle: subtitle))
    }
    try context.save()
    #expect(try ordered(Recipe.self, in: context) == ["e", "C", "a", "b", "d"])
    #expect(try ordered(Recipe.self, in: context, from: "b", limit: 2, offset: 1) == ["b", "d"])
    let d = try #require(try context.fetch(FetchDescriptor<Recipe>(predicate: #Predicate { $0.title == "d" })).first)
    d.subtitle = "z"
    context.insert(Recipe(title: "0", subtitle: "x"))
    #expect(try ordered(Recipe.self, in: context) == ["e", "d", "C", "0", "a", "b"])
    #expect(try ordered(Recipe.self, in: context, limit: 2, offset: 3) == ["0", "a"])
    // Rows are deleted as they are in the file, in one commit.
    let number = context.commitNumber
    try remove(Recipe.self, in: context, from: "c")
    #expect(context.commitNumber == number + 1)
    #expect(try context.fetch(String.self, sql: "SELECT title FROM recipe ORDER BY 1") == ["C", "a", "b"])
    #expect(d.isDeleted)
    let explanation = try context.explain(FetchDescriptor<Recipe>(sortBy: [SortDescriptor(\.headline)]))
    #expect(explanation.computed.count == 1 && explanation.description.contains("then asks each object"))
  }

  @Test func `an error says what has to change before the same call can succeed`() throws {
    func answer(_ error: any Error) -> Int {
      guard let error = error as? any QuireError else { return 500 }
      return switch error.cause {
      case .caller: 400
      case .conflict: 409
      case .transient: 503
      case .storage: 500
      @unknown default: 500
      }
    }
    let context = try context(Plant.self)
    for _ in 1...2 { context.insert(Plant(identifier: "1", species: "fern")) }
    do { try context.save(onUniqueConflict: .refuse) } catch { #expect(answer(error) == 409) }
    context.rollback()
    do { try context.execute("INSERT INTO weeds DEFAULT VALUES") } catch { #expect(answer(error) == 400) }
    #expect(answer(ModelError.deadlineExceeded) == 503)
    #expect(answer(DatabaseError.diskFull(path: "books.db")) == 500)
    #expect(answer(CocoaError(.fileNoSuchFile)) == 500)
  }

  /// As another package's code has to: a switch over an error needs a case for those to come.
  @Test func `a switch over an error goes on when a later version has more cases`() {
    let error = StoreBackupError.exists(path: "books.db")
    let text =
      switch error {
      case .exists(let path), .sameFile(let path): path
      case .inUse(_, let file): file
      case .cannotWrite(_, let reason): reason
      @unknown default: "\(error)"
      }
    #expect(text == "books.db")
  }

  @Test func `an identifier is its own id, and a schema tells the properties of its entities`() throws {
    let context = try context(Trip.self)
    let trip = Trip(name: "A", destination: "B")
    context.insert(trip)
    try context.save()
    #expect(trip.persistentModelID.id == trip.persistentModelID)
    let entity = try #require(Schema([Trip.self, Plant.self]).entitiesByName["Trip"])
    #expect(entity.properties.map(\.name) == ["name", "destination", "startDate", "endDate", "stops", "stay"])
    #expect(entity.relationships.map(\.destination) == ["TripStop", "Stay"])
    #expect(entity.relationships.map(\.isToOneRelationship) == [false, true])
    let plant = try #require(Schema([Trip.self, Plant.self]).entitiesByName["Plant"])
    #expect(plant.properties[0].originalName == "plant_id" && plant.properties[0].isUnique)
    #expect(plant.attributes.filter(\.isOptional).map(\.name) == ["nickname"])
  }

  @Test func `values are read and written by key path`() throws {
    let context = try context(Trip.self)
    let trip = Trip(name: "A", destination: "B")
    context.insert(trip)
    try context.save()
    trip.setValue(forKey: \.name, to: "C")
    #expect(trip.getValue(forKey: \.name) == "C" && context.hasChanges)
  }

  @Test func `an object has no context once its deletion is saved`() throws {
    let context = try context(Plant.self)
    let plant = Plant(species: "Mint")
    context.insert(plant)
    try context.save()
    context.delete(plant)
    #expect(plant.modelContext === context)
    try context.save()
    #expect(plant.modelContext == nil && plant.isDeleted)
  }

  @Test func `autosave where no turn ends is noted`() throws {
    let context = try context(Plant.self)
    #expect(context.autosaveError == nil)
    context.autosaveEnabled = true
    #expect(context.autosaveError?.localizedDescription.contains("autosave needs an actor") == true)
  }
}

@Model final class TwiceNamed {
  var url: String = ""
  var URL: String = ""
  init() {}
}

private protocol Titled: PersistentModel {
  var title: String { get }
  var subtitle: String? { get }
}

@Model private final class Recipe: Titled {
  var title: String
  var subtitle: String?
  var headline: String { title + (subtitle ?? "") }

  init(title: String, subtitle: String?) {
    self.title = title
    self.subtitle = subtitle
  }
}
