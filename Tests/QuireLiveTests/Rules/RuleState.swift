import Foundation
import Quire

struct RuleRow: Equatable {
  let kind: RuleKind
  var cells: [RuleCell]
}

struct RuleLink: Hashable {
  let join: Int
  let from: Int
  let to: Int
}

/// All rows, by number.
struct RuleState: Equatable {
  var rows: [Int: RuleRow] = [:]
  var links: Set<RuleLink> = []

  func numbers(_ kind: RuleKind) -> [Int] { rows.filter { $0.value.kind == kind }.keys.sorted() }

  @MainActor subscript(_ number: Int, _ name: String) -> RuleCell {
    get { rows[number].map { $0.cells[RuleSpec.place($0.kind, name)] } ?? .none }
    set {
      guard let row = rows[number] else { return }
      rows[number]?.cells[RuleSpec.place(row.kind, name)] = newValue
    }
  }

  /// The row that a reference leads to, if it is there.
  @MainActor func target(_ number: Int, _ name: String) -> Int? {
    if case .row(let target) = self[number, name], rows[target] != nil { target } else { nil }
  }

  /// Takes rows away, with what goes with them, and their links.
  @MainActor mutating func remove(_ gone: Set<Int>) {
    var pending = Array(gone)
    while let number = pending.popLast() {
      rows[number] = nil
      for (other, row) in rows {
        for (place, field) in RuleSpec.fields[row.kind]!.enumerated()
        where field.target != nil && field.rule == .cascade && row.cells[place] == .row(number) {
          pending.append(other)
        }
      }
    }
    links = links.filter { rows[$0.from] != nil && rows[$0.to] != nil }
  }
}

/// What a context has not saved.
struct RulePending: Equatable {
  var inserted: [Int: RuleRow] = [:]
  var edits: [Int: [Int: RuleCell]] = [:]
  var deleted: Set<Int> = []
  var links: [RuleLink: Bool] = [:]
  /// Rows that went with deleted ones, by a cascade.
  var followed: Set<Int> = []
  /// Rows that were deleted here, and by others then: what refers to them by an unsaved edit is as if only the first were true.
  var gone: Set<Int> = []
  /// Whether edits were dropped with the rows that others have deleted, which the next save says; or may have been.
  var isIgnored = false
  var mayBeIgnored = false
  /// Whether a save refuses what others have changed since; and what edits and deletions were made on.
  var refuses = false
  var bases: [Int: [Int: RuleCell]] = [:]
  var deletedBases: [Int: RuleRow] = [:]
  /// Whether others have deleted what was edited or deleted here, or what has gone with that.
  var isLost = false
  var mayBeLost = false
  var isEmpty: Bool {
    inserted.isEmpty && edits.isEmpty && deleted.isEmpty && links.isEmpty && !isIgnored && !mayBeIgnored && !isLost
      && !mayBeLost
  }

  /// A save that merges has been asked for.
  mutating func merge() {
    (refuses, isLost, mayBeLost) = (false, false, false)
    (bases, deletedBases) = ([:], [:])
  }

  /// Whether others have changed what is edited or deleted here.
  func conflicts(with file: RuleState) -> Bool {
    if isLost { return true }
    for (number, cells) in bases where !deleted.contains(number) {
      guard let row = file.rows[number], let edits = edits[number] else { continue }
      for (place, base) in cells where edits[place] != nil && row.cells[place] != base { return true }
    }
    return deletedBases.contains { deleted.contains($0.key) && file.rows[$0.key] != $0.value }
  }

  /// Others have deleted a row. References to it are to an object without a row, also if the row comes back: the negative number.
  mutating func lose(_ number: Int, isDeletedHere: Bool, isOwn: Bool = false) {
    let wasEdited = edits.removeValue(forKey: number) != nil
    if refuses {
      if followed.contains(number), !deleted.contains(number) {
        mayBeLost = mayBeLost || wasEdited
      } else if wasEdited || deletedBases[number] != nil, !isOwn {
        isLost = true
      }
      (bases[number], deletedBases[number]) = (nil, nil)
    } else if wasEdited, !isDeletedHere, !isOwn {
      if followed.contains(number) { mayBeIgnored = true } else { isIgnored = true }
    }
    deleted.remove(number)
    if isDeletedHere { gone.insert(number) }
    links = links.filter { $0.key.from != number && $0.key.to != number }
    for (other, cells) in edits {
      for (place, cell) in cells where cell == .row(number) { edits[other]?[place] = .row(-number) }
    }
    for (other, row) in inserted {
      for (place, cell) in row.cells.enumerated() where cell == .row(number) {
        inserted[other]?.cells[place] = .row(-number)
      }
    }
  }

  /// A row that others have deleted is there again: references are to its object, unless this context's deletion has made them
  /// nil.
  @MainActor mutating func comeBack(_ number: Int, _ file: RuleState) {
    func leads(_ cell: RuleCell, _ field: RuleField) -> Bool {
      cell == .row(-number) && !(gone.contains(number) && [.nullify, .cascade].contains(field.rule))
    }
    for (other, cells) in edits {
      guard let kind = file.rows[other]?.kind else { continue }
      for (place, cell) in cells where leads(cell, RuleSpec.fields[kind]![place]) {
        edits[other]?[place] = .row(number)
      }
    }
    for (other, row) in inserted {
      for (place, cell) in row.cells.enumerated() where leads(cell, RuleSpec.fields[row.kind]![place]) {
        inserted[other]?.cells[place] = .row(number)
      }
    }
  }

  @MainActor func view(on base: RuleState) -> RuleState {
    var state = base
    for (number, cells) in edits { for (place, cell) in cells { state.rows[number]?.cells[place] = cell } }
    state.rows.merge(inserted) { $1 }
    for (link, isOn) in links { if isOn { state.links.insert(link) } else { state.links.remove(link) } }
    var removed = deleted
    for (number, row) in state.rows {
      for (place, field) in RuleSpec.fields[row.kind]!.enumerated() where field.rule == .cascade {
        if case .row(let target) = row.cells[place], target < 0, gone.contains(-target) { removed.insert(number) }
      }
    }
    state.remove(removed)
    return state
  }
}

enum RuleRefusal: Hashable { case notUnique, relationship, count, ignored, conflict }

extension RuleState {
  /// The state after a save, all that refuses it, and what may.
  @MainActor func saving(_ pending: RulePending) -> (
    state: RuleState, refusals: Set<RuleRefusal>, others: Set<RuleRefusal>
  ) {
    var refusals: Set<RuleRefusal> = []
    var others: Set<RuleRefusal> = []
    if pending.isIgnored { refusals.insert(.ignored) }
    if pending.mayBeIgnored { others.insert(.ignored) }
    if pending.refuses {
      if pending.conflicts(with: self) { refusals.insert(.conflict) }
      // What has gone with another one is compared, if it was edited before.
      if pending.mayBeLost || !pending.followed.isEmpty { others.insert(.conflict) }
    }
    var state = pending.view(on: self)
    for (number, row) in state.rows {
      for (place, field) in RuleSpec.fields[row.kind]!.enumerated() {
        guard case .row(let target) = row.cells[place], state.rows[target] == nil else { continue }
        if field.rule == .deny, rows[target] != nil { refusals.insert(.relationship) }
        if target < 0, field.rule == .noAction || field.rule == .deny || !pending.gone.contains(-target) {
          // The row of the object has gone. It may be there again.
          if field.rule != .noAction, rows[-target] == nil {
            if pending.followed.contains(-target) {
              others.insert(.relationship)
            } else {
              refusals.insert(.relationship)
            }
          }
          state.rows[number]?.cells[place] = .row(-target)
          continue
        }
        if field.rule != .noAction { state.rows[number]?.cells[place] = .none }
      }
    }
    refusals.formUnion(state.broken())
    return (state, refusals, others)
  }

  @MainActor func broken() -> Set<RuleRefusal> {
    var refusals: Set<RuleRefusal> = []
    for (kind, sets) in RuleSpec.uniques {
      for names in sets {
        var seen: Set<[RuleCell]> = []
        for number in numbers(kind) {
          let cells = names.map { self[number, $0] }
          if !cells.contains(.none), !seen.insert(cells).inserted { refusals.insert(.notUnique) }
        }
      }
    }
    for (place, join) in RuleSpec.joins.enumerated() where join.most < .max {
      let counts = Dictionary(grouping: links.filter { $0.join == place }, by: \.from)
      if counts.contains(where: { $0.value.count > join.most }) { refusals.insert(.count) }
    }
    return refusals
  }
}
