public import Foundation
public import Observation
public import QuireModel
import QuireRow
import QuireSQLite

/// A query whose result follows its rows: a collection of objects that is always what the same fetch would give on the
/// committed state.
///
///     let shelf = try context.live(Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)], limit: 20)
///     let token = observe { print(shelf.map(\.title)) }
///
/// Who reads the collection depends on which rows are in it and in which order, not on their properties; who reads a
/// row's properties depends on those. Objects are loaded when first reached, with their neighbours. Unsaved edits show
/// in the objects, and move rows when they are saved. Kept as long as somebody holds it; confined to its context's
/// isolation.
public final class LiveQuery<Model: PersistentModel>: Observable, RandomAccessCollection {
  private let context: ModelContext
  private let owner: Owner
  private let entity: Entity
  let list: LiveList
  private let registrar = ObservationRegistrar()
  /// Made once: in a generic class a key path is put together anew at every mention, which costs 0.5 µs.
  private let keysPath: KeyPath<LiveQuery, [Int64]> = \.keys
  private let listeners = DifferenceListeners<Difference<ModelRow<Model>>>()
  private var interest: InterestToken?
  private lazy var rowForm = ModelRowForm<Model>(entity, of: owner)

  init(
    _ context: ModelContext, where predicate: Predicate<Model>?, sortBy: [SortDescriptor<Model>], limit: Int?,
    offset: Int
  ) throws {
    self.context = context
    owner = context.owner
    try owner.settleThrowing()
    let query = try ResolvedQuery(
      Model.self, where: predicate, sortBy: sortBy, limit: limit, offset: offset, in: try owner.requireStore())
    entity = query.entity
    list = try LiveList(query.select, owner: owner)
    list.willChange = { [weak self] difference in
      guard let self, difference.changesList else { return }
      registrar.willSet(self, keyPath: keysPath)
    }
    list.didChange = { [weak self] difference, rows, number in
      guard let self else { return }
      if difference.changesList { registrar.didSet(self, keyPath: keysPath) }
      tell(difference, rows, number)
    }
    list.toldColumns = { [weak self] in self?.toldColumns }
  }

  /// The keys shown, in order: what all reads of the collection go through.
  private var keys: [Int64] {
    registrar.access(self, keyPath: keysPath)
    return list.keys
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { keys.count }

  public subscript(index: Int) -> Model { owner.element(entity, keys, at: index) }

  /// The commit the result stands at.
  public var commitNumber: Int64 { list.commit }

  /// Why the result could not follow the last commit; nil while it does. It stays what it was until it can.
  public var error: (any Error)? { list.error }

  /// How many statements it has run since it was made: one for the start, none for most changes.
  public var queriesRun: Int { list.queriesRun }

  // MARK: Differences

  /// Calls `body` after each move that changed the result, with what changed, by index, old and new.
  ///
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token. While there are
  /// listeners, commits of the model's table capture whole rows (about 1 µs a row).
  public func onDifference(_ body: @escaping (Difference<ModelRow<Model>>) -> Void) -> DifferenceToken {
    let token = listeners.add(body)
    if interest == nil {
      interest = owner.store?.database.addInterest(Interest(table: entity.table))
      owner.participants.add(list)
    }
    return token
  }

  /// What the told rows consist of while anybody listens.
  private var toldColumns: ChangedTable? {
    if !listeners.isEmpty { return rowForm.table }
    if interest != nil {
      interest = nil
      owner.participants.add(list)
    }
    return nil
  }

  private func tell(_ difference: KeyDifference, _ rows: ToldRows, _ number: Int64) {
    if !listeners.isEmpty { listeners.tell(rowForm.difference(difference, rows, commit: number)) }
  }
}

extension ModelContext {
  /// A result that follows its rows; see ``LiveQuery``.
  ///
  /// - Throws: as `fetch` does.
  public func live<Model: PersistentModel>(
    _ type: Model.Type, where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) throws -> LiveQuery<Model> {
    try LiveQuery(self, where: predicate, sortBy: sortBy, limit: limit, offset: offset)
  }

  /// A fetch's descriptor, followed.
  public func live<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> LiveQuery<Model> {
    try LiveQuery(
      self, where: descriptor.predicate, sortBy: descriptor.sortBy, limit: descriptor.fetchLimit,
      offset: descriptor.fetchOffset ?? 0)
  }
}
