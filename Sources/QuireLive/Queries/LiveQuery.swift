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
  private let list: LiveList
  private let registrar = ObservationRegistrar()
  private var listeners: [Int: (Difference<ModelRow<Model>>) -> Void] = [:]
  private var nextListener = 0
  private var interest: InterestToken?

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
    list.willChange = { [unowned self] difference in
      if difference.changesList { registrar.willSet(self, keyPath: \.keys) }
    }
    list.didChange = { [unowned self] difference, news in
      if difference.changesList { registrar.didSet(self, keyPath: \.keys) }
      tell(difference, news)
    }
  }

  deinit { list.stop() }

  /// The keys shown, in order: what all reads of the collection go through.
  private var keys: [Int64] {
    registrar.access(self, keyPath: \.keys)
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
    let number = nextListener
    nextListener += 1
    listeners[number] = body
    if interest == nil { interest = owner.store?.database.addInterest(Interest(table: entity.table)) }
    return DifferenceToken { [weak self] in self?.remove(number) }
  }

  private func remove(_ number: Int) {
    listeners[number] = nil
    if listeners.isEmpty { interest = nil }
  }

  private func tell(_ difference: KeyDifference, _ news: News) {
    if listeners.isEmpty { return }
    let rows = ChangedRows<Model>(news[entity.table], entity, owner)
    var changes: [Difference<ModelRow<Model>>.Change] = []
    for (key, at) in difference.deletes { changes.append(.delete(at: at, old: rows.old(key))) }
    for (key, from, to) in difference.moves {
      changes.append(.move(from: from, to: to, old: rows.old(key), new: rows.new(key)))
    }
    for (key, at) in difference.inserts { changes.append(.insert(at: at, new: rows.new(key))) }
    for (key, at) in difference.updates { changes.append(.update(at: at, old: rows.old(key), new: rows.new(key))) }
    let told = Difference(commit: news.number, changes: changes)
    for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) { listener(told) }
  }
}

/// Ends a subscription when it goes, or when told to.
public final class DifferenceToken {
  private var end: (() -> Void)?
  init(_ end: @escaping () -> Void) { self.end = end }
  deinit { end?() }
  public func cancel() {
    end?()
    end = nil
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
