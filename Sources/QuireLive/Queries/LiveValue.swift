public import Foundation
public import Observation
public import QuireModel
import QuireRow
import QuireSQLite

/// A value that follows its rows: how many there are, a sum, an average, the least or greatest of a property.
///
/// Always what the same question asked afresh would give on the committed state, and at the same commit as all else of
/// its context. Confined to the context's isolation.
public final class LiveValue<Value: Equatable>: Observable {
  let source: any ValueSource
  /// What it asks once it goes on, where that was changed during a pause.
  private var awaited: SelectQuery?
  private let read: () -> Value
  private let registrar = ObservationRegistrar()
  /// Made once: in a generic class a key path is put together anew at every mention, which costs 0.5 µs.
  private let valuePath: KeyPath<LiveValue, Value> = \.value

  init(_ source: any ValueSource, read: @escaping () -> Value) {
    self.source = source
    self.read = read
    source.willChange = { [weak self] in if let self { registrar.willSet(self, keyPath: valuePath) } }
    source.didChange = { [weak self] in if let self { registrar.didSet(self, keyPath: valuePath) } }
  }

  public var value: Value {
    registrar.access(self, keyPath: valuePath)
    return read()
  }

  /// The commit the value stands at.
  public var commitNumber: Int64 { source.commitNumber }
  /// Why it could not follow the last commit; nil while it does. The value stays what it was until it can.
  public var error: (any Error)? { source.error }
  /// How many statements it has run since it was made.
  public var queriesRun: Int { source.queriesRun }

  // MARK: Asking something else, and pausing

  /// Asks the same of other rows of its model from now on: observers hear of the other value at once, at the commit the
  /// context stands at. While the value is paused, it shows when that goes on.
  ///
  ///     try available.retarget(where: #Predicate<Book> { $0.isAvailable && $0.language == language })
  ///
  /// - Throws: as `fetchCount` does; then nothing has changed.
  public func retarget<Model: PersistentModel>(where predicate: Predicate<Model>?) throws {
    try source.owner.following.settleThrowing()
    let select = try source.select.retargeted(Model.self, where: predicate, in: source.owner)
    if isPaused {
      awaited = select
    } else {
      try source.prepare(asking: select)
      source.owner.following.take(source)
    }
  }

  public var isPaused: Bool { source.isPaused }

  /// Stops following: the value and its commit number stay what they are, and commits cost nothing.
  public func pause() {
    source.owner.following.finishAnnouncing()
    if !isPaused { source.pause() }
  }

  /// Goes on, with the value of the present. Costs what making it did.
  ///
  /// - Throws: as `fetchCount` does; then it is paused still.
  public func resume() throws {
    guard try source.owner.settle(toResume: isPaused) else { return }
    try source.prepare(asking: awaited ?? source.select)
    awaited = nil
    source.owner.following.take(source)
  }
}

extension SelectQuery {
  /// Other rows of the same model.
  func retargeted<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>?, in owner: Owner)
    throws
    -> SelectQuery
  {
    let query = try ResolvedQuery(
      type, where: predicate, sortBy: [], limit: nil, offset: 0, in: try owner.requireStore())
    guard query.select.table == table else {
      throw ModelError.query("it is of rows of \(table), and a predicate of \(type) is about others")
    }
    return query.select
  }
}

/// What a ``LiveValue`` shows: a participant that calls when its value changes, before and after.
protocol ValueSource: Participant {
  var owner: Owner { get }
  func explanation(on connection: Connection) throws -> LiveExplanation
  /// Which rows.
  var select: SelectQuery { get }
  var isPaused: Bool { get }
  func pause()
  /// Prepares the step to the value of these rows at the commit the context stands at, following those from then on.
  func prepare(asking select: SelectQuery) throws
  var willChange: () -> Void { get set }
  var didChange: () -> Void { get set }
  var commitNumber: Int64 { get }
  var error: (any Error)? { get }
  var queriesRun: Int { get }
}
