import Foundation
import Quire

@Model
final class HabitCheck {
  var day: Date
  var count: Int = 1
  var mood: Mood?
  var habit: Habit?

  init(day: Date, habit: Habit? = nil) {
    self.day = day
    self.habit = habit
  }
}

enum Mood: Int, Codable, CaseIterable, Comparable {
  case bad = 0
  case fine, great

  static func < (lhs: Mood, rhs: Mood) -> Bool { lhs.rawValue < rhs.rawValue }
}
