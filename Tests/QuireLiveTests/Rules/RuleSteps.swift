import Foundation
import Quire
import TestSupport

/// What a step does, to the store and to the plain values.
extension RuleRun {
  func step(_ side: RuleSide) async throws {
    if chance(40), side.cancelable != nil { return try cancel(side) }
    switch random.below(100) {
    case ..<58: try change(side)
    case ..<68: try save(side)
    case ..<71:
      try await saveWhenReady(side)
      try refreshAll()
    case ..<73: rollback(side)
    case ..<75:
      try await autosave(side)
      try refreshAll()
    case ..<77: try bulk(side)
    case ..<82: try rawSQL(side)
    case ..<85:
      try await write()
      try refreshAll()
    case ..<90: try transaction(side)
    case ..<92: try takeBack(side, isUndo: true)
    case ..<94: try takeBack(side, isUndo: false)
    case ..<96: try comeBack(side)
    case ..<97: release(side)
    case ..<99: try upsert(side)
    default: try refresh(side)
    }
  }

  /// An edit of objects, which is not saved.
  func change(_ side: RuleSide) throws {
    side.cancelable = nil
    switch random.below(60) {
    case ..<16: try insert(side)
    case ..<36: try edit(side)
    case ..<46: try link(side)
    case ..<50: try exchange(side)
    default: try delete(side)
    }
  }

  func insert(_ side: RuleSide) throws {
    let kind = any([.job, .job, .job, .team, .person, .tag, .card] as [RuleKind])!
    arrivals += 1
    let number = arrivals
    func make<Model: PersistentModel>(_: Model.Type) -> any PersistentModel {
      switch kind {
      case .team: RuleTeam()
      case .person: RulePerson()
      case .job: RuleJob()
      case .tag: RuleTag()
      case .card: RuleCard()
      }
    }
    let object = make(RuleTag.self)
    var row = RuleRow(kind: kind, cells: [])
    for field in RuleSpec.fields[kind]! {
      guard field.target == nil, let cell = any(field.values) else {
        row.cells.append(.none)
        continue
      }
      field.set(object, cell)
      row.cells.append(cell)
    }
    func put<Model: PersistentModel>(_ object: Model) { side.context.insert(object) }
    put(object)
    side.objects[number] = object
    side.pending.inserted[number] = row
    say("insert \(kind) #\(number) \(row.cells)")
    for (place, field) in RuleSpec.fields[kind]!.enumerated() where field.target != nil && chance(40) {
      try refer(side, number, place, field)
    }
  }

  /// Notes an edit of a cell, if it is one.
  func note(_ side: RuleSide, _ number: Int, _ place: Int, _ cell: RuleCell) {
    if side.view.rows[number]?.cells[place] == cell { return }
    if side.pending.edits[number]?[place] == nil {
      side.pending.bases[number, default: [:]][place] = side.base.rows[number]?.cells[place]
    }
    if side.pending.inserted[number] != nil {
      side.pending.inserted[number]?.cells[place] = cell
    } else {
      side.pending.edits[number, default: [:]][place] = cell
    }
  }

  func edit(_ side: RuleSide) throws {
    let numbers = side.view.rows.keys.sorted()
    // Some are edited often, in few properties: so others have, too.
    let isOften = chance(40)
    guard let number = any(isOften ? numbers.prefix(4) : numbers[...]), let kind = side.view.rows[number]?.kind else {
      return
    }
    let count = RuleSpec.fields[kind]!.count
    let place = random.below(isOften ? min(3, count) : count)
    let field = RuleSpec.fields[kind]![place]
    if field.target != nil { return try refer(side, number, place, field) }
    guard let cell = any(field.values) else { return }
    field.set(try object(side, number), cell)
    note(side, number, place, cell)
    say("#\(number).\(field.name) = \(cell)")
  }

  /// Sets a reference, by its own side or by the list of its target.
  func refer(_ side: RuleSide, _ number: Int, _ place: Int, _ field: RuleField, to wanted: Int? = nil) throws {
    let view = side.view
    guard let kind = view.rows[number]?.kind, let old = view.rows[number]?.cells[place] else { return }
    if case .row(let target) = old, view.rows[target] == nil, field.rule == .noAction { return }
    let target = wanted ?? (chance(25) ? nil : any(view.numbers(field.target!).filter { $0 != number }))
    let object = try object(side, number)
    var moved: [any PersistentModel] = []
    func take() {
      guard field.isOneToOne, let target else { return }
      for other in view.numbers(kind) where other != number && view.rows[other]?.cells[place] == .row(target) {
        note(side, other, place, .none)
      }
    }
    if let target, let list = field.list, let setList = field.setList, chance(40) {
      let owner = try self.object(side, target)
      if field.isOneToOne {
        setList(owner, [object])
      } else if !list(owner).contains(where: { $0 === object }) {
        var targets = list(owner)
        targets.insert(object, at: field.order == nil ? targets.count : random.below(targets.count + 1))
        setList(owner, targets)
        moved = targets
      } else if field.order != nil {
        let targets = list(owner).shuffled(using: &random)
        setList(owner, targets)
        moved = targets
      }
      say(" list of #\(target) += #\(number).\(field.name)")
    } else {
      field.setObject(object, try target.map { try self.object(side, $0) })
      say(" #\(number).\(field.name) = #\(target ?? 0)")
    }
    take()
    note(side, number, place, target.map { .row($0) } ?? .none)
    try noteOrder(side, kind, field, moved)
  }

  /// The objects of a list have numbers by which they are in the order that it was assigned in.
  private func noteOrder(_ side: RuleSide, _ kind: RuleKind, _ field: RuleField, _ list: [any PersistentModel]) throws {
    guard let order = field.order else { return }
    let place = RuleSpec.place(kind, order)
    for object in list {
      guard let number = number(side, kind, object) else { throw fail("\(side.name): unknown \(object)") }
      note(side, number, place, RuleSpec.fields[kind]![place].get(object))
    }
    let places = list.map(self.place)
    if !zip(places, places.dropFirst()).allSatisfy({ $0 < $1 }) { throw fail("\(side.name): places \(places)") }
  }

  func place(of object: any PersistentModel) -> Double { (object as! RuleJob).place }

  func link(_ side: RuleSide) throws {
    let place = random.below(RuleSpec.joins.count)
    let join = RuleSpec.joins[place]
    let view = side.view
    guard let from = any(view.numbers(join.kinds.0)) else { return }
    let targets = view.numbers(join.kinds.1)
    let old = Set(view.links.filter { $0.join == place && $0.from == from }.map(\.to))
    var new = old
    for target in targets where chance(20) {
      if new.contains(target) { new.remove(target) } else { new.insert(target) }
    }
    if let setOther = join.setOther, let getOther = join.getOther, chance(40) {
      let object = try object(side, from)
      for target in new.symmetricDifference(old).sorted() {
        let owner = try self.object(side, target)
        if new.contains(target) {
          setOther(owner, getOther(owner) + [object])
        } else {
          setOther(owner, getOther(owner).filter { $0 !== object })
        }
      }
    } else {
      join.set(try object(side, from), try new.sorted().map { try object(side, $0) })
    }
    for target in new.symmetricDifference(old) {
      side.pending.links[RuleLink(join: place, from: from, to: target)] = new.contains(target)
    }
    say("\(join.table) of #\(from) = \(new.sorted())")
  }

  func delete(_ side: RuleSide) throws {
    let kinds = any([[.job, .card], [.tag, .person], [.team], [.job]] as [[RuleKind]])!
    if let number = any(kinds.flatMap { side.view.numbers($0) }) { try delete(number, side) }
  }

  func delete(_ number: Int, _ side: RuleSide) throws {
    func take<Model: PersistentModel>(_ object: Model) { side.context.delete(object) }
    let object = try object(side, number)
    let before = (number, side.pending, side.objects.merging([number: object]) { $1 })
    take(object)
    say("delete #\(number)")
    noteDeletion(side, number)
    side.cancelable = before
  }

  /// Inserts the object again that was deleted last.
  func cancel(_ side: RuleSide) throws {
    guard let (number, pending, objects) = side.cancelable else { return }
    func put<Model: PersistentModel>(_ object: Model) { side.context.insert(object) }
    put(objects[number]!)
    say("cancel the deletion of #\(number)")
    for new in pending.inserted.keys { side.objects[new] = objects[new] }
    side.objects[number] = objects[number]
    side.pending = pending
    side.cancelable = nil
  }

  func noteDeletion(_ side: RuleSide, _ number: Int) {
    let before = side.view
    var view = before
    view.remove([number])
    side.pending.followed.formUnion(before.rows.keys.filter { $0 != number && view.rows[$0] == nil })
    for new in side.pending.inserted.keys where view.rows[new] == nil {
      side.pending.inserted[new] = nil
      side.objects[new] = nil
      // What refers to one that was never saved refers to nothing.
      for (other, row) in view.rows {
        for (place, cell) in row.cells.enumerated() where cell == .row(new) { note(side, other, place, .none) }
      }
    }
    if keys[number] != nil {
      side.pending.deleted.insert(number)
      side.pending.deletedBases[number] = side.base.rows[number]
      for (place, base) in side.pending.bases[number] ?? [:] where side.pending.edits[number]?[place] != nil {
        side.pending.deletedBases[number]?.cells[place] = base
      }
    } else {
      side.pending.deleted.formUnion(before.rows.keys.filter { keys[$0] != nil && view.rows[$0] == nil })
    }
    // What has gone with a new object is not found by that any longer.
    side.pending.deleted.formUnion(side.view.rows.keys.filter { view.rows[$0] == nil })
    side.pending.links = side.pending.links.filter { view.rows[$0.key.from] != nil && view.rows[$0.key.to] != nil }
  }

  func rollback(_ side: RuleSide) {
    side.context.rollback()
    for number in side.pending.inserted.keys { side.objects[number] = nil }
    side.pending = RulePending()
    side.cancelable = nil
    say("rollback")
  }

  func release(_ side: RuleSide) {
    side.cancelable = nil
    side.objects = side.objects.filter { keys[$0.key] == nil || chance(30) }
    say("release")
  }

  /// Two rows exchange a unique value.
  func exchange(_ side: RuleSide) throws {
    let (kind, name) = any(
      [(.tag, "word"), (.person, "name"), (.team, "code"), (.job, "slot")] as [(RuleKind, String)])!
    let place = RuleSpec.place(kind, name)
    let field = RuleSpec.fields[kind]![place]
    let view = side.view
    let numbers = view.numbers(kind).shuffled(using: &random).prefix(2)
    guard numbers.count == 2 else { return }
    let (first, second) = (numbers[0], numbers[1])
    for (number, cell) in [(first, view[second, name]), (second, view[first, name])] {
      field.set(try object(side, number), cell)
      note(side, number, place, cell)
    }
    say("#\(first) and #\(second) exchange \(name)")
  }
}
