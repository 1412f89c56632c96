import Foundation
import Quire

@Model
final class Workout {
  var id = UUID()
  var name = "Workout"
  var startedAt = Date.now
  var finishedAt: Date?
  var activity = Activity.strength
  @Relationship(deleteRule: .cascade, inverse: \ExerciseSet.workout) var sets = [ExerciseSet]()

  init() {}

  init(name: String, activity: Activity) {
    self.name = name
    self.activity = activity
  }

  var volume: Double { sets.reduce(0) { $0 + $1.weight * Double($1.repetitions) } }

  enum Activity: String, Codable, CaseIterable { case strength, running, cycling }
}
