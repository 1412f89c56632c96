import Foundation
import Quire
import TestSupport
import Testing

@Model private final class Event {
  struct Span: Codable, Equatable {
    var start: Date
    var end: Date
  }
  @Attribute(.unique, .preserveValueOnDeletion) var at: Date
  var span: Span
  var name = ""
  init(_ at: Date) {
    self.at = at
    span = Span(start: at, end: at + 1)
  }
}

@Projection(of: Event.self) private struct EventLine {
  var at: Date
}

/// A date comes back as it was, wherever it has been.
@Suite(.fewAtOnce) struct DateTests {
  private let store: ModelContainer

  init() throws {
    store = try ModelContainer(
      for: Event.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true, changeLog: .on()))
  }

  private func dates(_ seed: UInt64) -> [Date] {
    var random = Random(seed: seed)
    let now = Date.now.timeIntervalSinceReferenceDate
    let times: [Double] = (0..<200).map { number in
      switch number % 4 {
      case 0, 1: now + Double(random.below(1 << 40)) * 0.000_000_7
      case 2: Double(random.below(1 << 50)) / 0x1p19 - 1e9
      default: (Double(random.below(1 << 50)) / 0x1p50 - 0.5) * 120e9
      }
    }
    return Set(times).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  @Test func `a date that no column can hold comes before or after all that one can`() throws {
    let context = ModelContext(store)
    let dates = [Date.distantPast, Date(timeIntervalSince1970: 0), Date.distantFuture]
    for date in dates { context.insert(Event(date)) }
    try context.save()
    for isSaved in [true, false] {
      if !isSaved { context.insert(Event(Date(timeIntervalSince1970: 1))) }
      let all = isSaved ? 3 : 4
      let (start, eon) = (Date(timeIntervalSince1970: 0), 1e12)
      let (early, late) = (start - eon, Date(timeIntervalSinceReferenceDate: .infinity))
      func count(_ predicate: Predicate<Event>) throws -> Int {
        try context.fetchCount(FetchDescriptor(predicate: predicate))
      }
      #expect(try count(#Predicate { $0.at < start + eon }) == all)
      #expect(try count(#Predicate { $0.at > start + eon }) == 0)
      #expect(try count(#Predicate { $0.at >= early && $0.at != early && $0.at != late }) == all)
      #expect(try count(#Predicate { $0.at <= early || $0.at == late || $0.at > late }) == 0)
      #expect(try count(#Predicate { (early...late).contains($0.at) }) == all)
      #expect(try count(#Predicate { (start...late).contains($0.at) }) == all - 1)
      #expect(try count(#Predicate { [start, late].contains($0.at) }) == 1)
    }
    let late = Date.distantFuture + 1e12
    let live = try context.live(Event.self, where: #Predicate { $0.at < late })
    #expect(live.count == 3)
    context.insert(Event(late))
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect("\(error as Any)".contains("\(late.timeIntervalSince1970) s since 1970 cannot be stored"))
  }

  @Test(arguments: [1, 2, extraSeed]) func `saved dates are equal in another context, in every form`(seed: UInt64)
    throws
  {
    let dates = dates(seed)
    let context = ModelContext(store)
    for date in dates { context.insert(Event(date)) }
    try context.save()
    let fresh = ModelContext(store)
    let events = try fresh.fetch(FetchDescriptor<Event>(sortBy: [SortDescriptor(\.at)]))
    #expect(events.map(\.at) == dates.sorted())
    #expect(events.allSatisfy { $0.span == Event.Span(start: $0.at, end: $0.at + 1) })
    #expect(
      try fresh.fetch(EventLine.self, sortBy: [SortDescriptor(\Event.at, order: .reverse)]).map(\.at)
        == dates.sorted(by: >))
    #expect(try fresh.fetch(Date.self, sql: "SELECT at FROM event ORDER BY at") == dates.sorted())
    for date in dates.prefix(20) {
      #expect(try fresh.fetchCount(FetchDescriptor<Event>(predicate: #Predicate { $0.at == date })) == 1)
      let later = try fresh.fetchCount(FetchDescriptor<Event>(predicate: #Predicate { $0.at > date }))
      #expect(later == dates.count { $0 > date })
      #expect(try store.query("SELECT 1 FROM event WHERE at = \(date)").count == 1)
    }
    for event in try context.all(Event.self) { context.delete(event) }
    try context.save()
    let left = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
      .compactMap { change in
        if case .delete(let delete as DefaultHistoryDelete<Event>) = change {
          delete.tombstone[\.at] as? Date
        } else {
          nil
        }
      }
    #expect(left.sorted() == dates.sorted())
  }

  @Test func `a date of a file with six decimals is written back as it stood there`() throws {
    let text = "2026-11-20 10:15:30.123456"
    try store.execute(
      "INSERT INTO event (at, span, name) VALUES (\(text), '{\"end\":1,\"start\":0}', ''), ('1999-01-01 00:00:00.100000', '{\"end\":1,\"start\":0}', '')"
    )
    let context = ModelContext(store)
    let events = try context.fetch(FetchDescriptor<Event>(sortBy: [SortDescriptor(\.at)]))
    let (old, event) = (events[0].at, events[1])
    let at = event.at
    #expect(try context.fetchCount(FetchDescriptor<Event>(predicate: #Predicate { $0.at == at })) == 1)
    event.at = old - 1
    try context.save()
    event.at = at
    try context.save()
    #expect(
      try store.query("SELECT at FROM event ORDER BY at").map(\.values) == [
        ["1999-01-01 00:00:00.100000"], [.text(text)],
      ])
    context.insert(Event(at))
    #expect(throws: ModelError.self) { try context.save() }
  }
}
