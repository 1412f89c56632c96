import Quire

// A recipe keeper: enums of every kind, arrays and dictionaries of values, a cascade with its inverse.

enum Difficulty: String, Codable, CaseIterable, Identifiable {
  case easy, medium, hard
  var id: String { rawValue }
}

enum Measure: Codable, Hashable {
  case grams(Double)
  case pieces(Int)
  case toTaste
}

enum Course: Int, Codable { case starter = 1, main, dessert }

enum Season: Codable { case spring, summer, autumn, winter }

struct Nutrition: Codable, Hashable, Sendable {
  var calories: Int
  var protein: Double
  var notes: [String] = []
}

@Model
final class Recipe {
  #Index<Recipe>([\.title], [\.title, \.createdAt])

  @Attribute(.unique) var id: UUID
  var title: String
  var summary: String?
  var createdAt: Date = Date()
  var updatedAt: Date?
  var difficulty: Difficulty
  var course: Course?
  var season: Season = Season.summer
  var servings: Int = 4
  var prepTime: TimeInterval
  var cookTime: TimeInterval?
  var rating: Double?
  var isFavorite = false
  var isArchived: Bool?
  var sourceURL: URL?
  var tags: [String]
  var equipment: [String]? = nil
  var steps: [String] = []
  var stepMinutes: [Int] = []
  var nutrition: Nutrition?
  var nutritionPerServing: Nutrition = Nutrition(calories: 0, protein: 0)
  var alternatives: [Nutrition] = []
  var scores: [String: Int] = [:]
  var courses: [Course] = [.main]
  var seasons: Set<Season> = []
  @Attribute(.externalStorage) var photo: Data?
  @Attribute(.externalStorage) var photos: [Data] = []
  var links: [URL] = []

  @Relationship(deleteRule: .cascade, inverse: \Ingredient.recipe)
  var ingredients: [Ingredient] = []

  @Relationship(inverse: \Cookbook.recipes) var cookbooks: [Cookbook]?

  @Transient var isSelected: Bool = false
  @Transient var draftNote: String?

  var totalTime: TimeInterval { prepTime + (cookTime ?? 0) }

  init(
    id: UUID = UUID(), title: String, difficulty: Difficulty = .easy, prepTime: TimeInterval = 0, tags: [String] = []
  ) {
    self.id = id
    self.title = title
    self.difficulty = difficulty
    self.prepTime = prepTime
    self.tags = tags
  }
}

@Model
final class Ingredient {
  var name: String
  var measure: Measure
  var order: Int
  var recipe: Recipe?

  init(name: String, measure: Measure, order: Int) {
    self.name = name
    self.measure = measure
    self.order = order
  }
}

@Model
class Cookbook {
  var title: String = "Untitled"
  var recipes: [Recipe]? = []
  var sortOrder = 0
}

extension Recipe {
  static var favorites: FetchDescriptor<Recipe> {
    FetchDescriptor<Recipe>(
      predicate: #Predicate { $0.isFavorite },
      sortBy: [SortDescriptor(\.title), SortDescriptor(\.createdAt, order: .reverse)])
  }

  var ingredientList: [Ingredient] { ingredients.sorted { $0.order < $1.order } }
}
