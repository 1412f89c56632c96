import Foundation
import Quire
import QuireSQLite

@testable import QuireLive
@testable import QuireModel

/// A case at work: a store with its tables, its questions followed, and its transactions one after the other.
final class CaseRun {
  private let input: RandomCase
  private let store: ModelContainer
  private let context: ModelContext
  private var probes: [any Probe] = []
  /// How many differences were told and how many answers compared: what proves little is no proof.
  private(set) var differences = 0
  private(set) var comparisons = 0

  /// - Throws: where the case makes no sense, as when a question is about a table that is not there.
  init(_ input: RandomCase, fault: RandomCase.Fault? = nil) throws {
    self.input = input
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    let schema = try input.schema()
    try store.writeSQL { transaction in
      for sql in schema { try transaction.connection.execute(sql) }
      for row in input.rows {
        let insert = try row.insert()
        // One that names a row which shrinking has taken away is left out.
        do { try transaction.connection.execute(insert.sql, insert.values) } catch {}
      }
    }
    try context.refresh()
    for question in input.questions { probes.append(try probe(question, fault)) }
  }

  private func probe(_ question: RandomCase.Question, _ fault: RandomCase.Fault?) throws -> any Probe {
    switch question.shape {
    case .list: return try ListProbe(question, input, context, fault)
    case .count: return try CountProbe(question, context)
    default: return try AggregateProbe(question, input, context, fault)
    }
  }

  /// Nil where every answer was right after every transaction; else what was not.
  func firstProblem() throws -> String? {
    for (number, transaction) in input.transactions.enumerated() {
      run(transaction.statements)
      if !transaction.isTold, number < input.transactions.count - 1 { continue }
      try context.refresh()
      let commit = context.commitNumber
      for probe in probes {
        comparisons += 1
        if let problem = try probe.problem(store.store.database, commit) {
          if try isDamaged() { return nil }
          return "transaction \(number), \(probe.name): \(problem)"
        }
      }
    }
    differences = probes.reduce(0) { $0 + $1.differences }
    return nil
  }

  /// Whether an index says another thing than its table, so that no answer is the true one. SQLite itself brings that
  /// about: `UPDATE OR REPLACE` of a row with a foreign key that is set to NULL as the row it names is evicted.
  private func isDamaged() throws -> Bool {
    try store.store.database.read { try $0.query("PRAGMA integrity_check").rows } != [[.text("ok")]]
  }

  private struct Undone: Error {}
  private struct AllUndone: Error {}

  private func run(_ statements: [String]) {
    do {
      try store.writeSQL { transaction in
        var rest = statements[...]
        _ = try run(&rest, transaction)
      }
    } catch {}  // undone, as it says or as SQLite would have it
  }

  /// - Returns: whether it ended by being undone.
  private func run(_ rest: inout ArraySlice<String>, _ transaction: Transaction) throws -> Bool {
    while let sql = rest.popFirst() {
      switch sql {
      case RandomCase.savepoint:
        do {
          try transaction.savepoint { if try run(&rest, transaction) { throw Undone() } }
        } catch is Undone {}
      case RandomCase.release: return false
      case RandomCase.undo: return true
      case RandomCase.undoAll: throw AllUndone()
      default: do { try transaction.connection.execute(sql) } catch {}  // undone, and the transaction goes on
      }
    }
    return false
  }
}

/// A question that is followed, and how its answer is compared.
protocol Probe: AnyObject {
  var name: String { get }
  var differences: Int { get }
  /// Nil where all is right.
  func problem(_ database: Database, _ commit: Int64) throws -> String?
}

final class CountProbe: Probe {
  let name: String
  let differences = 0
  private let live: LiveValue<Int>
  private let select: SelectQuery

  init(_ question: RandomCase.Question, _ context: ModelContext) throws {
    select = question.select
    name = "count of \(question.table)"
    live = try LiveValue(context, select, Aggregate(.count)) { $0.count }
  }

  func problem(_ database: Database, _ commit: Int64) throws -> String? {
    let sql = try select.count()
    let fresh = try database.read { try $0.query(sql.text, sql.bindings).rows }
    if live.error != nil || live.commitNumber != commit { return "stands at \(live.commitNumber), not \(commit)" }
    return fresh == [[.integer(Int64(live.value))]] ? nil : "is \(live.value), afresh \(fresh)"
  }
}

/// Aggregates of a question's rows, followed as values and groups are.
final class AggregateProbe: Probe {
  let name: String
  let differences = 0
  private let input: RandomCase.Question
  private let follower: Follower
  private let empty: AggregateTracker

  /// Not tied to an actor, as no follower is.
  private final class Follower: CommitFollower {
    var tracker: AggregateTracker
    let isDeaf: Bool
    var error: (any Error)?
    private var interests: [CaptureToken] = []

    init(_ tracker: AggregateTracker, _ owner: ContextCore, isDeaf: Bool) throws {
      self.tracker = tracker
      self.isDeaf = isDeaf
      if let database = owner.store?.database { interests = tracker.columns.interests(in: database) }
      try owner.read { try self.tracker.fill(on: $0) }
      owner.following.followers.add(self)
    }

    var tables: [String] {
      tracker.select.tables.union(tracker.columns.reached.compactMap { $0.steps.last?.table }).sorted()
    }

    func compute(_ batch: CommitBatch, on connection: Connection) -> Bool {
      let heard = isDeaf ? batch.tables.map { $0.withoutDeletes } : batch.tables
      let names = heard.map(\.table.name)
      do {
        if batch.rowsUnknown || Set(names).count < names.count {
          tracker = try tracker.loaded(tracker.select, on: connection)
        } else {
          _ = try tracker.step(CommitBatch(number: batch.number, tables: heard), on: connection)
        }
      } catch {
        self.error = error
      }
      return false
    }
    func willChange() {}
    func apply() {}
    func didChange() {}
  }

  init(_ question: RandomCase.Question, _ input: RandomCase, _ context: ModelContext, _ fault: RandomCase.Fault?) throws
  {
    self.input = question
    name = "\(question.shape) of \(question.table)"
    empty = AggregateTracker(
      question.select, question.aggregates ?? [], by: question.group?.columnPath, ofReals: question.group?.type == .real
    )
    follower = try Follower(empty, context.owner, isDeaf: fault == .deletes)
  }

  func problem(_ database: Database, _ commit: Int64) throws -> String? {
    if let error = follower.error { return "\(error)" }
    var fresh = empty
    try database.read { try fresh.fill(on: $0) }
    let (live, now) = (follower.tracker.groups, fresh.groups)
    if Set(live.keys) != Set(now.keys) { return "has groups \(live.keys), afresh \(now.keys)" }
    for (group, state) in now {
      let (a, b) = (describe(live[group]), describe(state))
      if a != b { return "group \(group): \(a), afresh \(b)" }
    }
    return nil
  }

  private func describe(_ group: AggregateTracker.Group?) -> String {
    guard let group else { return "nothing" }
    func text<T>(_ value: () throws -> T) -> String {
      do { return "\(try value())" } catch { return "\(error)" }
    }
    let states = group.states.dropFirst().map { state in
      switch input.shape {
      case .sum where input.column?.type == .integer: text(state.integerSum)
      case .sum: text(state.realSum)
      case .average: text { try state.average().map { $0 == 0 ? 0 : $0 } }
      default: state.extreme.compare(to: .integer(0)) == 0 ? "0" : text { state.extreme.comparable }
      }
    }
    return "\(group.rows) rows, \(states)"
  }
}

extension TableChanges {
  fileprivate var withoutDeletes: TableChanges {
    TableChanges(table: table, rows: rows.filter { $0.kind != .delete })
  }
}

extension Value {
  /// The same for what SQLite takes to be equal: 3 and 3.0.
  fileprivate var comparable: Value {
    if case .real(let number) = self, let whole = Int64(exactly: number) { .integer(whole) } else { self }
  }
}
