public import Foundation
public import Observation
public import QuireModel
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
  private var attendance = Attendance()
  /// What it asks once it goes on, where that was changed during a pause.
  private var awaited: SelectQuery?
  /// Statements of what it asked before.
  private var earlierQueries = 0
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
    var asksOther = false
  }

  init(_ context: ModelContext, _ query: AggregateQuery, _ form: GroupForm<Key, Values>) throws {
    self.context = context
    self.form = form
    let owner = context.owner
    self.owner = owner
    var tracker = AggregateTracker(query.select, query.aggregates, by: query.group, ofReals: form.groupsReals)
    try owner.readCommitted { try tracker.fill(on: $0) }
    var list = GroupList(form)
    _ = try list.take(Set(tracker.groups.keys), of: tracker)
    shown = Array(list.entries.prefix(form.limit))
    self.list = list
    self.tracker = tracker
    follow()
    try owner.tellIfSlow(tracker.explanation)
  }

  private func follow() {
    let interests = owner.store.map { [tracker] in tracker.columns.interests(in: $0.database) } ?? []
    attendance.begin(self, in: owner, wanting: interests)
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
  public var commitNumber: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }
  /// How many statements it has run since it was made.
  public var queriesRun: Int { earlierQueries + tracker.queriesRun }
  var timesFilled: Int { tracker.timesFilled }
  /// For tests: makes it wrong.
  func injectFault() { tracker.forgetsPaths = true }

  /// Calls `body` after each move that changed the rows, with what changed, by index, old and new; see ``Difference``.
  /// Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Element>) -> Void) -> DifferenceToken {
    listeners.add(body)
  }
}

// MARK: Asking something else, and pausing

extension LiveGroups {
  /// Groups other rows of its model from now on: observers hear of the difference at once, at the commit the context
  /// stands at. While the result is paused, it shows when that goes on.
  ///
  /// - Throws: as the fetch does; then nothing has changed.
  public func retarget<Model: PersistentModel>(where predicate: Predicate<Model>?) throws {
    try owner.following.settleThrowing()
    let select = try tracker.select.retargeted(Model.self, where: predicate, in: owner)
    if isPaused {
      awaited = select
    } else {
      try prepare(asking: select)
      owner.following.take(self)
    }
  }

  public var isPaused: Bool { attendance.isPaused }

  /// Stops following: the groups and their commit number stay what they are, and commits cost nothing.
  public func pause() {
    owner.following.finishAnnouncing()
    if !isPaused { attendance.pause(self, in: owner, at: commitNumber) }
  }

  /// Goes on: one difference leads from what it showed to the present. Costs what making it did.
  ///
  /// - Throws: as the fetch does; then it is paused still.
  public func resume() throws {
    guard try owner.settle(toResume: isPaused) else { return }
    try prepare(asking: awaited ?? tracker.select)
    awaited = nil
    owner.following.take(self)
  }

  private func prepare(asking select: SelectQuery) throws {
    let queries = queriesRun
    var tracker = AggregateTracker(select, tracker.aggregates, by: tracker.group, ofReals: form.groupsReals)
    try owner.readCommitted { try tracker.fill(on: $0) }
    var list = list
    list.isStale = true
    let taken = try list.take([], of: tracker)
    var step = Step(number: owner.position.number)
    let before = self.list.entries.count
    (self.tracker, self.list, earlierQueries) = (tracker, list, queries)
    compare(taken, before, into: &step)
    step.asksOther = true
    next = step
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
      step.error = owner.explained(error)
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
    if step.asksOther { follow() }
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
      old.lazy.filter { touched.contains($0.id) }.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }
    )
    for (place, entry) in zip(new.indices, new) {
      guard let was = known[entry.id], !others.contains(entry.id), !list.areIdentical(was, entry) else { continue }
      step.changes.append(.update(at: place, old: was.row, new: entry.row))
    }
  }
}
