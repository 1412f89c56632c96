public import QuireModel
public import QuireRow
import QuireSQLite

extension ModelContainer {
  /// The commits that change objects of one model, with those changes: see ``commits``.
  ///
  ///     for try await commit in store.commits(of: Book.self, changing: \.isAvailable) {
  ///       for change in commit.changes { print(change.id, change.old?.isAvailable, change.new?.isAvailable) }
  ///     }
  ///
  /// - Parameters:
  ///   - properties: If given, an update counts only if it changes one of them; inserts and deletes always count.
  ///   - bound: How many commits a reader may fall behind.
  /// - Throws: ``QuireModel/ModelError`` if the class is not a model of the container, and for a property without its
  ///   own column, which changes in another table.
  public func commits<Model: PersistentModel>(
    of type: Model.Type, changing properties: PartialKeyPath<Model>..., buffering bound: Int = 4096
  ) throws(ModelError) -> ModelCommits<Model> {
    ModelCommits(store, try concern(type, properties), bound: max(1, bound))
  }

  /// The commits that change objects of one model after a position in the file's change log: see
  /// ``commits(after:buffering:)``.
  ///
  /// - Throws: ``QuireModel/ModelError`` as above, ``QuireSQLite/ChangeLogError`` if the log cannot be followed from
  ///   the token.
  public func commits<Model: PersistentModel>(
    of type: Model.Type, changing properties: PartialKeyPath<Model>..., after token: CommitToken,
    buffering bound: Int = 4096
  ) throws -> ModelCommits<Model> {
    let concern = try concern(type, properties)
    return ModelCommits(
      inbox: try CommitInbox(
        store, bound: max(1, bound), interest: CapturedColumns(table: concern.table), after: token,
        accepts: { concern.concerns($0) }), concern: concern)
  }

  private func concern<Model: PersistentModel>(
    _ type: Model.Type, _ properties: [PartialKeyPath<Model>]
  ) throws(ModelError) -> RowConcern {
    let entity = try store.requireEntity(for: type)
    var stored: [Property] = []
    for keyPath in properties {
      guard let property = entity.property(at: keyPath).map({ entity.properties[$0] }), property.column != nil else {
        throw .query("\(entity.name) has no column for \(keyPath): follow a stored property of its own")
      }
      stored.append(property)
    }
    return RowConcern(table: entity.table, properties: stored)
  }
}

/// Selects the rows of a commit that matter to a subscriber.
struct RowConcern: Sendable {
  let table: String
  /// Empty for all of them.
  let properties: [Property]

  func concerns(_ commit: ChangeSet) -> Bool {
    commit.rowsUnknown
      || commit.tables.contains { changes in
        changes.table.name == table
          && (properties.isEmpty ? !changes.rows.isEmpty : changes.rows.contains(where: test(changes.table)))
      }
  }

  /// The commit's changes of the table that matter.
  func concerned(in tables: [TableChanges]) -> [TableChanges] {
    tables.filter { $0.table.name == table }.map { changes in
      properties.isEmpty ? changes : TableChanges(table: changes.table, rows: changes.rows.filter(test(changes.table)))
    }
  }

  private func test(_ table: ChangedTable) -> (RowChange) -> Bool {
    let places = properties.compactMap { $0.place(in: table) }
    return { change in change.kind != .update || places.contains { change.old?[$0] != change.new?[$0] } }
  }
}

/// The changes of one model's objects in one commit.
public struct ModelCommit<Model: PersistentModel>: Sendable {
  /// The commit's number: see ``StoreCommit/number``.
  public let number: Int64
  /// Who wrote: a context or SQL of this process, or another process.
  public let origin: CommitOrigin
  /// The name the writer gave: see ``StoreCommit/author``.
  public let author: String?
  /// Its position in the file's change log: see ``StoreCommit/token``.
  public let token: CommitToken?
  /// Whether the changed rows are unknown, as after another process's commit: see ``StoreCommit/rowsUnknown``.
  public let rowsUnknown: Bool
  /// In the order in which the transaction first changed them; empty only if ``rowsUnknown``.
  public let changes: [ModelChange<Model>]
}

/// The commits that affect one model; see ``QuireModel/ModelContainer/commits(of:changing:buffering:)``.
public struct ModelCommits<Model: PersistentModel>: AsyncSequence, Sendable {
  public typealias Element = ModelCommit<Model>
  private let inbox: CommitInbox
  private let concern: RowConcern

  init(_ store: Store, _ concern: RowConcern, bound: Int) {
    self.concern = concern
    inbox = CommitInbox(
      store, bound: bound, interest: CapturedColumns(table: concern.table), accepts: { concern.concerns($0) })
  }

  init(inbox: CommitInbox, concern: RowConcern) {
    self.inbox = inbox
    self.concern = concern
  }

  public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox, concern: concern) }

  /// Delivers the commits one by one, each once and in order; see ``Commits/Iterator``. Commits that changed no row of the model,
  /// or none of the properties that were named, are passed over without a wakeup.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let inbox: CommitInbox
    fileprivate let concern: RowConcern

    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ModelCommit<Model>? {
      read(try await inbox.next())
    }

    private func read(_ commit: StoreCommit?) -> ModelCommit<Model>? {
      commit.map { commit in
        let changes = commit.models.changes(of: Model.self, in: concern.concerned(in: commit.tables))
        return ModelCommit(
          number: commit.number, origin: commit.origin, author: commit.author, token: commit.token,
          rowsUnknown: commit.rowsUnknown, changes: changes)
      }
    }
  }
}
