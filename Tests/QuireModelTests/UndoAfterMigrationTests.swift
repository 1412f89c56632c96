import Quire
import TestSupport
import Testing

/// Saves that are undone after a migration has added columns, in which the program's next version writes meanwhile.
@Suite(.fewAtOnce) struct UndoAfterMigrationTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Solaris", "Eden"]])
    context = ModelContext(store)
    context.undoManager = UndoManager()
  }

  private func ratings() throws -> [[Value]] {
    try store.query("SELECT title, rating FROM volume ORDER BY title").map(\.values)
  }

  @Test(arguments: [
    "INTEGER NOT NULL DEFAULT 5", "TEXT DEFAULT '5'", "INTEGER DEFAULT '5'", "INTEGER", "BLOB DEFAULT x'05'",
  ])
  func `an inserted row is not removed once a newer column has a value`(declaration: String) throws {
    context.insert(Volume("Fiasco", writer: try context.writer("Lem")))
    try context.save()
    try store.execute(SQL(verbatim: "ALTER TABLE volume ADD COLUMN rating \(declaration)"))
    let before = try ratings()
    try store.execute("UPDATE volume SET rating = x'09' WHERE title = 'Fiasco' AND typeof(rating) = 'blob'")
    try store.execute("UPDATE volume SET rating = 9 WHERE title = 'Fiasco' AND typeof(rating) <> 'blob'")
    let rated = try ratings()
    #expect(rated != before)
    let error = #expect(throws: ModelError.self) { try context.undo() }
    #expect(error.map { "\($0)" }?.contains("has been changed since (rating)") == true)
    #expect(try ratings() == rated)
    // As the column had it, nothing is lost.
    try store.execute(SQL(verbatim: "UPDATE volume SET rating = (SELECT rating FROM volume WHERE title = 'Eden')"))
    try context.undo()
    #expect(try ratings().count == 2)
    try context.redo()
    #expect(try ratings() == before)
  }

  @Test func `what a changed row has in a newer column stays`() throws {
    let eden = try context.volume("Eden")
    eden.price = 9
    try context.save()
    try store.execute("ALTER TABLE volume ADD COLUMN rating INTEGER NOT NULL DEFAULT 5")
    try store.execute("UPDATE volume SET rating = 9")
    try context.undo()
    #expect(try context.volume("Eden").price != 9)
    #expect(try ratings().map(\.last) == [9, 9])
  }
}
