import Quire

/// `live-aggregate`: an object's property set and saved, until a live count and a live average have the new values.
@MainActor final class QuireAggregate: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let count: LiveValue<Int>
  private let average: LiveValue<Double?>
  private var plan: AggregatePlan

  init(_ stage: Stage) throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    count = try context.liveCount(Book.self, where: #Predicate { $0.isAvailable })
    average = try context.liveAverage(\Book.rating, where: #Predicate { $0.isAvailable })
    plan = AggregatePlan(rows: stage.rows)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for _ in 0..<IdealAggregate.count {
      let (id, write) = plan.next(movesGroups: false)
      guard let book = context.model(Book.self, key: id) else { continue }
      let (count, average) = try meter.sample {
        try book.perform(write, in: context)
        return (self.count.value, self.average.value)
      }
      checksum.add(aggregate: 0, count, average ?? 0)
    }
    checksum.add(aggregate: 0, count.value, average.value ?? 0)
    return checksum
  }

  func close() throws { try container.close() }
}

/// `live-group`: the same, until the observer of all years' counts and averages has been told what changed, by index.
@MainActor final class QuireGroup: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let years: LiveGroups<Int, (Int, Double?)>
  private let observer = Observer()
  private var plan: AggregatePlan

  private final class Observer {
    var changes: [Difference<GroupRow<Int, (Int, Double?)>>.Change] = []
    var token: DifferenceToken?
  }

  init(_ stage: Stage) throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    years = try context.liveGroups(Book.self, by: \.year, .count, .average(\.rating))
    plan = AggregatePlan(rows: stage.rows)
    observer.token = years.onDifference { [observer] in observer.changes += $0.changes }
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for _ in 0..<IdealAggregate.count {
      let (id, write) = plan.next(movesGroups: true)
      guard let book = context.model(Book.self, key: id) else { continue }
      observer.changes.removeAll(keepingCapacity: true)
      try meter.sample { try book.perform(write, in: context) }
    }
    for year in years { checksum.add(aggregate: year.key, year.values.0, year.values.1 ?? 0) }
    return checksum
  }

  func close() throws {
    observer.token = nil
    try container.close()
  }
}

extension Book {
  fileprivate func perform(_ write: AggregatePlan.Write, in context: ModelContext) throws {
    switch write {
    case .rating(let rating): self.rating = rating
    case .isAvailable: isAvailable.toggle()
    case .year(let year): self.year = year
    }
    try context.save()
  }
}
