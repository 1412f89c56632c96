import QuireModel
import QuireRow
import QuireSQLite

/// The groups of rows with their aggregates, in order. Shows the first of them, and tracks the sums of all.
///
/// A group that cannot be shown, such as one with a sum beyond `Int`, is an error of the whole result until it fits
/// again.
final class GroupsOperator<Key, Values>: LiveOperator {
  typealias Element = GroupRow<Key, Values>
  private let form: GroupForm<Key, Values>
  private(set) var tracker: AggregateTracker
  /// All groups that may be shown, in order; with a limit the first of them are shown.
  private var list: GroupList
  private var shown: [GroupEntry] = []
  var sourcesChanged = false

  init(_ query: AggregateQuery, _ form: GroupForm<Key, Values>) {
    self.form = form
    tracker = AggregateTracker(query.select, query.aggregates, by: query.group, ofReals: form.groupsReals)
    list = GroupList(form.maker, of: query)
  }

  var count: Int { shown.count }
  subscript(place: Int) -> Element { form.row(shown[place]) }

  var tables: [String] { tracker.tables }
  var filters: [ChangeFilter] { tracker.filters }
  func interests(in database: Database) -> [CaptureToken] { tracker.columns.interests(in: database) }
  var queriesRun: Int { tracker.queriesRun }
  func explanation(on connection: Connection) throws -> LiveExplanation { try tracker.explanation(on: connection) }

  func load(_ query: SelectQuery, _ occasion: LoadOccasion, on connection: Connection) throws -> GroupsDelta {
    let tracker = try tracker.loaded(query, on: connection)
    var list = list
    list.isStale = true
    let taken = try list.take([], of: tracker)
    if occasion.isStart {
      return GroupsDelta(entries: Array(list.entries.prefix(form.limit)), loaded: (tracker, list))
    }
    let delta = compare(taken, self.list.entries.count, list)
    delta.loaded = (tracker, list)
    return delta
  }

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<GroupsDelta> {
    guard let touched = try tracker.step(batch, on: connection) else { return .unchanged }
    let before = list.entries.count
    let taken: GroupList.Taken
    do {
      taken = try list.take(touched, of: tracker)
    } catch {
      return .failed(error)
    }
    return .changed(taken.isWhole || taken.changesOrder ? compare(taken, before, list) : replacing(taken.kept))
  }

  func apply(_ delta: GroupsDelta) {
    shown.replaceSubrange(delta.replaced, with: delta.entries)
    for (at, entry) in delta.updates { shown[at] = entry }
    guard let loaded = delta.loaded else { return }
    (tracker, list) = loaded
    sourcesChanged = true
  }

  func difference(_ delta: GroupsDelta, commit: Int64) -> Difference<Element>? {
    delta.changes.isEmpty ? nil : Difference(commit: commit, changes: delta.changes).map(form.row)
  }

  /// Entries with changed values and unchanged positions: costs only these entries, not those in between.
  private func replacing(_ places: [Int]) -> GroupsDelta {
    let delta = GroupsDelta()
    for place in places.sorted() where place < shown.count {
      let entry = list.entries[place]
      delta.updates.append((place, entry))
      delta.changes.append(.update(at: place, old: shown[place], new: entry))
    }
    return delta
  }

  /// The delta from what is shown to the first entries of a changed list.
  private func compare(
    _ taken: GroupList.Taken, _ before: Int, _ list: GroupList
  ) -> GroupsDelta {
    let delta = GroupsDelta()
    let after = list.entries.count
    var touched = taken.touched
    if taken.isWhole { touched.formUnion((shown + list.entries).map(\.id)) }
    let count = Swift.min(after, form.limit)
    let start = Swift.min(taken.start, shown.count, count)
    var end =
      before == after
      ? Swift.max(0, taken.end - (after - count)) : after > count || before > shown.count ? 0 : taken.end
    end = Swift.min(end, shown.count - start, count - start)
    let old = shown[start..<shown.count - end]
    let new = list.entries[start..<count - end]
    delta.replaced = start..<shown.count - end
    delta.entries = Array(new)
    if old.isEmpty, new.isEmpty { return delta }
    let keys = KeyDifference.between(
      old.map(\.id)[...], new.map(\.id)[...], touched: touched, base: start)
    for (_, at) in keys.deletes { delta.changes.append(.delete(at: at, old: shown[at])) }
    for (_, from, to) in keys.moves {
      delta.changes.append(.move(from: from, to: to, old: shown[from], new: list.entries[to]))
    }
    for (_, at) in keys.inserts { delta.changes.append(.insert(at: at, new: list.entries[at])) }
    let others = Set(keys.moves.map(\.key))
    let known = Dictionary(
      old.lazy.filter { touched.contains($0.id) }.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }
    )
    for (place, entry) in zip(new.indices, new) {
      guard let was = known[entry.id], !others.contains(entry.id), !list.areIdentical(was, entry) else { continue }
      delta.changes.append(.update(at: place, old: was, new: entry))
    }
    return delta
  }
}

/// The step of a grouped result. Its rows are entries, whose types only the result knows.
final class GroupsDelta: LiveDelta {
  var replaced = 0..<0
  var entries: [GroupEntry] = []
  /// If nothing else changed: replacements of entries, by position.
  var updates: [(at: Int, entry: GroupEntry)] = []
  var changes: [Difference<GroupEntry>.Change] = []
  /// The operator's new state, if it was loaded.
  var loaded: (tracker: AggregateTracker, list: GroupList)?
  var isEmpty: Bool { changes.isEmpty && loaded == nil }
  var changesContent: Bool { !changes.isEmpty }

  init(entries: [GroupEntry] = [], loaded: (tracker: AggregateTracker, list: GroupList)? = nil) {
    self.entries = entries
    self.loaded = loaded
  }
}
