import CSQLite
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// What contexts leave behind in a store that lives on: nothing.
@Suite(.fewAtOnce) struct ShortLivedContextTests {
  /// What SQLite holds after some contexts, and after many more: in a process of its own, because SQLite counts for all
  /// of them together.
  private static func expectNoGrowth(contexts count: Int) throws {
    let store = try store(["Lem": ["Eden", "Solaris", "Fiasko"]])
    func visit(_ number: Int) throws {
      let context = ModelContext(store, isolation: nil)
      let volume = try #require(context.model(Volume.self, key: 1))
      volume.title = "title \(number)"
      if number % 2 == 0 { volume.price += 1 }
      if number % 3 == 0 { volume.isIn.toggle() }
      try context.save()
      if number % 10 != 0 { return }
      let live = try context.live(Volume.self, where: #Predicate { $0.price > 1 }, sortBy: [SortDescriptor(\.title)])
      #expect(live.count <= 3 && volume.writer?.volumes.count == 3)
      let extra = Volume("extra", writer: volume.writer)
      context.insert(extra)
      try context.save()
      context.delete(extra)
      try context.save()
    }
    for number in 0..<200 { try visit(number) }
    let before = sqlite3_memory_used()
    for number in 0..<count { try visit(number) }
    let grown = sqlite3_memory_used() - before
    #expect(grown < 100_000, "SQLite holds \(grown) bytes more than before")
  }

  @Test func `contexts that save and go leave no statements behind`() async {
    await #expect(processExitsWith: .success) { try ShortLivedContextTests.expectNoGrowth(contexts: 1000) }
  }

  @Test(.enabled(if: isSoaking)) func `not after a hundred thousand of them either`() async {
    await #expect(processExitsWith: .success) { try ShortLivedContextTests.expectNoGrowth(contexts: 100_000) }
  }
}
