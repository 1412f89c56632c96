import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireSQLite

/// Kept values and the latest of a sequence, beside what the observation contract says of them.
@MainActor @Suite(.fewOnMainActor) struct TruthTests {
  private func settle(_ condition: () -> Bool) async throws {
    for _ in 0..<20_000 where !condition() { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test func `a kept value that is no longer readable stays, says so, and follows again`() throws {
    let store = try makeStore()
    let context = ModelContext(store)
    let size = try context.setting("pageSize", default: 20)
    try size.set(50)
    try store.execute("UPDATE kept_value SET value = '\"many\"'")
    try context.refresh()
    #expect(size.value == 50 && size.error != nil)
    try store.execute("UPDATE kept_value SET value = '7'")
    try context.refresh()
    #expect(size.value == 7 && size.error == nil)
    try store.execute("DELETE FROM kept_value")
    try context.refresh()
    #expect(size.value == 20)
  }

  @Test func `an assignment that fails is an error of the value and a warning of the store`() throws {
    let store = try makeStore()
    let size = try ModelContext(store).setting("pageSize", default: 20)
    size.value = 50
    try store.execute(
      "CREATE TRIGGER kept BEFORE UPDATE ON kept_value BEGIN SELECT RAISE(ABORT, 'it is kept as it is'); END")
    let warnings = Locked<[StoreWarning]>([])
    let observation = store.observeWarnings { warning in warnings.withLock { $0.append(warning) } }
    size.value = 60
    let warning = try #require(warnings.withLock { $0.first })
    #expect(warning.kind == .liveResult && size.error.map { warning.description.hasSuffix("\($0)") } == true)
    #expect(
      warning.description.hasPrefix("the setting ‘pageSize’ keeps its value, because an assignment failed: "),
      "\(warning)")
    #expect(warning.description.contains("it is kept as it is") && size.value == 50)
    try store.execute("DROP TRIGGER kept")
    size.value = 60
    #expect(size.value == 60 && size.error == nil && warnings.withLock { $0.count } == 1)
    observation.cancel()
  }

  @Test func `a kept value asked for with another type is named, with what it holds`() throws {
    let context = ModelContext(try makeStore())
    try context.setting("pageSize", default: 20).set(50)
    let error = #expect(throws: ModelError.self) { try context.setting("pageSize", default: "twenty") }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("the setting ‘pageSize’ holds 50, which is not a value of String"))
  }

  @Test func `a kept value that a transaction assigns twice is the last of them`() throws {
    let store = try makeStore()
    let context = ModelContext(store)
    let size = try context.setting("pageSize", default: 20)
    try context.transaction { size.value = 20 }
    #expect(try store.query("SELECT 1 FROM sqlite_schema WHERE name = 'kept_value'").isEmpty)
    try context.transaction {
      size.value = 50
      size.value = 20
    }
    #expect(size.value == 20)
    try size.set(30)
    try context.transaction {
      size.value = 50
      size.value = 30
    }
    #expect(size.value == 30)
    #expect(try ModelContext(store).setting("pageSize", default: 0).value == 30)
  }

  @Test func `a kept value may hold numbers that JSON has no words for, as a property may`() throws {
    let store = try makeStore()
    let numbers = try ModelContext(store).setting("numbers", default: [1.5])
    try numbers.set([.infinity, -.infinity, .nan])
    let again = try ModelContext(store).setting("numbers", default: [1.5]).value
    #expect(again.count == 3 && again[0] == .infinity && again[1] == -.infinity && again[2].isNaN)
  }

  @Test func `the latest of a sequence ends with its holder, and says what ended the sequence`() async throws {
    struct Failed: Error {}
    let (stream, input) = AsyncThrowingStream.makeStream(of: Int.self)
    let ended = Locked(false)
    input.onTermination = { _ in ended.withLock { $0 = true } }
    do {
      let latest = LatestElement(stream, placeholder: 0)
      input.yield(1)
      try await settle { latest.value == 1 }
      #expect(latest.value == 1 && latest.error == nil)
    }
    try await settle { ended.withLock { $0 } }
    #expect(ended.withLock { $0 })
    let (failing, source) = AsyncThrowingStream.makeStream(of: Int.self)
    let latest = LatestElement(failing, placeholder: 0)
    source.yield(7)
    source.finish(throwing: Failed())
    try await settle { latest.error != nil }
    #expect(latest.value == 7 && latest.error is Failed)
  }
}
