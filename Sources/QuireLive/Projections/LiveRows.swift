public import Foundation
public import Observation
public import QuireModel
import QuireRow
import QuireSQLite

/// A query whose rows are values that follow their rows: a collection of a projection's rows that is always what the
/// same fetch would give.
///
///     let rows = try context.live(BookRow.self, where: #Predicate { $0.rating > 4 }, sortBy: [SortDescriptor(\.title)], limit: 20)
///     let token = observe { print(rows.map(\.author)) }
///
/// Who reads the collection depends on all of it: on which rows are in it, in which order, and on their values, those
/// that come from other tables included. Shows what is committed, never unsaved edits. A commit that changes no column
/// the query or a field reads costs no statement; one that does costs one for the rows it concerns, and one for each table
/// that changed and is read by predicate or order, or by an aggregate over a many-to-many relationship. Where the end of
/// a limited result moves up, some of the rows behind it are read along, and the next to come cost no statement. Kept as
/// long as somebody holds it; confined to its context's isolation.
public final class LiveRows<Row: Projection>: Observable, RandomAccessCollection {
  private let context: ModelContext
  let rows: RowList<Row>
  var query: RowsQuery<Row>
  private let registrar = ObservationRegistrar()
  /// Made once: in a generic class a key path is put together anew at every mention.
  private let valuesPath: KeyPath<LiveRows, [Row]> = \.shown
  private let listeners = DifferenceListeners<Difference<Row>>()

  init(_ context: ModelContext, _ query: RowsQuery<Row>) throws {
    self.context = context
    self.query = query
    let owner = context.owner
    try owner.following.settleThrowing()
    let projection = try ProjectionQuery(Row.self, in: try owner.requireStore())
    rows = try RowList(try query.select(projection), RowForm(projection), owner: owner)
    rows.willChange = { [weak self] changesRows, _ in
      if changesRows, let self { registrar.willSet(self, keyPath: valuesPath) }
    }
    rows.didChange = { [weak self] difference, _ in
      guard let self, let difference else { return }
      registrar.didSet(self, keyPath: valuesPath)
      listeners.tell(difference)
    }
  }

  var owner: Owner { rows.owner }

  // MARK: The collection

  /// What all reads of the collection go through.
  private var shown: [Row] {
    registrar.access(self, keyPath: valuesPath)
    return rows.values
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }

  public subscript(index: Int) -> Row { shown[index] }

  /// The object a row is of, loaded if need be; nil where that row is gone.
  public func model(at index: Int) -> Row.Model? {
    registrar.access(self, keyPath: valuesPath)
    return context.model(Row.Model.self, key: rows.keys[index])
  }

  /// The commit the result stands at.
  public var commitNumber: Int64 { rows.commitNumber }

  /// Why the result could not follow the last commit; nil while it does. It stays what it was until it can.
  public var error: (any Error)? { rows.error }

  /// How many statements it has run since it was made: two for the start, none for commits that do not concern it.
  public var queriesRun: Int { rows.queriesRun }

  /// Calls `body` after each move that changed the result, with what changed, by index, old and new rows.
  ///
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Row>) -> Void) -> DifferenceToken { listeners.add(body) }

  /// For tests: make it wrong.
  func injectFault() { rows.affected.ignoresPaths = true }
  func forgetOldOrigins() { rows.affected.forgetsOldOrigins = true }
  func keepSpareRows() { rows.spare.ignoresChanges = true }
}

extension ModelContext {
  /// Rows of a projection that follow the store; see ``LiveRows``.
  ///
  /// - Parameter having: A condition on the row's own fields, beside that on the object.
  /// - Throws: as `fetch` does.
  public func live<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row.Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveRows<Row> {
    try LiveRows(
      self,
      RowsQuery(FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset), having))
  }

  /// The same, ordered by the row's own fields.
  ///
  ///     try context.live(AuthorShelf.self, sortBy: [SortDescriptor(\AuthorShelf.books, order: .reverse)], limit: 20)
  ///
  /// A key path without a root that both have, such as `\.name`, is the model's: begin the first with the row's type.
  @_disfavoredOverload
  public func live<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row>], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveRows<Row> {
    try LiveRows(
      self,
      RowsQuery(FetchDescriptor(predicate: predicate, fetchLimit: limit, fetchOffset: offset), having, sortBy: sortBy))
  }

  /// A fetch's descriptor, followed as rows of a projection.
  public func live<Row: Projection>(_ type: Row.Type, _ descriptor: FetchDescriptor<Row.Model>) throws -> LiveRows<Row>
  {
    try LiveRows(self, RowsQuery(descriptor))
  }
}
