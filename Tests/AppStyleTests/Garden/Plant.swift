import Foundation
import Quire

@Model
final class Plant {
  @Attribute(.unique, originalName: "plant_id") var identifier: String
  var species: String
  var nickname: String?
  var light: Light
  var wateringInterval: Int
  var bed: GardenBed?
  @Relationship(deleteRule: .cascade, inverse: \Watering.plant) var waterings: [Watering]

  init(identifier: String = UUID().uuidString, species: String, light: Light = .medium, wateringInterval: Int = 7) {
    self.identifier = identifier
    self.species = species
    self.light = light
    self.wateringInterval = wateringInterval
    self.waterings = []
  }

  enum Light: Int, Codable, CaseIterable, CustomStringConvertible {
    case low = 1
    case medium = 2
    case bright = 3
    var description: String { ["low", "medium", "bright"][rawValue - 1] }
  }
}
