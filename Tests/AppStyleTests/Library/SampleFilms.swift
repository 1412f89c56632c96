import Foundation
import Quire

extension Film {
  @MainActor static let samples: [Film] = [
    Film(title: "Harbour", runtime: 91, genres: [.drama]),
    Film(title: "Second Spring", runtime: 128, genres: [.comedy]),
    Film(title: "The Long Field", runtime: 145, genres: [.documentary, .drama]),
  ]
}

@MainActor
class LibraryDataController {
  static let shared = LibraryDataController()
  let modelContainer: ModelContainer
  var modelContext: ModelContext { modelContainer.mainContext }

  init(inMemory: Bool = true) {
    let schema = Schema([Film.self, FilmPerson.self, FilmCollection.self])
    let modelConfiguration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: inMemory)
    do {
      modelContainer = try ModelContainer(for: schema, configurations: [modelConfiguration])
    } catch {
      fatalError("Could not create ModelContainer: \(error)")
    }
  }

  func seed() throws {
    guard try modelContext.fetchCount(FetchDescriptor<Film>()) == 0 else { return }
    let director = FilmPerson(name: "Ada Winter")
    Film.samples.forEach {
      $0.director = director
      modelContext.insert($0)
    }
    try modelContext.save()
  }
}
