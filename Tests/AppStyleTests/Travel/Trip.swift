import Foundation
import Quire

@Model class Trip {
  #Unique<Trip>([\.name, \.startDate])

  @Attribute(.preserveValueOnDeletion)
  var name: String
  var destination: String

  @Attribute(.preserveValueOnDeletion)
  var startDate: Date

  @Attribute(.preserveValueOnDeletion)
  var endDate: Date

  @Relationship(deleteRule: .cascade, inverse: \TripStop.trip)
  var stops: [TripStop] = [TripStop]()

  @Relationship(deleteRule: .cascade, inverse: \Stay.trip)
  var stay: Stay?

  init(name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture) {
    self.name = name
    self.destination = destination
    self.startDate = startDate
    self.endDate = endDate
  }
}
