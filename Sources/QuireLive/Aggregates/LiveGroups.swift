public import Observation
package import QuireModel
import QuireRow
package import QuireSQLite

/// The groups of a model's rows with their aggregates, as a collection that follows its rows.
///
///     let years = try context.liveGroups(Book.self, by: \.year, .count, .average(\.rating))
///     let token = observe { for year in years { print(year.key, year.values.0, year.values.1 ?? 0) } }
///
/// Always what the same grouping of the committed rows would give: a group is there as long as it has a row. A commit
/// costs what it changed: rows are taken from their group and added to another by their captured values, and statements
/// are run only as for ``LiveValue``. Who reads the collection is woken when any row of it changed. Kept as long as
/// somebody holds it; confined to its context's isolation.
public final class LiveGroups<Key, Values>: Observable, RandomAccessCollection {
  public typealias Element = GroupRow<Key, Values>

  let owner: Owner
  private let context: ModelContext
  private let form: GroupForm<Key, Values>
  private(set) var tracker: AggregateTracker
  private let interests: [InterestToken]
  private let registrar = ObservationRegistrar()
  private let rowsPath: KeyPath<LiveGroups, Int> = \.endIndex
  /// All groups that may be shown, in order; a limit shows the first of them.
  private var list: GroupList<Key, Values>
  private var shown: [GroupList<Key, Values>.Entry]
  private var next: Step?
  private var told: Step?
  private var failedAt: Int64?
  private let listeners = DifferenceListeners<Difference<Element>>()
  /// Why it could not follow the last commit, such as a sum beyond `Int`; nil while it does. The rows stay what they
  /// were until it can.
  public private(set) var error: (any Error)?

  private struct Step {
    var number: Int64
    var replaced = 0..<0
    var entries: [GroupList<Key, Values>.Entry] = []
    /// Where all else stays as it was: what is shown in whose place.
    var updates: [(at: Int, entry: GroupList<Key, Values>.Entry)] = []
    var changes: [Difference<Element>.Change] = []
    var error: (any Error)?
  }

  init(_ context: ModelContext, _ query: AggregateQuery, _ form: GroupForm<Key, Values>) throws {
    self.context = context
    self.form = form
    let owner = context.owner
    self.owner = owner
    var tracker = AggregateTracker(query.select, query.aggregates, by: query.group, ofReals: form.groupsReals)
    interests = owner.store.map { tracker.columns.interests(in: $0.database) } ?? []
    try owner.read { try tracker.fill(on: $0) }
    var list = GroupList(form)
    _ = try list.take(Set(tracker.groups.keys), of: tracker)
    shown = Array(list.entries.prefix(form.limit))
    self.list = list
    self.tracker = tracker
    owner.participants.add(self)
    try owner.tellIfSlow(tracker.explanation)
  }

  // MARK: Reading

  public var startIndex: Int { 0 }
  public var endIndex: Int {
    registrar.access(self, keyPath: rowsPath)
    return shown.count
  }
  public subscript(index: Int) -> Element {
    registrar.access(self, keyPath: rowsPath)
    return shown[index].row
  }

  /// The commit the rows stand at.
  public var commitNumber: Int64 { failedAt ?? owner.position.number }
  /// How many statements it has run since it was made.
  public var queriesRun: Int { tracker.queriesRun }
  var timesFilled: Int { tracker.timesFilled }
  /// For tests: makes it wrong.
  func injectFault() { tracker.forgetsPaths = true }

  /// Calls `body` after each move that changed the rows, with what changed, by index, old and new; see ``Difference``.
  /// Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Element>) -> Void) -> DifferenceToken {
    listeners.add(body)
  }
}

extension LiveGroups: Participant {
  package var tables: [String] {
    tracker.select.tables.union(tracker.columns.reached.compactMap { $0.steps.last?.table }).sorted()
  }
  package var concerns: [Concern] { tracker.concerns }
  package var isFollowing: Bool { error == nil }

  package func prepare(_ news: News, on connection: Connection) -> Bool {
    var step = Step(number: news.number)
    do {
      guard let touched = try tracker.step(news, on: connection) else { return false }
      let before = list.entries.count
      let taken = try list.take(touched, of: tracker)
      if taken.isWhole || taken.changesOrder {
        compare(taken, before, into: &step)
      } else {
        replace(taken.kept, into: &step)
      }
      if step.changes.isEmpty, error == nil { return false }
    } catch {
      list.isStale = true
      step.error = error
    }
    next = step
    return true
  }

  package func announce() {
    if let next, !next.changes.isEmpty { registrar.willSet(self, keyPath: rowsPath) }
  }

  package func apply() {
    guard let step = next else { return }
    next = nil
    shown.replaceSubrange(step.replaced, with: step.entries)
    for (at, entry) in step.updates { shown[at] = entry }
    failedAt = step.error == nil ? nil : failedAt ?? owner.position.number
    error = step.error
    told = step
  }

  package func tell() {
    guard let step = told else { return }
    told = nil
    if step.changes.isEmpty { return }
    registrar.didSet(self, keyPath: rowsPath)
    listeners.tell(Difference(commit: step.number, changes: step.changes))
  }

  /// Entries that have other values and stand where they did: costs what they are, not what lies between them.
  private func replace(_ places: [Int], into step: inout Step) {
    for place in places.sorted() where place < shown.count {
      let entry = list.entries[place]
      step.updates.append((place, entry))
      step.changes.append(.update(at: place, old: shown[place].row, new: entry.row))
    }
  }

  /// What is shown against what will be, where the list is not as it was.
  private func compare(_ taken: GroupList<Key, Values>.Taken, _ before: Int, into step: inout Step) {
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
    step.replaced = start..<shown.count - end
    step.entries = Array(new)
    if old.isEmpty, new.isEmpty { return }
    let keys = KeyDifference.between(
      old.map(\.id)[...], new.map(\.id)[...], touched: touched, base: start)
    func row(before at: Int) -> Element { shown[at].row }
    func row(after at: Int) -> Element { list.entries[at].row }
    for (_, at) in keys.deletes { step.changes.append(.delete(at: at, old: row(before: at))) }
    for (_, from, to) in keys.moves {
      step.changes.append(.move(from: from, to: to, old: row(before: from), new: row(after: to)))
    }
    for (_, at) in keys.inserts { step.changes.append(.insert(at: at, new: row(after: at))) }
    let others = Set(keys.moves.map(\.key))
    let known = Dictionary(
      old.lazy.filter { touched.contains($0.id) }.map { ($0.id, $0.row) }, uniquingKeysWith: { first, _ in first }
    )
    for (place, entry) in zip(new.indices, new) {
      guard let row = known[entry.id], !others.contains(entry.id), !form.areSame(row.values, entry.row.values) else {
        continue
      }
      step.changes.append(.update(at: place, old: row, new: entry.row))
    }
  }
}
