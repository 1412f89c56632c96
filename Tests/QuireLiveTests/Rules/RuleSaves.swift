import Foundation
import Quire
import TestSupport

@testable import QuireModel

/// What is committed: saves, deletions by predicate, SQL.
extension RuleRun {
  func save(_ side: RuleSide) throws {
    arrive(side)
    let (state, refusals, others) = file.saving(side.pending)
    say("save, expecting \(refusals.map { "\($0)" })")
    do {
      try side.context.save()
    } catch {
      return try refused(side, error, refusals.union(others))
    }
    if !refusals.isEmpty { throw fail("saved, in spite of \(refusals)") }
    try saved(side, state)
  }

  /// After a conflict was thrown: what is edited here overwrites what others have committed, and goes with their deletions.
  func saveMerging(_ side: RuleSide) throws {
    arrive(side)
    var pending = side.pending
    pending.merge()
    let (state, refusals, others) = file.saving(pending)
    say("; save merging, expecting \(refusals.map { "\($0)" })")
    do {
      try side.context.save(onConflict: .merge)
    } catch {
      if try refusals.union(others).contains(kind(of: error)) { return rollback(side) }
      throw fail("expected \(refusals): \(error)")
    }
    if !refusals.isEmpty { throw fail("saved, in spite of \(refusals)") }
    try saved(side, state)
  }

  /// A new person of a name that another has: the row takes the new values, and what the new one was given.
  func upsert(_ side: RuleSide) throws {
    try refresh(side)
    guard side.pending.isEmpty, let number = any(file.numbers(.person)) else { return }
    let new = RulePerson()
    let fields = RuleSpec.fields[.person]!
    var state = file
    for (place, field) in fields.enumerated() {
      let cell = field.name == "name" ? file[number, "name"] : any(field.values)!
      field.set(new, cell)
      state.rows[number]!.cells[place] = cell
    }
    side.context.insert(new)
    for name in ["owner", "helper", "witness"] where chance(60) {
      guard let job = any(file.numbers(.job)) else { continue }
      let field = RuleSpec.fields[.job]![RuleSpec.place(.job, name)]
      field.setObject(try object(side, job), new)
      state[job, name] = .row(number)
    }
    let held = side.objects[number]
    say("upsert #\(number) = \(state.rows[number]!.cells), \(held == nil ? "not " : "")held")
    try side.context.save(onUniqueConflict: .upsert)
    if let held, !new.isDeleted || held.isDeleted { throw fail("the new object is not deleted") }
    if held == nil, !new.isDeleted { side.objects[number] = new }
    // What comes into a list with an order gets its place there.
    for job in state.numbers(.job) where state[job, "helper"] == .row(number) {
      state[job, "place"] = .value(place(of: try object(side, job)))
    }
    committed(side, state)
  }

  func saveWhenReady(_ side: RuleSide) async throws {
    arrive(side)
    let (state, refusals, others) = file.saving(side.pending)
    say("save when ready, expecting \(refusals.map { "\($0)" })")
    do {
      try await side.context.saveWhenReady()
    } catch {
      return try refused(side, error, refusals.union(others))
    }
    if !refusals.isEmpty { throw fail("saved, in spite of \(refusals)") }
    try saved(side, state)
  }

  /// The end of a turn saves.
  func autosave(_ side: RuleSide) async throws {
    try change(side)
    try refresh(side)  // the turn has an end, whether that has changed anything or not
    guard side.context.hasChanges else { return }
    let (state, refusals, others) = file.saving(side.pending)
    say("; autosave, expecting \(refusals.map { "\($0)" })")
    side.context.autosaveError = nil
    side.context.autosaveEnabled = true
    while side.context.hasChanges, side.context.autosaveError == nil { await Task.yield() }
    side.context.autosaveEnabled = false
    guard let error = side.context.autosaveError else {
      if !refusals.isEmpty { throw fail("saved, in spite of \(refusals)") }
      return try saved(side, state)
    }
    guard case ModelError.ignoredAssignments = error else { return try refused(side, error, refusals.union(others)) }
    if !refusals.union(others).contains(.ignored) { throw fail("expected \(refusals): \(error)") }
    // The rest is saved.
    (side.pending.isIgnored, side.pending.mayBeIgnored) = (false, false)
    let rest = file.saving(side.pending)
    if !rest.refusals.isEmpty { throw fail("saved, in spite of \(rest.refusals)") }
    try saved(side, rest.state)
  }

  func saved(_ side: RuleSide, _ state: RuleState) throws {
    for number in side.pending.inserted.keys where state.rows[number] != nil {
      guard let key = side.objects[number]?.persistentModelID.rowKey else { throw fail("#\(number) has no key") }
      keys[number] = key
    }
    for number in side.pending.inserted.keys where state.rows[number] == nil { side.objects[number] = nil }
    side.pending = RulePending()
    committed(side, state)
  }

  /// A commit of a side's context.
  func committed(_ side: RuleSide, _ state: RuleState) {
    side.cancelable = nil
    if state != file {
      side.undos.append((file, state))
      side.redos.removeAll()
    }
    file = state
    side.base = state
  }

  func kind(of error: any Error) throws -> RuleRefusal {
    say(" ! \(error)")
    refusals += 1
    switch error {
    case ModelError.notUnique: return .notUnique
    case ModelError.relationshipRefused: return .relationship
    case ModelError.relationshipCount: return .count
    case ModelError.ignoredAssignments: return .ignored
    case ModelError.conflict: return .conflict
    default: throw fail("\(error)")
    }
  }

  func refused(_ side: RuleSide, _ error: any Error, _ expected: Set<RuleRefusal>) throws {
    let found = try kind(of: error)
    if !expected.contains(found) { throw fail("expected \(expected): \(error)") }
    if found != .conflict { (side.pending.isIgnored, side.pending.mayBeIgnored) = (false, false) }
    if chance(60) {
      rollback(side)
    } else if found == .conflict {
      try saveMerging(side)
    }
  }

  func bulk(_ side: RuleSide) throws {
    guard let slot = any(0..<5) else { return }
    say("delete jobs of slot \(slot), rank nil")
    arrive(side)
    var state = file
    state.remove(Set(file.numbers(.job).filter { file[$0, "slot"] == .value(slot) && file[$0, "rank"] == .none }))
    try side.context.delete(model: RuleJob.self, where: #Predicate { $0.slot == slot && $0.rank == nil })
    let shown = side.view
    for number in file.rows.keys where state.rows[number] == nil {
      side.pending.lose(number, isDeletedHere: shown.rows[number] == nil, isOwn: true)
    }
    committed(side, state)
  }

  func rawSQL(_ side: RuleSide) throws {
    guard let number = any(file.rows.keys.sorted()), let row = file.rows[number], let key = keys[number] else { return }
    var state = file
    let sql: SQL
    if row.kind == .job, chance(70) {
      if chance(50) {
        state[number, "rank"] = .none
        sql = "UPDATE rule_job SET rank = NULL WHERE id = \(key)"
      } else {
        let person = chance(20) ? nil : any(file.numbers(.person))
        state[number, "helper"] = person.map { .row($0) } ?? .none
        sql = "UPDATE rule_job SET helper_id = \(person.flatMap { keys[$0] }) WHERE id = \(key)"
      }
    } else {
      state.remove([number])
      for (other, cells) in state.rows {
        for (place, field) in RuleSpec.fields[cells.kind]!.enumerated() where cells.cells[place] == .row(number) {
          if field.rule == .nullify { state.rows[other]?.cells[place] = .none }
        }
      }
      // What the cascade leaves behind.
      sql = SQL(verbatim: "DELETE FROM \(RuleSpec.table(row.kind)) WHERE id = \(key)")
    }
    say("SQL on #\(number) \(row.kind)")
    let (settled, refusals) = settled(state)
    do {
      try side.store.execute(sql)
    } catch {
      if refusals.isEmpty { throw fail("\(error)") }
      return say(" ! \(error)")
    }
    if !refusals.isEmpty { throw fail("SQL was run, in spite of \(refusals)") }
    file = settled
  }

  /// The file's state after deletions there, by its rules.
  func settled(_ state: RuleState) -> (RuleState, Set<RuleRefusal>) {
    var (state, refusals) = (state, Set<RuleRefusal>())
    for (number, row) in state.rows {
      for (place, field) in RuleSpec.fields[row.kind]!.enumerated() {
        guard case .row(let target) = row.cells[place], state.rows[target] == nil else { continue }
        if field.rule == .deny { refusals.insert(.relationship) }
        if field.rule != .noAction { state.rows[number]?.cells[place] = .none }
      }
    }
    refusals.formUnion(state.broken())
    return (state, refusals)
  }
}
