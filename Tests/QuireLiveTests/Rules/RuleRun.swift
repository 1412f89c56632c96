import Foundation
import Quire
import TestSupport
import Testing

/// A context under test, and plain values beside it.
@MainActor final class RuleSide {
  let name: String
  let store: ModelContainer
  let context: ModelContext
  /// The commit that it shows, and what it has not saved.
  var base = RuleState()
  var pending = RulePending() { didSet { pending.refuses = context.onConflict == .refuse } }
  /// Objects that are held, by number.
  var objects: [Int: any PersistentModel] = [:]
  /// The saves that it can undo: the state before, and after.
  var undos: [(before: RuleState, after: RuleState)] = []
  var redos: [(before: RuleState, after: RuleState)] = []
  /// The latest deletion, if it can still be canceled: what was unsaved before it.
  var cancelable: (number: Int, pending: RulePending, objects: [Int: any PersistentModel])?
  var live: RuleLive!

  init(_ name: String, _ store: ModelContainer, _ context: ModelContext) throws {
    (self.name, self.store, self.context) = (name, store, context)
    live = try RuleLive(context)
  }

  var view: RuleState { pending.view(on: base) }
}

/// One seed: two contexts of a container, and one of another on the same file.
@MainActor final class RuleRun {
  struct Difference: Error, CustomStringConvertible { let description: String }
  struct Thrown: Error {}

  let scratch: Scratch
  let configuration: ModelConfiguration
  let store: ModelContainer
  let other: ModelContainer
  var sides: [RuleSide] = []
  var random: Random
  var file = RuleState()
  /// The key of each row that has ever been saved.
  var keys: [Int: Int64] = [:]
  var arrivals = 0
  var done: [String] = []
  var refusals = 0

  init(seed: UInt64) throws {
    random = Random(seed: seed)
    scratch = try Scratch()
    configuration = ModelConfiguration(url: URL(filePath: scratch.file()))
    store = try Self.open(configuration)
    other = try Self.open(configuration)
    sides = [
      try RuleSide("a", store, ModelContext(store)), try RuleSide("b", store, ModelContext(store)),
      try RuleSide("c", other, ModelContext(other)),
    ]
    for side in sides where chance(50) { side.context.undoManager = UndoManager() }
    for side in sides where chance(40) { side.context.onConflict = .refuse }
    for side in sides { side.pending = RulePending() }
  }

  private static func open(_ configuration: ModelConfiguration) throws -> ModelContainer {
    try ModelContainer(
      for: RuleTeam.self, RulePerson.self, RuleJob.self, RuleTag.self, RuleCard.self, configurations: configuration)
  }

  /// - Parameter end: Runs in place of closing and opening the file again.
  func run(steps: Int, end: (() throws -> Void)? = nil) async throws {
    for side in sides {
      done.append("\(side.name): ")
      for _ in 0..<6 { try insert(side); done.append("\(side.name): ") }
      try save(side)
    }
    for _ in 0..<steps {
      let side = chance(55) ? sides[0] : chance(60) ? sides[1] : sides[2]
      if chance(70) { try refresh(side) }
      done.append("\(side.name): ")
      try await step(side)
      if chance(75) { try refresh(side) } else { _ = try side.context.fetchCount(FetchDescriptor<RuleTag>()) }
      arrive(side)
      try check(side)
      if chance(20) {
        for side in sides {
          try refresh(side)
          try check(side)
        }
      }
      try checkFile(store)
    }
    if let end { try end() } else { try reopen() }
  }

  func chance(_ percent: Int) -> Bool { random.below(100) < percent }
  func any<C: Collection>(_ values: C) -> C.Element? { values.randomElement(using: &random) }
  func say(_ text: String) { done[done.count - 1] += text }
  func fail(_ text: String) -> Difference { Difference(description: text) }

  func refresh(_ side: RuleSide) throws {
    try side.context.refresh()
    arrive(side)
  }

  /// The context of a side has taken in what others have committed.
  func arrive(_ side: RuleSide) {
    let gone = side.base.rows.keys.filter { file.rows[$0] == nil }
    if !gone.isEmpty {
      let shown = side.view
      for number in gone {
        let isDeletedHere = shown.rows[number] == nil
        side.pending.lose(number, isDeletedHere: isDeletedHere)
        if side.cancelable?.number == number { side.cancelable = nil }
        side.cancelable?.pending.lose(number, isDeletedHere: isDeletedHere)
        side.cancelable?.pending.gone.remove(number)
      }
    }
    for number in file.rows.keys where side.base.rows[number] == nil {
      side.pending.comeBack(number, file)
      side.cancelable?.pending.comeBack(number, file)
    }
    side.base = file
  }

  /// After a turn, in which the contexts have moved by themselves.
  func refreshAll() throws { for side in sides { try refresh(side) } }

  /// The object of a row of a side's view.
  func object(_ side: RuleSide, _ number: Int) throws -> any PersistentModel {
    if let object = side.objects[number] { return object }
    guard let row = side.base.rows[number] ?? file.rows[number], let key = keys[number] else {
      throw fail("no object of \(number)")
    }
    func find<Model: PersistentModel>(_: Model.Type) -> (any PersistentModel)? {
      side.context.model(Model.self, key: key)
    }
    guard let object = find(RuleSpec.types[row.kind]!) else {
      throw fail("\(side.name) has no \(row.kind) \(key) (#\(number))")
    }
    side.objects[number] = object
    return object
  }

  func number(_ side: RuleSide, _ kind: RuleKind, _ object: any PersistentModel) -> Int? {
    if let number = side.objects.first(where: { $0.value === object })?.key { return number }
    let key = object.persistentModelID.rowKey
    return keys.first { $0.value == key && (file.rows[$0.key] ?? side.base.rows[$0.key])?.kind == kind }?.key
  }
}
