import Foundation
import Quire

struct Dosage: Codable, Hashable {
  var amount: Double
  var unit: DosageUnit
}

enum DosageUnit: String, Codable, CaseIterable, Identifiable {
  case milligram, milliliter, pill
  var id: Self { self }
}

@Model
class Medication {
  var name: String
  var dosage: Dosage
  var timesOfDay: [Date]
  var isActive: Bool
  var profile: HealthProfile?
  @Relationship(deleteRule: .cascade) var intakes: [MedicationIntake]
  @Transient var isHighlighted: Bool = false

  init(name: String, dosage: Dosage, timesOfDay: [Date] = [], isActive: Bool = true) {
    self.name = name
    self.dosage = dosage
    self.timesOfDay = timesOfDay
    self.isActive = isActive
    self.intakes = []
  }
}

@Model
class MedicationIntake {
  var takenAt: Date
  var wasSkipped: Bool
  @Relationship(inverse: \Medication.intakes) var medication: Medication?

  init(takenAt: Date, wasSkipped: Bool = false) {
    self.takenAt = takenAt
    self.wasSkipped = wasSkipped
  }
}
