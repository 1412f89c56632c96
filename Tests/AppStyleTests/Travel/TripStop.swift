import Foundation
import Quire

struct Coordinate: Codable, Hashable {
  let latitude: Double
  let longitude: Double
}

@Model class TripStop {
  var name: String
  var order: Int
  var coordinate: Coordinate
  var notes: String?
  var photos: [Data] = []
  var trip: Trip?

  init(name: String, order: Int, coordinate: Coordinate) {
    self.name = name
    self.order = order
    self.coordinate = coordinate
  }
}

@Model class Stay {
  var address: String
  var checkIn: Date?
  var isConfirmed: Bool
  var trip: Trip?

  init(address: String, isConfirmed: Bool = false) {
    self.address = address
    self.isConfirmed = isConfirmed
  }
}
