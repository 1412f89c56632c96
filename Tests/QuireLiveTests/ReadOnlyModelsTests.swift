import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireModel

@Model(table: "orders") final class ReadOrder {
  @Attribute(.unique) var code: String
  var net: Int
  var gross: Int
  var folded: String
  var note: String?
  @Relationship(deleteRule: .cascade, inverse: \ReadLine.order) var lines: [ReadLine] = []
  init(code: String, net: Int, gross: Int, folded: String) {
    (self.code, self.net, self.gross, self.folded) = (code, net, gross, folded)
  }
}

@Model(table: "lines") final class ReadLine {
  var amount: Int
  var order: ReadOrder?
  init(amount: Int) { self.amount = amount }
}

/// A store that only reads another program's file needs what its models read, and nothing that only saves rest on.
@MainActor @Suite(.fewOnMainActor) struct ReadOnlyModelsTests {
  private let scratch: Scratch
  private let other: Connection

  init() throws {
    scratch = try Scratch()
    other = try Connection(path: scratch.file(), access: .create)
    try other.execute("PRAGMA journal_mode = WAL")
    try other.execute(
      """
      CREATE TABLE orders (
        id INTEGER PRIMARY KEY, code VARCHAR(20) NOT NULL, net INTEGER NOT NULL,
        gross INTEGER NOT NULL AS (net * 120 / 100) VIRTUAL, folded TEXT GENERATED ALWAYS AS (lower(code)) STORED,
        note TEXT NOT NULL, place TEXT NOT NULL);
      CREATE TABLE lines (
        id INTEGER PRIMARY KEY, amount INTEGER NOT NULL,
        order_id INTEGER REFERENCES orders (id) ON DELETE SET NULL);
      INSERT INTO orders (code, net, note, place) VALUES ('A', 100, '', 'Brno'), ('B', 200, '', 'Brno');
      INSERT INTO lines (amount, order_id) VALUES (1, 1), (2, 1), (3, 2)
      """)
  }

  private func open(allowsSave: Bool) throws -> ModelContainer {
    try ModelContainer(
      for: ReadOrder.self, ReadLine.self,
      configurations: ModelConfiguration(url: URL(filePath: scratch.file()), allowsSave: allowsSave))
  }

  @Test func `what only writing needs is asked of a store that writes alone`() throws {
    let error = #expect(throws: SchemaError.self) { try open(allowsSave: true) }
    #expect(
      error?.differences == [
        "orders.gross is generated, and models write all columns they have: make ReadOrder.gross a computed property",
        "orders.folded is generated, and models write all columns they have: make ReadOrder.folded a computed property",
        "orders.note is NOT NULL and ReadOrder.note is optional",
        "orders.code is not UNIQUE in the file, and ReadOrder says it is",
        "orders.place must have a value and no property of ReadOrder gives it one",
        "lines.order_id has ON DELETE SET NULL in the file, and the delete rule of ReadOrder.lines is .cascade",
      ])
    let store = try open(allowsSave: false)
    let orders = try store.mainContext.fetch(
      FetchDescriptor<ReadOrder>(predicate: #Predicate { $0.gross > 120 || $0.folded == "a" }))
    #expect(orders.map(\.gross).sorted() == [120, 240] && orders.flatMap(\.lines).count == 3)
  }

  /// Of the columns that SQLite computes none is in what it tells of a change.
  @Test(arguments: [false, true]) func `columns that SQLite computes are followed`(logged: Bool) async throws {
    if logged {
      var configuration = DatabaseConfiguration(.file(scratch.file()))
      configuration.changeLog = .on()
      try Database(configuration).close()
    }
    let store = try open(allowsSave: false)
    let context = ModelContext(store, isolation: nil)
    let dear = try context.live(
      ReadOrder.self, where: #Predicate { $0.gross >= 240 },
      sortBy: [SortDescriptor(\.gross), SortDescriptor(\.folded)])
    let sum = try context.liveSum(\ReadOrder.gross)
    let groups = try context.liveGroups(ReadOrder.self, by: \.folded, .count)
    let held = try context.fetch(FetchDescriptor<ReadOrder>(sortBy: [SortDescriptor(\.code)]))
    #expect(dear.map(\.folded) == ["b"] && sum.value == 360 && groups.count == 2)
    try other.execute("UPDATE orders SET net = 300, code = 'C' WHERE code = 'A'")
    try context.refresh()
    #expect(dear.map(\.folded) == ["b", "c"] && sum.value == 600)
    #expect(held.map(\.gross) == [360, 240] && held.map(\.folded) == ["c", "b"])
    #expect(groups.map(\.key).sorted() == ["b", "c"])
    try other.execute("INSERT INTO orders (code, net, note, place) VALUES ('B', 250, '', '')")
    try other.execute("DELETE FROM orders WHERE code = 'C'")
    try context.refresh()
    #expect(dear.map(\.gross) == [240, 300] && sum.value == 540 && held[0].isDeleted)
    #expect(groups.map(\.key) == ["b"])
  }
}
