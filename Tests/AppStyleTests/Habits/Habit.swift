import Foundation
import Quire

@Model
final class Habit: Identifiable {
  @Attribute(.unique) var id: String
  var name: String
  var frequency: Frequency
  var reminders: [Reminder] = []
  var weekdays: Set<Int> = []
  var archivedAt: Date?
  @Relationship(deleteRule: .cascade, inverse: \HabitCheck.habit) var checks: [HabitCheck] = []

  init(id: String = UUID().uuidString, name: String, frequency: Frequency = .daily) {
    self.id = id
    self.name = name
    self.frequency = frequency
  }

  enum Frequency: Codable, Hashable {
    case daily
    case weekly(times: Int)
    case every(days: Int)
  }

  struct Reminder: Codable, Hashable {
    var hour: Int
    var minute: Int
    var message: String?
  }
}
