import Foundation
import Quire

@Model
final class Film {
  var title: String
  var originalTitle: String?
  var releaseDate: Date?
  var runtime: Int?
  var genres: [FilmGenre]
  var poster: URL?
  var ratings: [Rating]
  var director: FilmPerson?
  @Relationship(inverse: \FilmPerson.actedIn) var cast: [FilmPerson]
  var collections: [FilmCollection]

  init(title: String, releaseDate: Date? = nil, runtime: Int? = nil, genres: [FilmGenre] = []) {
    self.title = title
    self.releaseDate = releaseDate
    self.runtime = runtime
    self.genres = genres
    self.ratings = []
    self.cast = []
    self.collections = []
  }

  struct Rating: Codable, Hashable, Identifiable {
    var id = UUID()
    var source: String
    var value: Double
  }
}

enum FilmGenre: String, Codable, CaseIterable { case drama, comedy, action, documentary }
