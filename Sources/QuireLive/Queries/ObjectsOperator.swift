import QuireModel
import QuireRow
import QuireSQLite

/// Objects of one model in order: a window of their keys, and what listeners receive of their rows.
final class ObjectsOperator<Model: PersistentModel>: LiveOperator {
  let window: WindowOperator
  private let entity: Entity
  private let form: ModelRowForm<Model>

  init(_ query: ResolvedQuery, in owner: ContextCore) {
    entity = query.entity
    form = ModelRowForm(entity, of: owner)
    window = WindowOperator(query.select, owner: owner, of: entity, listenedForm: form.table)
  }

  func element(at index: Int) -> Model { window.owner.fetcher.element(entity, window.keys, at: index) }

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

  func load(_ query: SelectQuery, _ occasion: LoadOccasion, on connection: Connection) throws -> WindowDelta {
    try window.load(query, occasion, on: connection)
  }

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<WindowDelta> {
    try window.step(batch, on: connection)
  }

  func apply(_ delta: WindowDelta) { window.apply(delta) }

  func difference(_ delta: WindowDelta, commit: Int64) -> Difference<ModelRow<Model>>? {
    delta.difference.isEmpty ? nil : form.difference(delta.difference, delta.rows, commit: commit)
  }

  func pause() { window.pause() }
  func keepShown(on connection: Connection) throws { try window.keepShown(on: connection) }

  func explanation(on connection: Connection) throws -> LiveExplanation { try window.explanation(on: connection) }
  var queriesRun: Int { window.queriesRun }
  var shownError: (any Error)? { window.owner.fetcher.unreadError(entity, among: window.keys) }
  var shownKeys: (table: String, keys: [Int64])? { window.shownKeys }
  func shown(of wanted: Set<Int64>) -> [Int64] { window.shown(of: wanted) }
}
