public import Foundation
public import Observation
public import QuireModel
public import QuireRow
import QuireSQLite

/// A query whose result follows its rows, in sections: a collection of sections, each a collection of objects.
///
///     let shelf = try context.live(Book.self, sectionBy: \.language, sortBy: [SortDescriptor(\.title)])
///     for section in shelf { print(section.key, section.map(\.title)) }
///
/// Sections are ordered by their keys (nil first, text by its bytes), rows in them as asked for; a section is there as
/// long as it has a row. Who reads this collection depends on which sections there are, who reads a section on its rows:
/// see ``LiveSection``. Limit and offset count rows. Shows what is committed. Costs what a ``LiveQuery`` of that order
/// does, and for each change as much as its section has rows. Kept as long as somebody holds it; confined to its
/// context's isolation.
public final class LiveSections<Model: PersistentModel, Key: StoredValue>: Observable, RandomAccessCollection {
  public typealias Section = LiveSection<Model, Key>
  public typealias Told = SectionDifference<Key, ModelRow<Model>>

  let context: ModelContext
  let owner: Owner
  let entity: Entity
  private let property: PartialKeyPath<Model>
  private let order: SortOrder
  /// What it asks: which rows, in which order within their section, how many. Of the rest of a descriptor nothing counts
  /// here.
  public private(set) var descriptor: FetchDescriptor<Model>
  /// All rows in one order, by section first: taken along by this one.
  let list: LiveList
  var attendance = Attendance()
  var arrangement: SectionKeys
  var sections: [Section] = []
  var next: Step?
  /// Whether everything is to be arranged anew.
  var isStale = false
  var failedAt: Int64?
  /// Why the result could not follow the last commit, and stays what it was until it can; or that a row that was reached
  /// does not decode: see ``LiveQuery/error``. Nil while all is well.
  public var error: (any Error)? { failure ?? owner.fetcher.undecodable(entity, among: list.keys) }
  var failure: (any Error)?

  let registrar = ObservationRegistrar()
  let sectionsPath: KeyPath<LiveSections, [Section]> = \.shown
  let listeners = DifferenceListeners<Told>()
  private var wholeRows = WholeRows()
  lazy var rowForm = ModelRowForm<Model>(entity, of: owner)

  struct Step {
    var number: Int64
    var change = SectionKeys.Change()
    /// The sections that come, with their indices after.
    var inserted: [(at: Int, section: Section)] = []
    /// Those that go or hold other rows, with the rows they will hold.
    var changed: [(section: Section, keys: [Int64])] = []
    var told: [Told.Change] = []
    var error: (any Error)?
    var changesSections: Bool { !inserted.isEmpty || !change.deleted.isEmpty }
  }

  init(
    _ context: ModelContext, _ descriptor: FetchDescriptor<Model>, sectionBy property: KeyPath<Model, Key>,
    order: SortOrder
  ) throws {
    self.context = context
    self.descriptor = descriptor
    self.property = property
    self.order = order
    owner = context.owner
    try owner.following.settleThrowing()
    let query = try ResolvedQuery(
      descriptor, sectionBy: property, ascending: order == .forward, in: try owner.requireStore())
    entity = query.entity
    arrangement = SectionKeys(ascending: order == .forward)
    list = try LiveList(query.select, owner: owner, isPart: true)
    try list.giveObjects(of: entity)
    list.sections = { [weak self] in self?.standings ?? [:] }
    list.toldColumns = { [weak self] in self?.toldColumns }
    let rows = list.keys.map { (list.section(of: $0), $0) }
    let step = try arranged(replacing: 0..<0, with: rows, number: owner.position.number)
    arrangement.apply(step.change)
    sections = step.inserted.map(\.section)
    attendance.begin(self, in: owner, wanting: [])
  }

  // MARK: The collection

  /// What all reads of the collection go through.
  private var shown: [Section] {
    registrar.access(self, keyPath: sectionsPath)
    return sections
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }

  public subscript(index: Int) -> Section { shown[index] }

  /// The commit the result stands at.
  public var commitNumber: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }

  /// How many statements it has run since it was made: one for the start, none for most changes.
  public var queriesRun: Int { list.queriesRun }

  /// Calls `body` after each move that changed the result, with what changed, by section and row, old and new.
  ///
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token. While there are
  /// listeners, commits of the model's table capture whole rows (about 1 µs a row).
  public func onDifference(_ body: @escaping (Told) -> Void) -> DifferenceToken {
    let token = listeners.add(body)
    if !isPaused, wholeRows.want(of: entity.table, in: owner) { owner.following.participants.add(self) }
    list.keepRows()
    return token
  }

  private var toldColumns: ChangedTable? {
    if !listeners.isEmpty { return rowForm.table }
    if wholeRows.letGo(), !isPaused { owner.following.participants.add(self) }
    return nil
  }

  // MARK: Asking something else, and pausing

  /// Asks for other rows from now on, or for them in another order or number; see ``LiveQuery/retarget(_:)-(_)``. The
  /// sections are by the same property.
  ///
  /// - Throws: as `fetch` does; then nothing has changed.
  public func retarget(_ change: (inout FetchDescriptor<Model>) throws -> Void) throws {
    var descriptor = descriptor
    try change(&descriptor)
    try retarget(descriptor)
  }

  /// Asks for other rows, in the same order, as many.
  public func retarget(where predicate: Predicate<Model>?) throws { try retarget { $0.predicate = predicate } }

  public func retarget(_ descriptor: FetchDescriptor<Model>) throws {
    try owner.following.settleThrowing()
    let select = try select(of: descriptor)
    if !isPaused { try prepare(asking: select) }
    self.descriptor = descriptor
    if !isPaused { owner.following.take(self) }
  }

  public var isPaused: Bool { attendance.isPaused }

  /// Stops following: sections, rows and commit number stay what they are, and commits cost nothing.
  public func pause() {
    list.pause()
    if isPaused { return }
    attendance.pause(self, in: owner, at: commitNumber)
    wholeRows.letGo()
  }

  /// Goes on: one difference leads from what it showed to the present. Costs what making it did.
  ///
  /// - Throws: as `fetch` does; then it is paused still.
  public func resume() throws {
    guard try owner.settle(toResume: isPaused) else { return }
    let commit = commitNumber
    try prepare(asking: select(of: descriptor))
    if !listeners.isEmpty { _ = wholeRows.want(of: entity.table, in: owner) }
    // Objects nobody else held may have gone and come back as others meanwhile: readers of those that stay look again.
    let untouched =
      commit == next?.number
      ? []
      : sections.filter { section in
        next?.changed.contains { $0.section === section } == false
      }
    owner.following.take(self)
    for section in untouched { section.willChange() }
    for section in untouched { section.didChange() }
  }

  private func select(of descriptor: FetchDescriptor<Model>) throws -> SelectQuery {
    try ResolvedQuery(
      descriptor, sectionBy: property, ascending: order == .forward, in: try owner.requireStore()
    ).select
  }

  private func prepare(asking select: SelectQuery) throws {
    try list.prepare(asking: select)
    do {
      next = try step(owner.position.number)
      isStale = false
    } catch {
      list.forgetStep()
      throw error
    }
  }
}

extension ModelContext {
  /// A result in sections that follows its rows; see ``LiveSections``.
  ///
  /// - Parameters:
  ///   - property: What the sections are by: a stored property, or one that to-one relationships lead to.
  ///   - order: Of the sections.
  ///   - sortBy: The order of the rows within each section.
  ///   - limit: How many rows, of all sections together.
  /// - Throws: as `fetch` does.
  public func live<Model: PersistentModel, Key: StoredValue>(
    _ type: Model.Type, sectionBy property: KeyPath<Model, Key>, order: SortOrder = .forward,
    where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveSections<Model, Key> {
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset)
    return try LiveSections(self, descriptor, sectionBy: property, order: order)
  }
}
