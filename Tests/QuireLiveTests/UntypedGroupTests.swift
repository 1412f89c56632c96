import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Any value at all, as the column has it.
private struct Mark: StoredValue, Hashable {
  let value: Value
  init(_ value: Value) { self.value = value }
  static var _columnType: _Quire.ColumnType { .any }
  static func _read<Source: _Quire.ColumnSource & ~Copyable>(from source: borrowing Source, at index: Int32)
    throws(ValueError) -> Mark
  {
    Mark(source.value(index))
  }
  func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32) throws(ValueError) {
    sink.bind(value, at: index)
  }
}

@Model private final class Marked {
  var mark: Mark
  var size = 0
  init(_ mark: Mark) { self.mark = mark }
}

/// Groups by a column without a type, in which 1 and 1.0 are two values and equal.
@MainActor @Suite(.fewOnMainActor) struct UntypedGroupTests {
  private static let marks = [
    "1", "1.0", "'1'", "x'31'", "2.5", "-0.0", "0", "9007199254740993", "9007199254740992.0", "9007199254740992",
    "1e300", "9e999", "'a'", "'A'", "-9223372036854775808", "-9.223372036854775808e18",
  ]

  @Test(arguments: [1, 2, 3, extraSeed])
  func `what SQL finds equal is one group`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let store = try ModelContainer(for: Marked.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store, isolation: nil)
    for mark in Self.marks {
      try store.execute(SQL(verbatim: "INSERT INTO marked (mark, size) VALUES (\(mark), 1)"))
    }
    try context.refresh()
    let groups = try context.liveGroups(Marked.self, by: \.mark, .count, .max(\.size))
    let start = groups.queriesRun
    for step in 0..<60 {
      let (mark, key, size) = (random.pick(Self.marks), 1 + random.below(20), random.below(9))
      let statement = random.pick([
        "INSERT INTO marked (mark, size) VALUES (\(mark), \(size))",
        "UPDATE marked SET mark = \(mark) WHERE id = \(key)",
        "UPDATE marked SET size = \(size) WHERE id = \(key)", "DELETE FROM marked WHERE id = \(key + 5)",
      ])
      try store.execute(SQL(verbatim: statement))
      try context.refresh()
      let fresh = try store.query("SELECT count(*), max(size) FROM marked GROUP BY mark ORDER BY mark").map(\.values)
      let shown = groups.map { [Value.integer(Int64($0.values.0)), .integer(Int64($0.values.1 ?? -1))] }
      #expect(shown == fresh, "seed \(seed), step \(step)")
      #expect(Set(groups.map(\.key)).count == groups.count)
    }
    #expect(groups.timesFilled == 1 && groups.queriesRun - start < 60)
  }
}
