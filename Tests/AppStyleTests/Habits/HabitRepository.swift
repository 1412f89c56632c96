import Foundation
import Quire

protocol HabitRepository {
  func activeHabits() throws -> [Habit]
  func add(_ habit: Habit) throws
  func remove(_ habit: Habit) throws
}

struct LocalHabitRepository: HabitRepository {
  let modelContext: ModelContext

  func activeHabits() throws -> [Habit] {
    let descriptor = FetchDescriptor<Habit>(
      predicate: #Predicate { $0.archivedAt == nil }, sortBy: [SortDescriptor(\.name)])
    return try modelContext.fetch(descriptor)
  }

  func add(_ habit: Habit) throws {
    modelContext.insert(habit)
    try modelContext.save()
  }

  func remove(_ habit: Habit) throws {
    modelContext.delete(habit)
    if modelContext.hasChanges { try modelContext.save() }
  }
}
