import Foundation
import Quire
import TestSupport

/// Transactions, blocks of `store.write`, undo and redo.
extension RuleRun {
  /// Edits in a transaction, which is committed, refused, or thrown out of: then everything is as before.
  func transaction(_ side: RuleSide) throws {
    let isThrown = chance(50)
    say("transaction\(isThrown ? ", thrown out of" : ""): ")
    arrive(side)
    let (pending, objects, cancelable) = (side.pending, side.objects, side.cancelable)
    var outcome = (state: file, refusals: Set<RuleRefusal>(), others: Set<RuleRefusal>())
    do {
      try side.context.transaction {
        for _ in 0..<1 + random.below(3) {
          try change(side)
          say("; ")
        }
        if isThrown { throw Thrown() }
        outcome = file.saving(side.pending)
        say("expecting \(outcome.refusals.map { "\($0)" })")
      }
    } catch {
      if error is Difference { throw error }
      let found = error is Thrown ? nil : try kind(of: error)
      side.pending = pending
      side.objects = objects
      side.cancelable = cancelable
      if let found, !outcome.refusals.union(outcome.others).contains(found) {
        throw fail("expected \(outcome.refusals): \(error)")
      }
      if found == .ignored { rollback(side) }
      return
    }
    if !outcome.refusals.isEmpty { throw fail("committed, in spite of \(outcome.refusals)") }
    try saved(side, outcome.state)
  }

  /// A block without a context of its own: deletes a row, or gives it another note.
  func write() async throws {
    guard let number = any(file.numbers(.person) + file.numbers(.job)), let key = keys[number] else { return }
    let isJob = file.rows[number]?.kind == .job
    let isEdit = isJob && chance(60)
    var pending = RulePending()
    if isEdit {
      pending.edits[number] = [RuleSpec.place(.job, "note"): .value("dune")]
    } else {
      pending.deleted = [number]
    }
    let (state, refusals, _) = file.saving(pending)
    say("write: \(isEdit ? "note of" : "delete") #\(number), expecting \(refusals.map { "\($0)" })")
    do {
      try await store.write { context in
        if isEdit { return try context.get(RuleJob.self, key: key)!.note = "dune" }
        if isJob {
          context.delete(try context.get(RuleJob.self, key: key)!)
        } else {
          context.delete(try context.get(RulePerson.self, key: key)!)
        }
      }
    } catch {
      let found = try kind(of: error)
      if !refusals.contains(found) { throw fail("expected \(refusals): \(error)") }
      return
    }
    if !refusals.isEmpty { throw fail("written, in spite of \(refusals)") }
    file = state
  }

  /// A row goes and comes back, which others see or not, whatever they have done with it or refer to it by.
  func comeBack(_ side: RuleSide) throws {
    guard side.context.undoManager != nil else { return }
    if !side.pending.isEmpty { rollback(side) }
    try refresh(side)
    guard let number = any(side.view.rows.keys.sorted()) else { return }
    for other in sides where other !== side && chance(60) { try refer(other, to: number) }
    try delete(number, side)
    try save(side)
    for other in sides where other !== side && chance(50) {
      try refresh(other)
      try check(other)
    }
    try takeBack(side, isUndo: true)
  }

  private func refer(_ side: RuleSide, to number: Int) throws {
    try refresh(side)
    let view = side.view
    guard let kind = view.rows[number]?.kind else { return }
    let places = RuleKind.allCases.flatMap { owner in
      RuleSpec.fields[owner]!.indices.filter { RuleSpec.fields[owner]![$0].target == kind }.map { (owner, $0) }
    }
    guard let (owner, place) = any(places), let other = any(view.numbers(owner).filter { $0 != number }) else { return }
    say("\(side.name): ")
    side.cancelable = nil
    try refer(side, other, place, RuleSpec.fields[owner]![place], to: number)
    say("; ")
  }

  /// Undoes or redoes the latest save of a side that has nothing unsaved.
  func takeBack(_ side: RuleSide, isUndo: Bool) throws {
    guard side.context.undoManager != nil, side.pending.isEmpty, !side.context.hasChanges else { return }
    guard let group = isUndo ? side.undos.last : side.redos.last else { return }
    let (state, obstacles) = file.takingBack(isUndo ? group : (group.after, group.before))
    let back = Set(state.rows.keys.filter { file.rows[$0] == nil })
    // They are new objects of contexts that have seen them go.
    for other in sides where other !== side {
      for number in back where other.base.rows[number] == nil { other.objects[number] = nil }
    }
    say("\(isUndo ? "undo" : "redo"), obstacles \(obstacles)")
    do {
      if isUndo { try side.context.undo() } else { try side.context.redo() }
    } catch {
      if !(error is ModelError) { throw fail("\(error)") }
      say(" ! \(error)")
      refusals += 1
      if obstacles.isEmpty { throw fail("expected no refusal: \(error)") }
      // It would stay the next one.
      side.context.undoManager?.removeAllActions()
      (side.undos, side.redos) = ([], [])
      return
    }
    if !obstacles.isEmpty { throw fail("\(isUndo ? "undone" : "redone"), in spite of \(obstacles)") }
    if isUndo { side.redos.append(side.undos.removeLast()) } else { side.undos.append(side.redos.removeLast()) }
    file = state
    side.base = state
  }
}

extension RuleState {
  /// The state without what a save has changed, and what prevents it.
  @MainActor func takingBack(_ group: (before: RuleState, after: RuleState)) -> (RuleState, [String]) {
    var (state, obstacles) = (self, [String]())
    for number in Set(group.before.rows.keys).union(group.after.rows.keys).sorted() {
      let (old, new) = (group.before.rows[number], group.after.rows[number])
      if old == new { continue }
      guard let new else {
        if rows[number] != nil { obstacles.append("#\(number) is there again") }
        state.rows[number] = old
        continue
      }
      guard let found = rows[number] else {
        obstacles.append("#\(number) is gone")
        continue
      }
      guard let old else {
        if found != new { obstacles.append("#\(number) was changed") }
        state.rows[number] = nil
        continue
      }
      for place in old.cells.indices where old.cells[place] != new.cells[place] {
        if found.cells[place] != new.cells[place] { obstacles.append("#\(number) \(place) was changed") }
        state.rows[number]?.cells[place] = old.cells[place]
      }
    }
    for link in group.before.links.symmetricDifference(group.after.links) {
      let (was, isNow) = (group.before.links.contains(link), group.after.links.contains(link))
      if links.contains(link) != isNow { obstacles.append("\(link) was changed") }
      if was { state.links.insert(link) } else { state.links.remove(link) }
    }
    for link in state.links where state.rows[link.from] == nil || state.rows[link.to] == nil {
      obstacles.append("\(link) leads nowhere")
    }
    for (number, row) in state.rows {
      for (place, field) in RuleSpec.fields[row.kind]!.enumerated() where field.rule != .noAction {
        if case .row(let target) = row.cells[place], state.rows[target] == nil {
          obstacles.append("#\(number).\(field.name) leads nowhere")
        }
      }
    }
    return (state, obstacles + state.broken().map { "\($0)" })
  }
}
