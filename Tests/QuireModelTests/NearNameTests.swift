import Quire
import Testing

/// What is said of names in SQL that are not there.
@Suite struct NearNameTests {
  @Model final class Trip {
    var name = ""
    init() {}
  }

  @Test func `a name that is not there is answered with the one that was meant`() throws {
    let store = try ModelContainer(for: Trip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let error = #expect(throws: SQLiteError.self) { try store.query("SELECT nam FROM trip") }
    #expect("\(error.map { "\($0)" } ?? "")".hasSuffix("in: SELECT nam FROM trip. Did you mean name?"))
    let other = #expect(throws: SQLiteError.self) {
      try store.writeSQL { try $0.execute("INSERT INTO tripp (name) VALUES ('x')") }
    }
    #expect("\(other.map { "\($0)" } ?? "")".hasSuffix("Did you mean trip?"))
    let none = #expect(throws: SQLiteError.self) { try store.query("SELECT abcdef FROM trip") }
    #expect("\(none.map { "\($0)" } ?? "")".hasSuffix("in: SELECT abcdef FROM trip"))
  }

  @Test func `a context's fetches and live results in SQL name it, too`() throws {
    let store = try ModelContainer(for: Trip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    func expectHint(_ body: () throws -> Void) {
      let error = #expect(throws: SQLiteError.self) { try body() }
      #expect("\(error.map { "\($0)" } ?? "")".hasSuffix("in: SELECT nam FROM trip. Did you mean name?"))
    }
    expectHint { _ = try context.fetch(sql: "SELECT nam FROM trip") }
    expectHint { _ = try context.fetch(String.self, sql: "SELECT nam FROM trip") }
    expectHint { _ = try context.fetch(Trip.self, sql: "SELECT nam FROM trip") }
    expectHint { _ = try context.live(sql: "SELECT nam FROM trip") }
    expectHint { _ = try context.explainLive(sql: "SELECT nam FROM trip") }
    #expect(try context.fetch(String.self, sql: "SELECT name FROM trip").isEmpty)
  }
}
