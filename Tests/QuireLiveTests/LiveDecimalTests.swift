import Foundation
import Quire
import TestSupport
import Testing

@Model private final class Purse {
  var owner: String
  var limit: Decimal?
  @Relationship(deleteRule: .cascade, inverse: \Outlay.purse) var outlays: [Outlay] = []
  init(_ owner: String, limit: Decimal?) {
    self.owner = owner
    self.limit = limit
  }
}

@Model private final class Outlay {
  var amount: Decimal
  /// Of few digits, so that Foundation's sums of them are exact.
  var share: Decimal
  var purse: Purse?
  var limit: Decimal? { purse?.limit }
  init(_ amount: Decimal, _ purse: Purse?) {
    self.amount = amount
    share = amount.magnitude < 10_000 ? amount : 1
    self.purse = purse
  }
}

@Projection(of: Purse.self) private struct PurseExtremes {
  var owner: String
  var limit: Decimal?
  @Min(\Purse.outlays, \Outlay.amount) var least: Decimal?
  @Max(\Purse.outlays, \Outlay.amount, where: { $0.amount < 50 }) var mostBelow50: Decimal?
  @Sum(\Purse.outlays, \Outlay.share) var shares: Decimal
  @Average(\Purse.outlays, \Outlay.share) var meanShare: Double?
}

/// Decimals are text in the file: compared, sorted and followed by what they are as numbers.
@MainActor @Suite(.fewOnMainActor) struct LiveDecimalTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Purse.self, Outlay.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store, isolation: nil)
  }

  nonisolated private static let amounts = [
    "0", "9", "10", "100", "-1", "-9", "-10", "9.5", "9.25", "0.5", "0.05", "-0.5", "49.99", "50", "50.01",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "0.0000000000000000000001",
  ]

  private func amount(_ random: inout Random) throws -> Decimal {
    if random.chance(3) { return Decimal(random.below(2_000) - 1_000) / 8 }
    return try #require(Decimal(string: random.pick(Self.amounts)))
  }

  private func write(_ random: inout Random, in context: ModelContext) throws {
    let purses = try context.fetch(FetchDescriptor<Purse>())
    let outlays = try context.fetch(FetchDescriptor<Outlay>())
    for _ in 0..<1 + random.below(4) {
      let outlay = outlays.isEmpty ? nil : random.pick(outlays)
      if outlay?.isDeleted == true { continue }
      switch random.below(8) {
      case 0...2: context.insert(Outlay(try amount(&random), purses.isEmpty ? nil : random.pick(purses)))
      case 3: outlay?.amount = try amount(&random)
      case 4: outlay?.share = Decimal(random.below(100_000) - 50_000) / 100
      case 5: outlay?.purse = purses.isEmpty || random.chance(4) ? nil : random.pick(purses)
      case 6: if let outlay, outlays.count > 12 { context.delete(outlay) }
      default:
        if purses.count < 4 {
          context.insert(Purse("\(random.below(100))", limit: try amount(&random)))
        } else {
          random.pick(purses).limit = random.chance(3) ? nil : try amount(&random)
        }
      }
    }
    try context.save()
  }

  @Test(arguments: Array(1...8 as ClosedRange<UInt64>) + [extraSeed])
  func `live results are what Swift makes of all objects`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let other = ModelContext(store, isolation: nil)
    let low = try amount(&random)
    let high = try amount(&random)
    for _ in 0..<5 { try write(&random, in: context) }
    let ascending = try context.live(Outlay.self, sortBy: [SortDescriptor(\.amount)])
    let page = try context.live(
      Outlay.self, where: #Predicate { $0.amount > low }, sortBy: [SortDescriptor(\.amount, order: .reverse)], limit: 4,
      offset: 1)
    let between = try context.live(
      Outlay.self, where: #Predicate { $0.amount >= low && $0.amount < high || ($0.purse?.limit ?? 0) <= low })
    let byLimit = try context.live(
      Outlay.self, sortBy: [SortDescriptor(\.purse?.limit, order: .reverse), SortDescriptor(\.amount)])
    let spenders = try context.live(Purse.self, where: #Predicate { $0.outlays.contains { $0.amount > low } })
    let (least, greatest) = (try context.liveMin(\Outlay.amount), try context.liveMax(\Purse.limit))
    let (sum, average) = (try context.liveSum(\Outlay.share), try context.liveAverage(\Outlay.share))
    let groups = try context.liveGroups(
      Outlay.self, by: \.purse?.owner, .min(\.amount), .max(\.amount), .sum(\.share))
    let byAmount = try context.liveGroups(Outlay.self, by: \.amount, .count)
    let amountSections = try context.live(
      Outlay.self, sectionBy: \.amount, sortBy: [SortDescriptor(\.persistentModelID)])
    let rows = try context.live(PurseExtremes.self, sortBy: [SortDescriptor(\PurseExtremes.limit)])
    let byLeast = try context.live(PurseExtremes.self, sortBy: [SortDescriptor(\PurseExtremes.least, order: .reverse)])
    for step in 0..<40 {
      if random.chance(3) {
        try write(&random, in: other)
        try context.refresh()
      } else {
        try write(&random, in: context)
      }
      let place: Comment = "seed \(seed), step \(step)"
      let fresh = ModelContext(store, isolation: nil)
      let outlays = try fresh.fetch(FetchDescriptor<Outlay>(sortBy: [SortDescriptor(\.persistentModelID)]))
      let purses = try fresh.fetch(FetchDescriptor<Purse>(sortBy: [SortDescriptor(\.persistentModelID)]))
      func keys(_ objects: some Sequence<Outlay>) -> [PersistentIdentifier] { objects.map(\.persistentModelID) }
      let sorted = outlays.sorted { ($0.amount, $0.persistentModelID) < ($1.amount, $1.persistentModelID) }
      #expect(keys(ascending) == keys(sorted), place)
      let above: [Outlay] = sorted.reversed().filter { $0.amount > low }
      #expect(keys(page) == keys(above.dropFirst().prefix(4)), place)
      let within = outlays.filter { outlay in
        let isBetween = outlay.amount >= low && outlay.amount < high
        return isBetween || outlay.limit ?? 0 <= low
      }
      #expect(Set(keys(between)) == Set(keys(within)), place)
      let limits: [Decimal] = sorted.map { $0.limit ?? -.greatestFiniteMagnitude }
      let limited = sorted.indices.sorted { limits[$0] == limits[$1] ? $0 < $1 : limits[$0] > limits[$1] }
      #expect(keys(byLimit) == keys(limited.map { sorted[$0] }), place)
      let spending = purses.filter { $0.outlays.contains { $0.amount > low } }
      #expect(Set(spenders.map(\.persistentModelID)) == Set(spending.map(\.persistentModelID)), place)
      let (lowest, highest) = (outlays.map(\.amount).min(), purses.compactMap(\.limit).max())
      #expect(least.value == lowest && greatest.value == highest, place)
      let total = outlays.reduce(0) { $0 + $1.share }
      #expect(sum.value == total, place)
      let (freshSum, freshAverage) = (try fresh.fetchSum(\Outlay.share), try fresh.fetchAverage(\Outlay.share))
      #expect(freshSum == total && freshAverage == average.value, place)
      let different = Set(outlays.map(\.amount)).sorted()
      #expect(byAmount.map(\.key) == different && amountSections.map(\.key) == different, place)
      #expect(amountSections.flatMap(keys) == keys(sorted), place)
      #expect(try fresh.fetchDistinct(\Outlay.amount) == different, place)
      let byOwner = Dictionary(grouping: outlays) { $0.purse?.owner }
      #expect(groups.count == byOwner.count, place)
      for group in groups {
        let own = try #require(byOwner[group.key])
        let amounts = own.map(\.amount)
        let shares = own.reduce(0) { $0 + $1.share }
        #expect(group.values == (amounts.min(), amounts.max(), shares), place)
      }
      let expected = purses.map { purse in
        let amounts = purse.outlays.map(\.amount)
        let shares = purse.outlays.reduce(0) { $0 + $1.share }
        return words(amounts.min(), amounts.filter { $0 < 50 }.max(), shares)
      }
      let shown = rows.map { words($0.least, $0.mostBelow50, $0.shares) }
      #expect(shown.sorted() == expected.sorted(), place)
      let spent = purses.filter { !$0.outlays.isEmpty }
      #expect(rows.compactMap(\.meanShare).count == spent.count, place)
      let shownLimits: [Decimal] = rows.map { $0.limit ?? -.greatestFiniteMagnitude }
      #expect(shownLimits == shownLimits.sorted(), place)
      let leasts: [Decimal] = byLeast.map { $0.least ?? -.greatestFiniteMagnitude }
      #expect(leasts == leasts.sorted(by: >), place)
    }
  }

  private func words(_ least: Decimal?, _ most: Decimal?, _ shares: Decimal) -> String {
    [least, most, shares].map { $0?.description ?? "none" }.joined(separator: " ")
  }

  @Test func `fetches take unsaved amounts, ranges and pages in their order`() throws {
    for text in Self.amounts { context.insert(Outlay(try #require(Decimal(string: text)), nil)) }
    try context.save()
    let outlays = try context.fetch(FetchDescriptor<Outlay>())
    outlays[0].amount = 77
    context.insert(Outlay(9.75, nil))
    var descriptor = FetchDescriptor<Outlay>(sortBy: [SortDescriptor(\.amount, order: .reverse)])
    let all = try context.fetch(descriptor)
    let found = all.map(\.amount)
    #expect(found == found.sorted(by: >) && found.count == Self.amounts.count + 1)
    (descriptor.fetchOffset, descriptor.fetchLimit) = (3, 5)
    #expect(try context.fetch(descriptor) == Array(all[3..<8]))
    #expect(try context.fetchDistinct(\Outlay.amount, order: .reverse, limit: 5) == Array(found.prefix(5)))
    let pairs = try context.fetchDistinct(\Outlay.purse?.limit, \.amount)
    #expect(pairs.map(\.1) == found.reversed())
    #expect(try context.fetchGroups(Outlay.self, by: \.amount, .count).map(\.key) == found.reversed())
    let range = Decimal(9)...Decimal(50)
    let inRange = try context.fetch(FetchDescriptor<Outlay>(predicate: #Predicate { range.contains($0.amount) }))
    #expect(Set(inRange) == Set(all.filter { range.contains($0.amount) }) && inRange.count == 7)
    #expect(try context.fetchMin(\Outlay.amount) == all.last?.amount)
    #expect(try context.fetchMax(\Outlay.amount, where: #Predicate { $0.amount < 80 }) == 77)
    #expect(try context.fetchMax(\Purse.limit) == nil)
    try context.save()
    try context.delete(model: Outlay.self, where: #Predicate { $0.amount < 0 })
    #expect(try context.fetchMin(\Outlay.amount) == Decimal(string: "0.0000000000000000000001"))
  }

  @Test func `sections by a decimal are in the order of the numbers, nil first`() throws {
    let (rich, poor) = (Purse("rich", limit: 100), Purse("poor", limit: 9.5))
    for purse in [rich, poor, nil] { context.insert(Outlay(1, purse)) }
    try context.save()
    let sections = try context.live(Outlay.self, sectionBy: \.purse?.limit)
    let descending = try context.live(Outlay.self, sectionBy: \.purse?.limit, order: .reverse)
    #expect(sections.map(\.key) == [nil, 9.5, 100] && descending.map(\.key) == [100, 9.5, nil])
    try store.execute("UPDATE purse SET \"limit\" = '9.50' WHERE owner = 'rich'")  // the same number
    try context.refresh()
    #expect(sections.map(\.key) == [nil, 9.5] && sections.map(\.count) == [1, 2])
    poor.limit = -20
    try context.save()
    #expect(sections.map(\.key) == [nil, -20, 9.5] && descending.map(\.key) == [9.5, -20, nil])
  }
}
