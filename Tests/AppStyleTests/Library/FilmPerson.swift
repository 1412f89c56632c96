import Foundation
import Quire

@Model
final class FilmPerson {
  @Attribute(originalName: "full_name") var name: String
  var born: DateComponents?
  @Relationship(inverse: \Film.director) var directed: [Film] = []
  var actedIn: [Film] = []

  init(name: String) { self.name = name }
}
