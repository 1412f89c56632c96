import QuireModel
import QuireRow
import QuireSQLite

/// Objects in sections: a window of all rows in one order, by section first, and the position of each section in it.
final class SectionsOperator<Model: PersistentModel, Key: StoredValue>: LiveOperator {
  typealias Section = LiveSections<Model, Key>.Section
  typealias Difference = LiveSections<Model, Key>.Difference

  let window: WindowOperator
  private(set) var sections: [Section] = []
  private var arrangement: SectionKeys
  private unowned let context: ModelContext
  private let entity: Entity
  private let form: ModelRowForm<Model>

  final class Delta: LiveDelta {
    let window: WindowDelta
    var change = SectionKeys.Change()
    /// Inserted sections, with their new indices.
    var inserted: [(at: Int, section: Section)] = []
    /// Removed sections and those with changed rows, with the rows they will have.
    var changed: [(section: Section, keys: [Int64])] = []
    /// Sections whose keys stay and whose objects may change.
    var renewed: [Section] = []
    /// Set if there are listeners.
    var told: [Difference.Change] = []
    var isEmpty: Bool { window.isEmpty && !changesContent && changed.isEmpty }
    var changesContent: Bool { !inserted.isEmpty || !change.deleted.isEmpty }

    init(window: WindowDelta) { self.window = window }
  }

  init(_ query: ResolvedQuery, ascending: Bool, in context: ModelContext) {
    self.context = context
    entity = query.entity
    form = ModelRowForm(entity, of: context.owner)
    arrangement = SectionKeys(ascending: ascending)
    window = WindowOperator(query.select, owner: context.owner, of: entity, listenedForm: form.table)
    window.addMoves = { [unowned self] in addMoves(to: $0, $1) }
  }

  var tables: [String] { window.tables }
  var filters: [ChangeFilter] { window.filters }
  func interests(in database: Database) -> [CaptureToken] { window.interests(in: database) }
  var sourcesChanged: Bool {
    get { window.sourcesChanged }
    set { window.sourcesChanged = newValue }
  }
  var hasListeners: Bool {
    get { window.hasListeners }
    set { window.hasListeners = newValue }
  }

  func load(_ query: SelectQuery, _ occasion: LoadOccasion, on connection: Connection) throws -> Delta {
    try arranged(try window.load(query, occasion, on: connection))
  }

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<Delta> {
    switch try window.step(batch, on: connection) {
    case .unchanged: .unchanged
    case .changed(let delta): .changed(try arranged(delta))
    case .failed(let error): .failed(error)
    case .unknown: .unknown
    }
  }

  func apply(_ delta: Delta) {
    window.apply(delta.window)
    arrangement.apply(delta.change)
    for (section, keys) in delta.changed { section.take(keys) }
    for at in delta.change.deleted.reversed() { sections.remove(at: at) }
    for (at, section) in delta.inserted { sections.insert(section, at: at) }
  }

  func willChange(_ delta: Delta) {
    for (section, _) in delta.changed { section.willChange() }
    for section in delta.renewed { section.willChange() }
  }

  func didChange(_ delta: Delta) {
    for (section, _) in delta.changed { section.didChange() }
    for section in delta.renewed { section.didChange() }
  }

  func pause() { window.pause() }
  func keepShown(on connection: Connection) throws { try window.keepShown(on: connection) }

  func explanation(on connection: Connection) throws -> LiveExplanation { try window.explanation(on: connection) }
  var queriesRun: Int { window.queriesRun }
  var shownError: (any Error)? { window.owner.fetcher.unreadError(entity, among: window.keys) }
  var shownKeys: (table: String, keys: [Int64])? { window.shownKeys }
  func shown(of wanted: Set<Int64>) -> [Int64] { window.shown(of: wanted) }

  // MARK: Sections

  private func arranged(_ moved: WindowDelta) throws -> Delta {
    let state = moved.state ?? window.state
    let delta = Delta(window: moved)
    delta.change = arrangement.change(
      replacing: moved.replaced, with: moved.keys.map { (state.section(of: $0), $0) })
    let first = delta.change.before.lowerBound
    for at in delta.change.inserted {
      let section = delta.change.after[at - first]
      delta.inserted.append((at, Section(try key(section.name), section.keys, of: entity, in: context)))
    }
    delta.changed = delta.change.deleted.map { (sections[$0], []) }
    delta.changed += delta.change.changed.map { (sections[$0.from], delta.change.after[$0.to - first].keys) }
    if moved.isRenewed {
      delta.renewed = sections.filter { section in !delta.changed.contains { $0.section === section } }
    }
    if hasListeners { delta.told = told(delta) }
    return delta
  }

  private func key(_ name: Value) throws -> Key {
    try Key.decoded(Columns.isDecimal(Key.self) ? DecimalOrder.decimal(of: name) : name)
  }

  /// A row that keeps its position among the others but is now in another section has moved.
  private func addMoves(to delta: WindowDelta, _ state: WindowState) {
    let moved = Set(delta.difference.moves.map(\.key))
    let isLoaded = delta.state != nil
    var before: [Int64: Int] = [:]
    for at in delta.replaced where isLoaded || window.touched.contains(window.keys[at]) { before[window.keys[at]] = at }
    if before.isEmpty { return }
    var moves: [(key: Int64, from: Int, to: Int)] = []
    for (offset, key) in delta.keys.enumerated() where !moved.contains(key) {
      guard let from = before[key] else { continue }
      let old = arrangement.sections[arrangement.place(of: from).section].name
      if state.section(of: key).compare(to: old) != 0 {
        moves.append((key, from, delta.replaced.lowerBound + offset))
      }
    }
    if !moves.isEmpty { delta.difference.moves = (delta.difference.moves + moves).sorted { $0.to < $1.to } }
  }

  // MARK: What listeners receive

  func difference(_ delta: Delta, commit: Int64) -> Difference? {
    delta.told.isEmpty ? nil : Difference(commit: commit, changes: delta.told)
  }

  private func told(_ delta: Delta) -> [Difference.Change] {
    var after = arrangement
    after.apply(delta.change)
    func old(_ index: Int) -> Difference.Place {
      let place = arrangement.place(of: index)
      return Difference.Place(section: place.section, row: place.row)
    }
    func new(_ index: Int) -> Difference.Place {
      let place = after.place(of: index)
      return Difference.Place(section: place.section, row: place.row)
    }
    let (difference, rows) = (delta.window.difference, delta.window.rows)
    func oldRow(_ key: Int64) -> ModelRow<Model> { form.row(key, in: rows.old) }
    func newRow(_ key: Int64) -> ModelRow<Model> { form.row(key, in: rows.new) }
    var changes: [Difference.Change] = []
    for (key, at) in difference.deletes { changes.append(.delete(at: old(at), old: oldRow(key))) }
    for (key, from, to) in difference.moves {
      changes.append(.move(from: old(from), to: new(to), old: oldRow(key), new: newRow(key)))
    }
    for at in delta.change.deleted { changes.append(.deleteSection(at: at, key: sections[at].key)) }
    for (at, section) in delta.inserted { changes.append(.insertSection(at: at, key: section.key)) }
    for (key, at) in difference.inserts { changes.append(.insert(at: new(at), new: newRow(key))) }
    for (key, at) in difference.updates { changes.append(.update(at: new(at), old: oldRow(key), new: newRow(key))) }
    return changes
  }
}
