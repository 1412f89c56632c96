public import QuireModel
public import QuireRow

/// One commit as subscribers receive it: its number, its author, and every changed row with old and new values.
public struct StoreCommit: Sendable {
  /// Counts all commits, of any process, from 1 while the store is open; 0 for an earlier commit, read from the change
  /// log. Never less than the number of a commit delivered before it.
  public let number: Int64
  /// Who wrote: a context or SQL of this process, or another process.
  public let origin: CommitOrigin
  /// The author's name: a context's `author`, or that of `execute` and `write`.
  public let author: String?
  /// Its position in the file's change log, to continue from later; nil if the file has none.
  public let token: CommitToken?
  /// All changed rows by table, including tables without a model.
  public let tables: [TableChanges]
  /// Whether more may have changed than ``tables`` contains: another process committed, once or several times, and the
  /// changed rows are unknown, or this program has dropped a table, whose rows SQLite does not report, or the transaction
  /// was under way when the sequence was made and the file has no change log. Anything derived from rows must then be
  /// rebuilt, from the state after this commit or a later one.
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

  /// The changed objects of one model, in the order in which the transaction first changed them.
  public func changes<Model: PersistentModel>(of type: Model.Type) -> [ModelChange<Model>] {
    models.changes(of: type, in: tables)
  }
}

/// Translates rows to a model's: does not hold the store, so that commits do not keep it open.
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

  /// The rows that are objects of a model. A table altered in the middle of the transaction occurs once for each of its
  /// forms.
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
