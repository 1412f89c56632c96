/// Makes the lists of several objects from the rows of a statement: one list after the other, in the order of the objects.
struct ListRows {
  /// The lists before the one of the last row, those without a row, too.
  private(set) var complete: [Int64: [Int64]] = [:]
  private(set) var rows = 0
  /// The objects behind the one whose list has the last row.
  private var waiting: ArraySlice<Int64>
  private var parent: Int64?
  private var list: [Int64] = []

  init(of keys: [Int64]) { waiting = keys[...] }

  /// Notes whose list has the next row.
  mutating func begin(_ next: Int64) {
    if next == parent { return }
    end()
    while let key = waiting.popFirst(), key != next { complete[key] = [] }
    parent = next
  }

  mutating func add(_ key: Int64) {
    list.append(key)
    rows += 1
  }

  private mutating func end() {
    guard let parent else { return }
    list.sort()
    complete[parent] = list
    list = []
  }

  /// The lists of all objects, once the last row has been added.
  mutating func finish() -> [Int64: [Int64]] {
    end()
    for key in waiting { complete[key] = [] }
    return complete
  }
}
