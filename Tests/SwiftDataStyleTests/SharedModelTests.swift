import Quire
import Testing

/// Two versions of a schema that share a model outside of both.
@Suite struct SharedModelTests {
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "quire-films-\(UUID().uuidString)")
    var file: URL { url.appending(path: "films.store") }
    deinit { try? FileManager.default.removeItem(at: url) }
  }

  private func first(_ file: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: FilmSchemaV1.self), configurations: ModelConfiguration(url: file))
  }

  /// A film with two reviews, one that somebody has seen only, and one that nobody has.
  private func fill(_ container: ModelContainer) throws {
    let context = ModelContext(container)
    for title in ["Alien", "Brazil", "Cube"] { context.insert(FilmSchemaV1.Film(title: title)) }
    let films = try context.fetch(FetchDescriptor<FilmSchemaV1.Film>(sortBy: [SortDescriptor(\.title)]))
    let reviews = [Review(text: "good", stars: 4), Review(text: "better", stars: 5)]
    films[0].reviews = reviews
    films[1].reviews.append(Review(text: "odd", stars: 3))
    films[1].fans = [reviews[0]]
    try context.save()
  }

  @Test func `a file of the older version goes to the newer, and keeps what refers to the shared model`() throws {
    let folder = Folder()
    try fill(first(folder.file))
    for _ in 0..<2 {
      let container = try ModelContainer(
        for: Schema(versionedSchema: FilmSchemaV2.self), migrationPlan: FilmMigrationPlan.self,
        configurations: ModelConfiguration(url: folder.file))
      let context = ModelContext(container)
      let films = try context.fetch(FetchDescriptor<Film>(sortBy: [SortDescriptor(\.name)]))
      #expect(films.map(\.name) == ["Alien", "Brazil"] && films.map(\.year) == [5, 3])
      #expect(films.map { $0.reviews.map(\.text) } == [["good", "better"], ["odd"]])
      #expect(films[1].fans.map(\.text) == ["good"] && films[1].fans.first?.seen == [films[1]])
      let good = try context.fetch(FetchDescriptor<Review>(predicate: #Predicate { $0.film?.name == "Alien" }))
      #expect(good.count == 2 && good.allSatisfy { $0.film === films[0] })
    }
  }

  @Test func `in the older version the shared model's reference reads as nil, with the reason`() throws {
    let folder = Folder()
    let container = try first(folder.file)
    try fill(container)
    for context in [ModelContext(container), ModelContext(container)] {
      let review = try #require(
        try context.fetch(FetchDescriptor<Review>(predicate: #Predicate { $0.text == "good" })).first)
      for _ in 0..<2 {
        #expect(review.film == nil && review.seen.isEmpty)
        let errors = context.drainDeferredErrors().map { "\($0)" }
        #expect(errors.count == 2 && errors.allSatisfy { $0.contains("FilmSchemaV2.Film") })
        #expect(errors.allSatisfy { $0.contains("FilmSchemaV1.Film") })
      }
      let alien = try #require(
        try context.fetch(FetchDescriptor<FilmSchemaV1.Film>(predicate: #Predicate { $0.title == "Alien" })).first)
      #expect(alien.reviews.contains(review))
      #expect(throws: (any Error).self) {
        try context.fetch(FetchDescriptor<Review>(predicate: #Predicate { $0.film?.name == "Alien" }))
      }
    }
  }

  @Test func `a class of the newer version is refused in a container of the older`() throws {
    let folder = Folder()
    let container = try first(folder.file)
    try fill(container)
    let context = ModelContext(container)
    let review = try #require(
      try context.fetch(FetchDescriptor<Review>(predicate: #Predicate { $0.text == "good" })).first)
    review.film = Film(name: "Dune")
    #expect(throws: ModelError.self) { try context.save() }
    try context.save()
    let dune = Review(text: "sand", stars: 2)
    dune.film = Film(name: "Dune")
    context.insert(dune)
    #expect(throws: ModelError.self) { try context.save() }
    context.rollback()
    #expect(
      try container.query("SELECT text, film.title FROM review JOIN film ON film.id = film_id ORDER BY review.id")
        .map(\.values) == [["good", "Alien"], ["better", "Alien"], ["odd", "Brazil"]])
  }

  @Test func `two classes of one name are refused by both their names`() throws {
    let error = #expect(throws: SchemaError.self) {
      try ModelContainer(
        for: FilmSchemaV1.Film.self, FilmSchemaV2.Film.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    let text = error?.description ?? ""
    #expect(text.contains("FilmSchemaV1.Film") && text.contains("FilmSchemaV2.Film"))
  }
}
