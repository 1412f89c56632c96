import Quire

// Two versions of a schema that share a model outside of both, which refers to the newer one's class.

typealias Film = FilmSchemaV2.Film

@Model
final class Review {
  var text: String
  var stars: Int
  var film: Film?
  @Relationship(inverse: \Film.fans) var seen: [Film] = []

  init(text: String, stars: Int) {
    self.text = text
    self.stars = stars
  }
}

enum FilmSchemaV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Review.self, Film.self] }

  @Model final class Film {
    var title: String
    @Relationship(deleteRule: .cascade, inverse: \Review.film) var reviews: [Review] = []
    var fans: [Review] = []
    init(title: String) { self.title = title }
  }
}

enum FilmSchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Film.self, Review.self] }

  @Model final class Film {
    @Attribute(originalName: "title") var name: String
    var year: Int?
    @Relationship(deleteRule: .cascade, inverse: \Review.film) var reviews: [Review] = []
    var fans: [Review] = []
    init(name: String) { self.name = name }
  }
}

enum FilmMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [FilmSchemaV1.self, FilmSchemaV2.self] }
  static var stages: [MigrationStage] { [v1ToV2] }

  static let v1ToV2 = MigrationStage.custom(
    fromVersion: FilmSchemaV1.self, toVersion: FilmSchemaV2.self,
    willMigrate: { context in
      for film in try context.fetch(FetchDescriptor<FilmSchemaV1.Film>()) where film.reviews.isEmpty {
        context.delete(film)
      }
      try context.save()
    },
    didMigrate: { context in
      for film in try context.fetch(FetchDescriptor<Film>()) { film.year = film.reviews.map(\.stars).max() }
      try context.save()
    })
}
