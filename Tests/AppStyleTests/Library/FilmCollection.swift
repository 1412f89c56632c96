import Foundation
import Quire

@Model
final class FilmCollection {
  var name: String
  var createdAt: Date = Date.now
  var isSmart = false
  var rule: SmartRule?
  @Relationship(deleteRule: .nullify, inverse: \Film.collections) var films: [Film]

  init(name: String, films: [Film] = []) {
    self.name = name
    self.films = films
  }

  convenience init(smart name: String, rule: SmartRule) {
    self.init(name: name)
    self.isSmart = true
    self.rule = rule
  }

  struct SmartRule: Codable {
    enum Field: String, Codable { case title, runtime }
    var field: Field
    var value: String
  }
}
