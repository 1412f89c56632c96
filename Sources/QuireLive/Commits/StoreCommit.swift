public import QuireModel
public import QuireRow

/// One commit as subscribers get it: its number, who wrote, and every changed row with old and new values.
public struct StoreCommit: Sendable {
  /// Counted from 1 while the store is open, whoever commits; 0 for one from before, told from the change log. Never
  /// less than that of a commit told before it.
  public let number: Int64
  public let origin: CommitOrigin
  /// The name the writer gave: a context's `author`, or that of `execute` and `write`.
  public let author: String?
  /// Its place in the file's change log, to go on from later; nil where it keeps none.
  public let token: CommitToken?
  /// All changed rows by table, tables that belong to no model included.
  public let tables: [TableChanges]
  /// Whether more may have changed than ``tables`` says: another process committed, once or several times, and which
  /// rows is not known. Who keeps something made from rows makes it anew, from the state after this commit or a later
  /// one.
  public let rowsUnknown: Bool
  let models: CommitModels

  init(_ commit: ChangeSet, _ models: CommitModels) {
    number = commit.number
    origin = commit.origin
    author = commit.author
    token = commit.token
    tables = commit.tables.filter { !$0.table.isInternal }
    rowsUnknown = commit.rowsUnknown
    self.models = models
  }

  /// The changed objects of one model, in the order in which the transaction first touched them.
  public func changes<Model: PersistentModel>(of type: Model.Type) -> [ModelChange<Model>] {
    models.changes(of: type, in: tables)
  }
}

/// What turns rows into a model's: without the store itself, which commits do not keep open.
struct CommitModels: Sendable {
  let store: UInt32
  private let entities: [Entity]

  init(_ store: Store) {
    self.store = store.number
    entities = store.entities
  }

  func entity(for type: any PersistentModel.Type) -> Entity? {
    entities.first { ObjectIdentifier($0.type) == ObjectIdentifier(type) }
  }

  /// Those rows that are objects of a model. A table altered in the middle of the transaction is there once for each of
  /// its forms.
  func changes<Model: PersistentModel>(of type: Model.Type, in tables: [TableChanges]) -> [ModelChange<Model>] {
    guard let entity = entity(for: type) else { return [] }
    return tables.filter { $0.table.name == entity.table }.flatMap { changes in
      changes.rows.compactMap { change in
        guard case .integer(let key) = change.key else { return nil }
        let id = PersistentIdentifier(store: store, entity: UInt32(entity.index), key: key)
        func row(_ image: RowChange.RowValues?) -> ModelRow<Model>? {
          image.map { ModelRow(id: id, table: changes.table, image: $0, entity: entity) }
        }
        return ModelChange(id: id, kind: change.kind, old: row(change.old), new: row(change.new))
      }
    }
  }
}
