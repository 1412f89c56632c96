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
  /// What it asks: which rows, in which order, how many. Of the rest of a descriptor nothing counts here.
  public private(set) var descriptor: FetchDescriptor<Model>
  let list: LiveList
  private let registrar = ObservationRegistrar()
  /// Made once: in a generic class a key path is put together anew at every mention, which costs 0.5 µs.
  private let keysPath: KeyPath<LiveQuery, [Int64]> = \.keys
  private let listeners = DifferenceListeners<Difference<ModelRow<Model>>>()
  private var wholeRows = WholeRows()
  private lazy var rowForm = ModelRowForm<Model>(entity, of: owner)

  init(_ context: ModelContext, _ descriptor: FetchDescriptor<Model>) throws {
    self.context = context
    self.descriptor = descriptor
    owner = context.owner
    try owner.following.settleThrowing()
    let query = try ResolvedQuery(descriptor, in: try owner.requireStore())
    entity = query.entity
    list = try LiveList(query.select, owner: owner)
    try list.giveObjects(of: entity)
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

  public subscript(index: Int) -> Model { owner.fetcher.element(entity, keys, at: index) }

  /// The commit the result stands at.
  public var commitNumber: Int64 { list.commit }

  /// Why the result could not follow the last commit, and stays what it was until it can; or that a row that was reached
  /// does not decode. Nil while all is well.
  ///
  /// In the place of a row that does not decode stands an object that says `isDeleted` and has declared defaults or zeros.
  /// Assigning to it, and deleting it, is an error of the next save. A fetch throws the same error.
  public var error: (any Error)? { list.error ?? owner.fetcher.undecodable(entity, among: list.keys) }

  /// How many statements it has run since it was made: one for the start, none for most changes.
  public var queriesRun: Int { list.queriesRun }

  // MARK: Differences

  /// Calls `body` after each move that changed the result, with what changed, by index, old and new.
  ///
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token. While there are
  /// listeners, commits of the model's table capture whole rows (about 1 µs a row).
  public func onDifference(_ body: @escaping (Difference<ModelRow<Model>>) -> Void) -> DifferenceToken {
    let token = listeners.add(body)
    if !isPaused, wholeRows.want(of: entity.table, in: owner) { owner.following.participants.add(list) }
    list.keepRows()
    return token
  }

  /// What the told rows consist of while anybody listens.
  private var toldColumns: ChangedTable? {
    if !listeners.isEmpty { return rowForm.table }
    if wholeRows.letGo(), !isPaused { owner.following.participants.add(list) }
    return nil
  }

  private func tell(_ difference: KeyDifference, _ rows: ToldRows, _ number: Int64) {
    if !listeners.isEmpty { listeners.tell(rowForm.difference(difference, rows, commit: number)) }
  }

  // MARK: Asking something else, and pausing

  /// Asks something else from now on: observers hear of the difference between the two results at once, at the commit
  /// the context stands at.
  ///
  ///     try shelf.retarget { $0.fetchLimit = 40 }
  ///     try shelf.retarget { $0.predicate = #Predicate { $0.title.starts(with: typed) } }
  ///
  /// One statement; none where only limit and offset change and the rows are at hand. Called while others are being told
  /// of a commit, it comes after that: they all hear the rest of it first. While the result is paused, it shows when that
  /// goes on.
  ///
  /// - Throws: as `fetch` does; then nothing has changed.
  public func retarget(_ change: (inout FetchDescriptor<Model>) throws -> Void) throws {
    var descriptor = descriptor
    try change(&descriptor)
    try retarget(descriptor)
  }

  /// Asks for other rows, in the same order, as many.
  public func retarget(where predicate: Predicate<Model>?) throws { try retarget { $0.predicate = predicate } }

  /// Asks what a fetch with this descriptor would.
  public func retarget(_ descriptor: FetchDescriptor<Model>) throws {
    try owner.following.settleThrowing()
    let select = try ResolvedQuery(descriptor, in: try owner.requireStore()).select
    if isPaused {
      self.descriptor = descriptor
      return
    }
    try list.prepare(asking: select)
    self.descriptor = descriptor
    owner.following.take(list)
  }

  public var isPaused: Bool { list.isPaused }

  /// Stops following: the result and its commit number stay what they are, and commits cost nothing.
  ///
  /// Its objects follow on as all objects do, those in memory that is: who reads their properties is woken once it goes
  /// on. While somebody listens for differences, the rows it shows are kept to be compared then.
  public func pause() {
    list.pause()
    if isPaused { wholeRows.letGo() }
  }

  /// Goes on: one difference leads from what it showed to the present. Costs what making it did.
  ///
  /// A listener that came during the pause is told of rows that may have changed without their old values.
  ///
  /// - Throws: as `fetch` does; then it is paused still.
  public func resume() throws {
    guard try owner.settle(toResume: isPaused) else { return }
    try list.prepare(asking: ResolvedQuery(descriptor, in: try owner.requireStore()).select)
    let (keys, commit) = (list.keys, list.commit)
    if !listeners.isEmpty { _ = wholeRows.want(of: entity.table, in: owner) }
    owner.following.take(list)
    // Objects nobody else held may have gone and come back as others meanwhile.
    if list.commit != commit, list.keys == keys { registrar.withMutation(of: self, keyPath: keysPath) {} }
  }
}

extension ModelContext {
  /// A result that follows its rows; see ``LiveQuery``.
  ///
  /// - Throws: as `fetch` does, but for rows that do not decode: those are in ``LiveQuery/error`` when they are reached.
  public func live<Model: PersistentModel>(
    _ type: Model.Type, where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) throws -> LiveQuery<Model> {
    try live(FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset))
  }

  /// A fetch's descriptor, followed.
  public func live<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> LiveQuery<Model> {
    try LiveQuery(self, descriptor)
  }
}
