import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Random writes by every way: after every commit each live aggregate equals what the rows give afresh.
@MainActor @Suite(.fewOnMainActor) struct AggregateDifferentialTests {
  nonisolated static let corpus: [UInt64] = []

  @Test(arguments: corpus + Array(1...6 as ClosedRange<UInt64>))
  func `sums, averages and extremes equal the same afresh`(seed: UInt64) async throws {
    let graph = try RandomGraph(seed: seed)
    var watched = try AggregateRun(graph, seed: seed)
    for step in 0..<30 {
      await Task.yield()  // others wait for the main actor
      try graph.step()
      if let problem = try watched.problem() {
        Issue.record("seed \(seed), step \(step): \(problem)\n\(graph.done)")
        return
      }
    }
    #expect(watched.errors > 0 || watched.values > 20, "seed \(seed) proves little")
  }
}

/// Live aggregates of one graph, and the checks.
@MainActor struct AggregateRun {
  private let graph: RandomGraph
  private var checks: [() throws -> String?] = []
  /// Aggregates that are not there yet because they overflowed when they were made.
  private var due: [() throws -> (() throws -> String?)] = []
  private(set) var errors = 0
  private(set) var values = 0

  init(_ graph: RandomGraph, seed: UInt64) throws {
    self.graph = graph
    // Every seed watches some, all seeds together all.
    let count = RandomRun.predicates.count
    for place in [Int(seed) * 2 % count, (Int(seed) * 2 + 1) % count] {
      let predicate = RandomRun.predicates[place]
      add(\.year, predicate)
      add(\.price, predicate)
      addExtremes(\.year, predicate)
      addExtremes(\.price, predicate)
      addExtremes(\.title, predicate)
      addExtremes(\.note, predicate)
    }
    add(\.author?.rank, RandomRun.predicates[1])
    add(\.author?.rank, RandomRun.predicates[Int(seed) % 2 == 0 ? 2 : 7])
    add(\.price, RandomRun.predicates[2])
    addExtremes(\.author?.name, RandomRun.predicates[0])
  }

  mutating func problem() throws -> String? {
    var later: [() throws -> (() throws -> String?)] = []
    for make in due {
      do { checks.append(try make()) } catch is AggregateError { later.append(make) }
    }
    errors += later.count
    due = later
    for check in checks {
      values += 1
      if let problem = try check() { return problem }
    }
    return nil
  }

  private func fresh() -> ModelContext { ModelContext(graph.store, isolation: nil) }

  private mutating func add<Value: Summable>(
    _ property: KeyPath<Book, Value>, _ predicate: (String, Predicate<Book>?)
  ) {
    let graph = graph
    due.append {
      let sum = try graph.context.liveSum(property, where: predicate.1)
      return {
        try Self.compare("sum of \(property) where \(predicate.0)", sum, graph.context) {
          try ModelContext(graph.store, isolation: nil).fetchSum(property, where: predicate.1)
        } rows: {
          var state = AggregateState(Aggregate(.sum, of: "x"))
          let context = ModelContext(graph.store, isolation: nil)
          for book in try context.fetch(FetchDescriptor(predicate: predicate.1)) {
            state.add(try QuireRow.Value(storing: book[keyPath: property]))
          }
          return try Value._total(state)
        }
      }
    }
    due.append {
      let average = try graph.context.liveAverage(property, where: predicate.1)
      return {
        try Self.compare("average of \(property) where \(predicate.0)", average, graph.context) {
          try ModelContext(graph.store, isolation: nil).fetchAverage(property, where: predicate.1)
        }
      }
    }
  }

  private mutating func addExtremes<Value: StoredValue & Comparable>(
    _ property: KeyPath<Book, Value>, _ predicate: (String, Predicate<Book>?)
  ) {
    let graph = graph
    due.append {
      let least = try graph.context.liveMin(property, where: predicate.1)
      let greatest = try graph.context.liveMax(property, where: predicate.1)
      return {
        let context = ModelContext(graph.store, isolation: nil)
        let books = try context.fetch(FetchDescriptor(predicate: predicate.1))
        let values = try books.map { try QuireRow.Value(storing: $0[keyPath: property]) }
        return try Self.compareExtremes(
          "\(property) where \(predicate.0)", least, greatest, values, graph.context,
          (try context.fetchMin(property, where: predicate.1), try context.fetchMax(property, where: predicate.1)))
      }
    }
  }

  private mutating func addExtremes<Value: StoredValue & Comparable>(
    _ property: KeyPath<Book, Value?>, _ predicate: (String, Predicate<Book>?)
  ) {
    let graph = graph
    due.append {
      let least = try graph.context.liveMin(property, where: predicate.1)
      let greatest = try graph.context.liveMax(property, where: predicate.1)
      return {
        let context = ModelContext(graph.store, isolation: nil)
        let books = try context.fetch(FetchDescriptor(predicate: predicate.1))
        let values = try books.map { try QuireRow.Value(storing: $0[keyPath: property]) }
        return try Self.compareExtremes(
          "\(property) where \(predicate.0)", least, greatest, values, graph.context,
          (try context.fetchMin(property, where: predicate.1), try context.fetchMax(property, where: predicate.1)))
      }
    }
  }

  private static func compareExtremes<Value: StoredValue & Comparable>(
    _ name: String, _ least: LiveValue<Value?>, _ greatest: LiveValue<Value?>, _ values: [QuireRow.Value],
    _ context: ModelContext, _ fetched: (Value?, Value?)
  ) throws -> String? {
    let sorted = values.filter { $0 != .null }.sorted { $0.precedes($1) }
    func differs(_ live: Value?, _ row: QuireRow.Value?) throws -> Bool {
      try QuireRow.Value(storing: live).compare(to: row ?? .null) != 0
    }
    if try differs(least.value, sorted.first) || differs(fetched.0, sorted.first) {
      return "least \(name): \(String(describing: least.value)), \(String(describing: sorted.first))"
    }
    if try differs(greatest.value, sorted.last) || differs(fetched.1, sorted.last) {
      return "greatest \(name): \(String(describing: greatest.value)), \(String(describing: sorted.last))"
    }
    return least.commitNumber == context.commitNumber && least.error == nil ? nil : "\(name) stands elsewhere"
  }

  private static func compare<Value: Equatable>(
    _ name: String, _ live: LiveValue<Value>, _ context: ModelContext, _ fetched: () throws -> Value,
    rows: (() throws -> Value)? = nil
  ) throws -> String? {
    let expected: Value
    do {
      expected = try fetched()
    } catch let error as AggregateError {
      return live.error as? AggregateError == error ? nil : "\(name) has no error where \(error)"
    }
    func same(_ a: Value, _ b: Value) -> Bool { a == b || "\(a)" == "\(b)" }  // NaN
    if live.error != nil || live.commitNumber != context.commitNumber {
      return "\(name): \(String(describing: live.error))"
    }
    if let rows, !same(try rows(), expected) { return "\(name): fetched \(expected), of the rows \(try rows())" }
    return same(live.value, expected) ? nil : "\(name): live \(live.value), afresh \(expected)"
  }
}
