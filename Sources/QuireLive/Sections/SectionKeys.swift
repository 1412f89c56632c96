import QuireRow

/// The keys of an ordered result by section: the ranges in which one value, the section's name, is equal.
///
/// A pure value; names are as stored in the file.
struct SectionKeys {
  struct Section {
    let name: Value
    var keys: [Int64]
  }

  let ascending: Bool
  private(set) var sections: [Section] = []
  /// The index of each section's first row in the whole result.
  private var starts: [Int] = []

  /// The effect of a step on the sections: which range of them becomes which.
  struct Change {
    var before = 0..<0
    var after: [Section] = []
    /// Old indices of removed sections, new indices of inserted ones; of sections with changed rows, both.
    var deleted: [Int] = []
    var inserted: [Int] = []
    var changed: [(from: Int, to: Int)] = []
  }

  init(ascending: Bool) { self.ascending = ascending }

  var count: Int { starts.last.map { $0 + (sections.last?.keys.count ?? 0) } ?? 0 }

  /// The section and row of an index in the whole result.
  func place(of index: Int) -> (section: Int, row: Int) {
    let section = section(of: index)
    return (section, index - starts[section])
  }

  private func section(of index: Int) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= index { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// The change of the sections if a range of the result is replaced by these rows, each with its section's name.
  ///
  /// - Complexity: As many rows as are in the range, in the sections at its ends, and in the replacement.
  func change(replacing range: Range<Int>, with rows: [(name: Value, key: Int64)]) -> Change {
    var change = Change()
    // A row inserted at the end of a section has the index of the next one's first row, so that section is checked too.
    let first = range.lowerBound > 0 ? section(of: range.lowerBound - 1) : 0
    let last = range.upperBound < count ? section(of: range.upperBound) : sections.count - 1
    change.before = first..<Swift.max(first, last + 1)
    func add(_ keys: some Sequence<Int64>, _ name: Value) {
      if change.after.last?.name.compare(to: name) == 0 {
        change.after[change.after.count - 1].keys += keys
      } else {
        change.after.append(Section(name: name, keys: Array(keys)))
      }
    }
    if range.lowerBound > 0 {
      add(sections[first].keys.prefix(range.lowerBound - starts[first]), sections[first].name)
    }
    for row in rows { add(CollectionOfOne(row.key), row.name) }
    if range.upperBound < count {
      add(sections[last].keys.dropFirst(range.upperBound - starts[last]), sections[last].name)
    }
    compare(into: &change)
    return change
  }

  private func compare(into change: inout Change) {
    var (from, to) = (change.before.lowerBound, 0)
    while from < change.before.upperBound || to < change.after.count {
      let index = change.before.lowerBound + to
      let order: Int
      if from == change.before.upperBound {
        order = 1
      } else if to == change.after.count {
        order = -1
      } else {
        let names = sections[from].name.compare(to: change.after[to].name)
        order = ascending ? names : -names
      }
      if order < 0 {
        change.deleted.append(from)
      } else if order > 0 {
        change.inserted.append(index)
      } else if sections[from].keys != change.after[to].keys {
        change.changed.append((from, index))
      }
      if order <= 0 { from += 1 }
      if order >= 0 { to += 1 }
    }
  }

  mutating func apply(_ change: Change) {
    sections.replaceSubrange(change.before, with: change.after)
    starts.removeSubrange(change.before.lowerBound...)
    var start = change.before.lowerBound > 0 ? starts[change.before.lowerBound - 1] : 0
    if change.before.lowerBound > 0 { start += sections[change.before.lowerBound - 1].keys.count }
    for section in sections[change.before.lowerBound...] {
      starts.append(start)
      start += section.keys.count
    }
  }
}
