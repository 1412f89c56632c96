import Quire

/// `live-aggregate`: an object's property set and saved, until a live count and a live average have the new values.
@MainActor final class QuireAggregate: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let count: LiveValue<Int>
  private let average: LiveValue<Double?>
  private let elsewhere: Elsewhere?
  private var plan: AggregatePlan

  init(_ stage: Stage, hops: Bool = false) async throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    (count, average) = try Self.values(in: context)
    plan = AggregatePlan(rows: stage.rows)
    elsewhere =
      hops
      ? try await Elsewhere(container) { context in
        let (count, average) = try Self.values(in: context)
        return [count, average]
      } : nil
  }

  private nonisolated static func values(in context: ModelContext) throws -> (LiveValue<Int>, LiveValue<Double?>) {
    (
      try context.liveCount(Book.self, where: #Predicate { $0.isAvailable }),
      try context.liveAverage(\Book.rating, where: #Predicate { $0.isAvailable })
    )
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    var checksum = Checksum()
    var known = (count: count.value, average: average.value)
    for _ in 0..<IdealAggregate.count {
      let (id, write) = plan.next(movesGroups: false)
      guard let book = context.model(Book.self, key: id) else { continue }
      let before = known
      try await meter.sample(context, and: elsewhere) {
        try book.perform(write, in: context)
        known = (count.value, average.value)
      }
      meter.wake(before == known ? 0 : 1)
      checksum.add(aggregate: 0, known.count, known.average ?? 0)
    }
    checksum.add(aggregate: 0, count.value, average.value ?? 0)
    return checksum
  }

  func close() async throws {
    await elsewhere?.stop()
    try container.close()
  }
}

/// `live-group`: the same, until the observer of all years' counts and averages has been told what changed, by index.
@MainActor final class QuireGroup: Variant {
  typealias Years = LiveGroups<Int, (Int, Double?)>
  private let container: ModelContainer
  private let context: ModelContext
  private let years: Years
  private let listener: Listener<GroupRow<Int, (Int, Double?)>>
  private let elsewhere: Elsewhere?
  private var plan: AggregatePlan

  init(_ stage: Stage, hops: Bool = false) async throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    years = try Self.years(in: context)
    listener = Listener(years.onDifference)
    plan = AggregatePlan(rows: stage.rows)
    elsewhere =
      hops
      ? try await Elsewhere(container) { context in
        let years = try Self.years(in: context)
        return [years, Listener(years.onDifference)]
      } : nil
  }

  private nonisolated static func years(in context: ModelContext) throws -> Years {
    try context.liveGroups(Book.self, by: \.year, .count, .average(\.rating))
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    var checksum = Checksum()
    for _ in 0..<IdealAggregate.count {
      let (id, write) = plan.next(movesGroups: true)
      guard let book = context.model(Book.self, key: id) else { continue }
      listener.forget()
      try await meter.sample(context, and: elsewhere) { try book.perform(write, in: context) }
      meter.wake(listener.calls)
    }
    for year in years { checksum.add(aggregate: year.key, year.values.0, year.values.1 ?? 0) }
    return checksum
  }

  func close() async throws {
    listener.stop()
    await elsewhere?.stop()
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
