import Foundation
import Quire
import TestSupport
import Testing

@Model private final class Parent {
  var id: Int
  @Relationship(deleteRule: .cascade, inverse: \Child.parent) var children: [Child] = []
  init(id: Int, children: [Child] = []) {
    self.id = id
    self.children = children
  }
}

@Model private final class Child {
  var id: Int
  var parent: Parent?
  @Relationship(inverse: \Badge.holders) var badges: [Badge] = []
  @Relationship(inverse: \Locker.owner) var locker: Locker?
  init(id: Int, parent: Parent? = nil) {
    self.id = id
    self.parent = parent
  }
}

@Model private final class Badge {
  var name: String
  var holders: [Child] = []
  init(_ name: String) { self.name = name }
}

@Model private final class Locker {
  var number: Int
  var owner: Child?
  init(_ number: Int) { self.number = number }
}

/// `next` by its own side only.
@Model private final class Stop {
  var number: Int
  var next: Stop?
  init(_ number: Int, next: Stop? = nil) {
    self.number = number
    self.next = next
  }
}

/// Its references get their values before its other properties, in every way that an initializer may end.
@Model private final class Visit {
  var parent: Parent
  var badges: [Badge]
  var stops: [Stop]?
  var note: String

  init(to parent: Parent, badges: [Badge] = [], note: String, stops: [Stop] = []) {
    self.parent = parent
    self.badges = badges
    // An assignment in a closure, and its `return`, are not the initializer's.
    let later: () -> Void = { return }
    later()
    guard !note.isEmpty else {
      self.note = "none"
      return
    }
    self.note = note
    if !stops.isEmpty { self.stops = stops }
  }

  init?(trying parent: Parent, number: Int) throws {
    if number < 0 { throw CocoaError(.formatting) }
    if number == 0 { return nil }
    (self.parent, badges) = (parent, [])
    note = "number \(number)"
  }

  init(only mother: Parent) {
    parent = mother
    badges = []
    note = ""
    return
  }

  convenience init(_ parent: Parent) { self.init(to: parent, note: "") }
}

/// What is reachable from an inserted object by either side of a relationship is saved with it.
@Suite(.fewAtOnce) struct ReachabilityTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Parent.self, Child.self, Badge.self, Locker.self, Stop.self, Visit.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
  }

  /// Parents with their children's numbers, as the file has them.
  private func families() throws -> [Int: [Int]] {
    let rows = try store.query(
      "SELECT p._id, p.id, c.id FROM parent AS p LEFT JOIN child AS c ON c.parent_id = p._id ORDER BY c.id")
    return Dictionary(grouping: rows) { row in if case .integer(let id) = row[1] { Int(id) } else { -1 } }
      .mapValues { rows in rows.compactMap { row in if case .integer(let id) = row[2] { Int(id) } else { nil } } }
  }

  @Test func `a parent that was given an inserted child`() throws {
    let child = Child(id: 10)
    let parent = Parent(id: 1, children: [child])
    context.insert(child)
    #expect(child.parent === parent && parent.modelContext === context)
    try context.save()
    #expect(try families() == [1: [10]])
  }

  @Test func `a child that was given an inserted parent`() throws {
    let parent = Parent(id: 2)
    _ = Child(id: 3, parent: parent)
    for id in 4...5 { _ = Child(id: id, parent: parent) }
    context.insert(parent)
    #expect(parent.children.map(\.id) == [3, 4, 5])
    try context.save()
    #expect(try families() == [2: [3, 4, 5]])
  }

  @Test func `a child that is made with a saved parent, and a parent with a saved child`() throws {
    let parent = Parent(id: 1)
    context.insert(parent)
    try context.save()
    let child = Child(id: 4, parent: parent)
    #expect(child.modelContext === context && parent.children == [child])
    try context.save()
    #expect(try families() == [1: [4]])
    _ = Parent(id: 2, children: [child])
    try context.save()
    #expect(try families() == [1: [], 2: [4]] && parent.children.isEmpty)
  }

  @Test func `references that an initializer gives their values first`() throws {
    let parent = Parent(id: 1)
    context.insert(parent)
    try context.save()
    let visit = Visit(to: parent, note: "tea")
    #expect(visit.modelContext === context)
    _ = Visit(to: parent, note: "")
    _ = Visit(parent)
    _ = Visit(only: parent)
    _ = try Visit(trying: parent, number: 5)
    #expect(try Visit(trying: parent, number: 0) == nil)
    #expect(throws: CocoaError.self) { try Visit(trying: parent, number: -1) }
    try context.save()
    #expect(try store.query("SELECT count(parent_id) FROM visit").map(\.values) == [[5]])
    let (badge, stop) = (Badge("red"), Stop(1))
    _ = Visit(to: Parent(id: 2), badges: [badge], note: "by a list", stops: [stop])
    context.insert(badge)
    try context.save()
    let visits = try context.fetch(FetchDescriptor<Visit>(predicate: #Predicate { $0.note == "by a list" }))
    #expect(visits.first?.parent.id == 2 && visits.first?.badges == [badge] && visits.first?.stops == [stop])
  }

  @Test func `chains by one side and by the other, through several kinds of relationship`() throws {
    let (first, second) = (Child(id: 1), Child(id: 2))
    let badge = Badge("blue")
    badge.holders = [first]
    second.badges = [badge]
    let locker = Locker(7)
    locker.owner = second
    _ = Parent(id: 1, children: [second, Child(id: 3)])
    context.insert(first)
    try context.save()
    #expect(try families() == [1: [2, 3]])
    #expect(first.badges == [badge] && badge.holders == [first, second] && second.locker === locker)
    #expect(try store.query("SELECT count(*) FROM badge, locker, child_badges").map(\.values) == [[2]])
  }

  @Test func `a chain of any length, and a ring`() throws {
    let first = Stop(0)
    var last = first
    for number in 1...20_000 { last = Stop(number, next: last) }
    first.next = last
    context.insert(first)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Stop>()) == 20_001)
    #expect(first.next === last)
    #expect(try store.query("SELECT count(next_id) FROM stop").map(\.values) == [[20_001]])
    for stop in try context.all(Stop.self) { stop.next = nil }  // else the ring would keep itself
  }

  @Test func `what was given up before the insertion is not saved`() throws {
    let (parent, other) = (Parent(id: 1), Parent(id: 2))
    let child = Child(id: 1, parent: parent)
    child.parent = nil
    context.insert(parent)
    #expect(child.modelContext == nil && parent.children.isEmpty)
    let taken = Child(id: 2)
    let left = Parent(id: 3, children: [taken])
    taken.parent = other
    context.insert(taken)
    #expect(left.modelContext == nil && taken.parent === other && other.children == [taken])
    try context.save()
    #expect(try families() == [1: [], 2: [2]])
  }

  @Test func `a child that is given to a parent whose context is gone comes along when that is inserted`() throws {
    func unsaved() -> Parent {
      let parent = Parent(id: 1)
      ModelContext(store, isolation: nil).insert(parent)
      return parent
    }
    let parent = unsaved()
    _ = Child(id: 1, parent: parent)
    context.insert(parent)
    try context.save()
    #expect(try families() == [1: [1]])
  }

  @Test func `a deleted target takes nothing with it`() throws {
    let parent = Parent(id: 1)
    context.insert(parent)
    try context.save()
    context.delete(parent)
    let child = Child(id: 1, parent: parent)
    #expect(child.modelContext == nil)
    try context.save()
    #expect(try families().isEmpty)
  }

  @Test func `what joins a context that is rolled back is let go with it`() throws {
    let parent = Parent(id: 1)
    context.insert(parent)
    try context.save()
    _ = Child(id: 1, parent: parent)
    #expect(context.insertedModelsArray.count == 1)
    context.rollback()
    #expect(parent.children.isEmpty && !context.hasChanges)
  }
}
