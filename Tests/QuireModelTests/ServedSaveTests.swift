import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

/// The saves in a block of `store.write`: one that is tried in another order, or that fails and is caught, takes back itself
/// alone.
@Suite(.fewAtOnce) struct ServedSaveTests {
  let store: ModelContainer

  init() throws {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.writeTimeout = .seconds(3600)
    store = try ModelContainer(for: Pier.self, Mooring.self, configurations: configuration)
    let context = ModelContext(store)
    for code in ["A", "B", "C"] { context.insert(Pier(code)) }
    try context.save()
  }

  private func codes() throws -> [String] {
    try store.query("SELECT code FROM pier ORDER BY id").map { try $0.value("code") }
  }

  private nonisolated static func swap(_ first: Int, _ second: Int, in context: ModelContext) throws {
    let piers = try context.fetch(FetchDescriptor<Pier>(sortBy: [SortDescriptor(\.code)]))
    (piers[first].code, piers[second].code) = (piers[second].code, piers[first].code)
  }

  @Test func `values are exchanged in a block, between the writes of a group`() async throws {
    let errors = try await GroupCommitTests.together(
      in: store,
      [
        { $0.insert(Pier("D")) },
        { try Self.swap(0, 2, in: $0) },
        { $0.insert(Pier("A")) },  // is there
        { $0.insert(Pier("E")) },
      ])
    #expect(errors.map { $0 == nil } == [true, true, false, true])
    #expect(try codes() == ["C", "B", "A", "D", "E"])
  }

  @Test func `what a block did before a save that is tried again stays`() async throws {
    try await store.write { context in
      try context.execute("PRAGMA user_version = 7")
      try context.execute("CREATE TEMP TABLE kept (n)")
      try Self.swap(0, 1, in: context)
      try context.save()
      try context.execute("INSERT INTO kept VALUES (1)")
    }
    #expect(try codes() == ["B", "A", "C"])
    #expect(try store.query("PRAGMA user_version").first?["user_version"] == .integer(7))
  }

  @Test(arguments: [false, true]) func `a block goes on after a save that it has caught`(isNested: Bool) async throws {
    try await store.write { context in
      let clash = Pier("B")
      context.insert(clash)
      let mooring = Mooring(1, in: clash)
      context.insert(mooring)
      #expect(throws: ModelError.self) {
        if isNested { try context.transaction { try context.save() } } else { try context.save() }
      }
      clash.code = "D"
      try context.save()
      context.insert(Pier("C"))
      #expect(throws: ModelError.self) { try context.save() }
      context.rollback()
      #expect(try context.fetchCount(FetchDescriptor<Pier>()) == 4)
    }
    #expect(try codes() == ["A", "B", "C", "D"])
    #expect(try store.query("SELECT * FROM mooring").count == 1)
    #expect(try store.query("PRAGMA foreign_key_check").isEmpty)
  }
}

@Model private final class Pier {
  @Attribute(.unique) var code: String
  @Relationship(deleteRule: .cascade, inverse: \Mooring.pier) var moorings: [Mooring] = []
  init(_ code: String) { self.code = code }
}

@Model private final class Mooring {
  var place: Int
  var pier: Pier
  init(_ place: Int, in pier: Pier) { (self.place, self.pier) = (place, pier) }
}
