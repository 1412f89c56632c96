import Foundation
import Quire

@Model
final class HealthProfile {
  @Attribute(.unique) var id: UUID
  var displayName: String
  var birthday: Date?
  var bloodGroup: BloodGroup?
  var heightInCentimeters: Double?
  @Attribute(.externalStorage) var avatar: Data?
  @Relationship(deleteRule: .cascade, inverse: \WeightEntry.profile) var weights: [WeightEntry] = []
  @Relationship(deleteRule: .cascade, inverse: \Medication.profile) var medications: [Medication]?

  init(id: UUID = UUID(), displayName: String, birthday: Date? = nil) {
    self.id = id
    self.displayName = displayName
    self.birthday = birthday
  }

  enum BloodGroup: String, Codable, CaseIterable {
    case aPositive = "A+"
    case bPositive = "B+"
    case oNegative = "O-"
  }
}

extension HealthProfile {
  var latestWeight: Double? { weights.max { $0.date < $1.date }?.kilograms }

  var bodyMassIndex: Double? {
    guard let latestWeight, let heightInCentimeters, heightInCentimeters > 0 else { return nil }
    return latestWeight / pow(heightInCentimeters / 100, 2)
  }
}
