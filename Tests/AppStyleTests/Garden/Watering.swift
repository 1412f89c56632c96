import Foundation
import Quire

@Model
final class Watering {
  var at: Date
  var liters: Double
  var plant: Plant?

  init(at: Date = Date(), liters: Double) {
    self.at = at
    self.liters = liters
  }
}

@Model
final class GardenBed {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Plant.bed) var plants: [Plant]?
  @Transient var isSelected = false

  init(name: String) { self.name = name }

  func remove() {
    modelContext?.delete(self)
    try? modelContext?.save()
  }
}
