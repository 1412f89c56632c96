import Quire
import TestSupport
import Testing

/// Deleting in a model that refers to itself: order in one save, and cascades deeper than SQLite goes by itself.
@Suite(.fewAtOnce) struct DeepDeleteTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Node.self, Step.self, Bead.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
  }

  /// A row of nodes, each the parent of the next.
  private func chain(_ count: Int) throws -> [Node] {
    let all = (0..<count).map { Node("b\($0)") }
    for (parent, child) in zip(all, all.dropFirst()) { child.parent = parent }
    for node in all { context.insert(node) }
    try context.save()
    return all
  }

  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]])
  func `deny does not count what goes in the same save, whatever is deleted first`(order: [Int]) throws {
    let steps = ["a", "b", "c"].map(Step.init)
    (steps[1].parent, steps[2].parent) = (steps[0], steps[1])
    for step in steps { context.insert(step) }
    try context.save()
    for place in order { context.delete(steps[place]) }
    try context.save()
    #expect(try store.value("SELECT count(*) FROM step") == 0)
  }

  @Test func `deny still refuses while one stays`() throws {
    let steps = ["a", "b", "c"].map(Step.init)
    (steps[1].parent, steps[2].parent) = (steps[0], steps[1])
    for step in steps { context.insert(step) }
    try context.save()
    context.delete(steps[0])
    context.delete(steps[1])
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(error.map { "\($0)" }?.contains("it has 1 Step in children, whose delete rule is .deny") == true)
    context.rollback()
    #expect(steps.allSatisfy { !$0.isDeleted } && steps[0].children == [steps[1]])
  }

  @Test func `objects that refer to each other are deleted together`() throws {
    let all = try chain(3)
    all[0].parent = all[2]
    try context.save()
    for node in all { context.delete(node) }
    try context.save()
    #expect(try store.value("SELECT count(*) FROM node") == 0)
  }

  @Test func `a cascade takes a tree of any depth`() throws {
    let all = try chain(2500)
    let other = ModelContext(store)
    let theirs = try #require(try other.all(Node.self).last)
    context.delete(all[0])
    try context.save()
    #expect(try store.value("SELECT count(*) FROM node") == 0)
    #expect(all.allSatisfy { $0.isDeleted })
    try other.refresh()
    #expect(theirs.isDeleted)
  }

  @Test func `a chain that leads the other way too is deleted whole`() throws {
    let all = (0..<1500).map { Bead("b\($0)") }
    for (before, after) in zip(all, all.dropFirst()) { (after.before, before.next) = (before, after) }
    for bead in all { context.insert(bead) }
    try context.save()
    context.delete(all[0])
    try context.save()
    #expect(try store.value("SELECT count(*) FROM bead") == 0)
  }

  @Test func `so it is in a transaction, which is undone as one`() throws {
    struct Changed: Error {}
    let all = try chain(1500)
    var left = -1
    #expect(throws: Changed.self) {
      try context.transaction {
        context.delete(all[0])
        try context.save()
        left = try context.fetchCount(FetchDescriptor<Node>())
        throw Changed()
      }
    }
    #expect(left == 0)
    #expect(try context.fetchCount(FetchDescriptor<Node>()) == 1500)
    #expect(!all[0].isDeleted && !all[1499].isDeleted)
  }

  @Test func `a deletion by predicate that would go deeper says what to do`() throws {
    let all = try chain(1500)
    let error = #expect(throws: ModelError.self) {
      try context.delete(model: Node.self, where: #Predicate { $0.name == "b0" })
    }
    #expect(error.map { "\($0)" }?.contains("by `context.delete(_:)`") == true)
    #expect(!all[0].isDeleted)
    #expect(try store.value("SELECT count(*) FROM node") == 1500)
  }
}

@Model final class Step {
  var name: String
  var parent: Step?
  @Relationship(deleteRule: .deny, inverse: \Step.parent) var children: [Step] = []
  init(_ name: String) { self.name = name }
}

@Model final class Bead {
  var name: String
  var before: Bead?
  @Relationship(deleteRule: .cascade, inverse: \Bead.before) var after: [Bead] = []
  var next: Bead?
  init(_ name: String) { self.name = name }
}
