import Foundation
import Quire

@Model
final class WeightEntry: Comparable {
  var date: Date = Date.now
  var kilograms: Double = 0.0
  var source: Source = Source.manual
  var profile: HealthProfile?

  init(date: Date = .now, kilograms: Double, source: Source = .manual) {
    self.date = date
    self.kilograms = kilograms
    self.source = source
  }

  static func < (lhs: WeightEntry, rhs: WeightEntry) -> Bool { lhs.date < rhs.date }

  enum Source: Int, Codable { case manual, scale, imported }
}
