import Foundation
import Quire
import Testing

@testable import QuireLive

/// A row as the file has it.
typealias Row = [String: Value]

/// One live query under test: what it shows, and what its differences made of what it showed before.
@MainActor final class Watched<Model: PersistentModel> {
  let name: String
  let live: LiveQuery<Model>
  private let table: String
  private var token: ChangeToken?
  private(set) var keys: [Int64]
  private var told: [Difference<ModelRow<Model>>] = []
  var differences = 0

  init(_ name: String, _ table: String, _ descriptor: FetchDescriptor<Model>, in context: ModelContext, listens: Bool)
    throws
  {
    self.name = name
    self.table = table
    live = try context.live(descriptor)
    keys = live.list.keys
    if listens { token = live.onDifference { [unowned self] in told.append($0) } }
  }

  /// The same query, asked of a context that has never seen anything.
  func fresh(in store: ModelContainer) throws -> [Int64] {
    try ModelContext(store, isolation: nil).fetchIdentifiers(live.descriptor).map(\.key)
  }

  /// Nil where nothing has moved or been told, as while it is paused; else what has.
  func checkStanding(at commit: Int64) -> String? {
    if live.list.keys != keys { return "\(name): shows \(live.list.keys), paused at \(keys)" }
    if live.commitNumber != commit { return "\(name): stands at \(live.commitNumber), paused at \(commit)" }
    return told.isEmpty ? nil : "\(name): told while it was paused"
  }

  /// Nil where all is right; else what is not.
  func check(_ store: ModelContainer, commit: Int64, before: [Int64: Row], after: [Int64: Row]) throws -> String? {
    defer {
      keys = live.list.keys
      told.removeAll()
    }
    let shown = live.list.keys
    let fresh = try fresh(in: store)
    if let error = live.error { return "\(name): \(error)" }
    if shown != fresh { return "\(name): shows \(shown), afresh \(fresh), before \(keys)" }
    if live.commitNumber != commit { return "\(name): stands at \(live.commitNumber), not \(commit)" }
    if token == nil { return nil }
    if told.count > 1 { return "\(name): told \(told.count) times" }
    guard let difference = told.first else {
      if shown != keys { return "\(name): \(keys) → \(shown) untold" }
      if let key = shown.first(where: { before[$0] != after[$0] }) { return "\(name): update of \(key) untold" }
      return nil
    }
    differences += 1
    return problem(difference, shown, commit, before, after)
  }

  private func problem(
    _ difference: Difference<ModelRow<Model>>, _ shown: [Int64], _ commit: Int64, _ before: [Int64: Row],
    _ after: [Int64: Row]
  ) -> String? {
    if difference.commit != commit { return "\(name): told of \(difference.commit)" }
    if difference.changes.isEmpty { return "\(name): told of nothing" }
    var leaving: [(at: Int, key: Int64)] = []
    var coming: [(at: Int, key: Int64)] = []
    var toldKeys: Set<Int64> = []
    func isRight(_ row: ModelRow<Model>, _ rows: [Int64: Row]) -> Bool { row.values == rows[row.id.key] }
    for change in difference {
      switch change {
      case .insert(let at, let new):
        coming.append((at, new.id.key))
        if !isRight(new, after) { return "\(name): \(change), not \(after[new.id.key] ?? [:])" }
      case .delete(let at, let old):
        leaving.append((at, old.id.key))
        if !isRight(old, before) { return "\(name): \(change), not \(before[old.id.key] ?? [:])" }
      case .move(let from, let to, let old, let new):
        leaving.append((from, old.id.key))
        coming.append((to, new.id.key))
        toldKeys.insert(new.id.key)
        if !isRight(old, before) || !isRight(new, after) { return "\(name): \(change)" }
      case .update(let at, let old, let new):
        toldKeys.insert(new.id.key)
        if !isRight(old, before) || !isRight(new, after) || old.values == new.values { return "\(name): \(change)" }
        if !shown.indices.contains(at) || shown[at] != new.id.key { return "\(name): update at \(at)" }
      }
    }
    var result = keys
    for (at, key) in leaving.sorted(by: { $0.at > $1.at }) {
      if !result.indices.contains(at) || result[at] != key { return "\(name): \(key) does not leave \(at)" }
      result.remove(at: at)
    }
    for (at, key) in coming.sorted(by: { $0.at < $1.at }) {
      if at > result.count { return "\(name): \(key) comes to \(at) of \(result.count)" }
      result.insert(key, at: at)
    }
    if result != shown { return "\(name): differences lead from \(keys) to \(result), not \(shown)" }
    let changed = Set(keys).intersection(shown).filter { before[$0] != after[$0] }
    if !changed.isSubset(of: toldKeys) { return "\(name): untold updates \(changed.subtracting(toldKeys))" }
    return nil
  }
}
