import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Differences of two answers: they lead from the one to the other, and say no more than they must.
@Suite(.fewAtOnce) struct RecordDifferenceTests {
  private static let names = ColumnNames(["id", "a"])

  private func records(_ rows: [(Int64, Int64)]) -> [Record] {
    rows.map { Record(values: [.integer($0), .integer($1)], names: Self.names) }
  }

  private func told(_ old: [(Int64, Int64)], _ new: [(Int64, Int64)], keyed: Bool) -> [String] {
    RecordDifference.changes(from: records(old), to: records(new), keys: keyed ? ([0], [0]) : nil).map { change in
      func text(_ record: Record) -> String { record.values.map { "\($0)" }.joined(separator: ",") }
      return switch change {
      case .insert(let at, let new): "+\(at) \(text(new))"
      case .delete(let at, let old): "-\(at) \(text(old))"
      case .move(let from, let to, let old, let new): ">\(from) \(to) \(text(old)) \(text(new))"
      case .update(let at, let old, let new): "~\(at) \(text(old)) \(text(new))"
      }
    }
  }

  @Test func `equal answers differ in nothing`() {
    #expect(told([(1, 1), (2, 2)], [(1, 1), (2, 2)], keyed: false).isEmpty)
    #expect(told([], [], keyed: true).isEmpty)
  }

  @Test func `a row in another's place between the same rows is that row changed`() {
    #expect(told([(1, 1), (2, 2), (3, 3)], [(1, 1), (2, 5), (3, 3)], keyed: false) == ["~1 2,2 2,5"])
    #expect(told([(1, 1), (2, 2)], [(3, 3), (4, 4)], keyed: false) == ["~0 1,1 3,3", "~1 2,2 4,4"])
    // As many as came did not leave: nothing says which is which.
    #expect(told([(1, 1), (2, 2)], [(3, 3)], keyed: false) == ["-0 1,1", "-1 2,2", "+0 3,3"])
  }

  @Test func `with a key a row is known when its values and its place are others`() {
    #expect(told([(1, 1), (2, 2)], [(2, 9), (1, 1)], keyed: true) == [">1 0 2,2 2,9"])
    #expect(told([(1, 1), (2, 2)], [(3, 1), (2, 3)], keyed: true) == ["-0 1,1", "+0 3,1", "~1 2,2 2,3"])
  }

  @Test func `rows that are equal are told apart by their order`() {
    #expect(told([(1, 1), (1, 1)], [(1, 1)], keyed: false) == ["-1 1,1"])
    #expect(told([(1, 1), (1, 2)], [(1, 1), (1, 3)], keyed: true) == ["~1 1,2 1,3"])
    #expect(told([(1, 1)], [(1, 1), (1, 1), (1, 1)], keyed: false) == ["+1 1,1", "+2 1,1"])
  }

  @Test(arguments: 1...300 as ClosedRange<UInt64>)
  func `differences lead from any answer to any other`(seed: UInt64) {
    var random = Random(seed: seed)
    let width = 1 + random.below(4)
    func answer() -> [(Int64, Int64)] {
      (0..<random.below(14)).map { _ in (Int64(random.below(width * 2)), Int64(random.below(2))) }
    }
    let old = records(answer())
    let new = records(answer())
    for keys in [nil, ([0], [0])] as [(old: [Int], new: [Int])?] {
      let changes = RecordDifference.changes(from: old, to: new, keys: keys)
      #expect(replayed(changes, onto: old) == new, "seed \(seed)")
      #expect(changes.isEmpty == (old == new), "seed \(seed)")
    }
  }
}

/// The answer that a difference makes of another; nil where it does not fit it.
func replayed(_ changes: [Difference<Record>.Change], onto old: [Record]) -> [Record]? {
  var result = old
  var leaving: [(at: Int, row: Record)] = []
  var coming: [(at: Int, row: Record)] = []
  var updates: [(at: Int, old: Record, new: Record)] = []
  for change in changes {
    switch change {
    case .insert(let at, let new): coming.append((at, new))
    case .delete(let at, let old): leaving.append((at, old))
    case .move(let from, let to, let old, let new):
      leaving.append((from, old))
      coming.append((to, new))
    case .update(let at, let old, let new): updates.append((at, old, new))
    }
  }
  for (at, row) in leaving.sorted(by: { $0.at > $1.at }) {
    guard result.indices.contains(at), result[at] == row else { return nil }
    result.remove(at: at)
  }
  for (at, row) in coming.sorted(by: { $0.at < $1.at }) {
    guard at <= result.count else { return nil }
    result.insert(row, at: at)
  }
  for (at, old, new) in updates {
    guard result.indices.contains(at), result[at] == old, old != new else { return nil }
    result[at] = new
  }
  return result
}
