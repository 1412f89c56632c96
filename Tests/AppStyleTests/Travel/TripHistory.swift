import Foundation
import Quire

enum TripSorting: String, CaseIterable, Identifiable {
  case name, start
  var id: String { rawValue }
  var sortDescriptor: SortDescriptor<Trip> {
    switch self {
    case .name: SortDescriptor(\Trip.name)
    case .start: SortDescriptor(\Trip.startDate, order: .reverse)
    }
  }
}

extension Trip {
  static func upcoming(after date: Date = .now) -> FetchDescriptor<Trip> {
    FetchDescriptor<Trip>(
      predicate: #Predicate<Trip> { $0.startDate > date || ($0.stay?.isConfirmed ?? false) },
      sortBy: [TripSorting.start.sortDescriptor, TripSorting.name.sortDescriptor])
  }

  static func containing(stop name: String) -> Predicate<Trip> {
    #Predicate { trip in trip.stops.contains { $0.name == name } }
  }
}
