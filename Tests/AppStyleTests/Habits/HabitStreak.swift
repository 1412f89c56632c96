import Foundation
import Quire

extension Habit {
  @Transient var isArchived: Bool {
    get { archivedAt != nil }
    set { archivedAt = newValue ? .now : nil }
  }

  func check(on day: Date = .now) {
    guard !checks.contains(where: { Calendar.current.isDate($0.day, inSameDayAs: day) }) else { return }
    checks.append(HabitCheck(day: day))
  }

  func streak(endingAt end: Date = .now, calendar: Calendar = .current) -> Int {
    var day = calendar.startOfDay(for: end)
    var length = 0
    let days = Set(checks.map { calendar.startOfDay(for: $0.day) })
    while days.contains(day) {
      length += 1
      day = calendar.date(byAdding: .day, value: -1, to: day) ?? .distantPast
    }
    return length
  }
}
