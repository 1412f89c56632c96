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
  var isEmpty: Bool { inserted.isEmpty && edits.isEmpty && deleted.isEmpty && links.isEmpty }

  @MainActor func view(on base: RuleState) -> RuleState {
    var state = base
    for (number, cells) in edits { for (place, cell) in cells { state.rows[number]?.cells[place] = cell } }
    state.rows.merge(inserted) { $1 }
    for (link, isOn) in links { if isOn { state.links.insert(link) } else { state.links.remove(link) } }
    state.remove(deleted)
    return state
  }
}

enum RuleRefusal: Hashable { case notUnique, relationship, count, ignored }

extension RuleState {
  /// The state after a save, all that refuses it, and what may.
  @MainActor func saving(_ pending: RulePending) -> (
    state: RuleState, refusals: Set<RuleRefusal>, others: Set<RuleRefusal>
  ) {
    var refusals: Set<RuleRefusal> = []
    var others: Set<RuleRefusal> = []
    for number in pending.edits.keys where rows[number] == nil && !pending.deleted.contains(number) {
      if pending.followed.contains(number) { others.insert(.ignored) } else { refusals.insert(.ignored) }
    }
    var state = pending.view(on: self)
    for (number, row) in state.rows {
      for (place, field) in RuleSpec.fields[row.kind]!.enumerated() {
        guard case .row(let target) = row.cells[place], state.rows[target] == nil else { continue }
        if field.rule == .deny, rows[target] != nil { refusals.insert(.relationship) }
        let isSet = pending.inserted[number] != nil || pending.edits[number]?[place] != nil
        // Refers to a row that others have deleted.
        if field.rule != .noAction, isSet, rows[target] == nil {
          if pending.deleted.contains(target) || pending.followed.contains(target) {
            others.insert(.relationship)
          } else {
            refusals.insert(.relationship)
          }
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
