import Foundation
import Quire

@ModelActor
actor HealthStore {
  func importWeights(_ values: [(Date, Double)], for profileID: PersistentIdentifier) throws -> Int {
    guard let profile = self[profileID, as: HealthProfile.self] else { return 0 }
    for (date, kilograms) in values {
      let entry = WeightEntry(date: date, kilograms: kilograms, source: .imported)
      entry.profile = profile
      modelContext.insert(entry)
    }
    try modelContext.save()
    return profile.weights.count
  }

  func deleteWeights(before date: Date) throws {
    try modelContext.delete(model: WeightEntry.self, where: #Predicate { $0.date < date })
    try modelContext.save()
  }
}
