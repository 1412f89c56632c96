import Foundation
import Quire

@Model
final class ExerciseSet {
  var exercise: String
  var repetitions: Int
  var weight: Double
  var isWarmup: Bool
  var workout: Workout?

  init(_ exercise: String, repetitions: Int, weight: Double, isWarmup: Bool = false) {
    self.exercise = exercise
    self.repetitions = repetitions
    self.weight = weight
    self.isWarmup = isWarmup
  }
}

extension ExerciseSet {
  static var personalRecords: FetchDescriptor<ExerciseSet> {
    var descriptor = FetchDescriptor<ExerciseSet>(
      predicate: #Predicate { !$0.isWarmup && $0.weight > 0 }, sortBy: [SortDescriptor(\.weight, order: .reverse)])
    descriptor.fetchLimit = 3
    return descriptor
  }
}
