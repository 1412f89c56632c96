public import Foundation
public import QuireModel

/// A query whose result is updated as its rows change: a collection of a projection's rows that always equals the same
/// fetch.
///
///     let rows = try context.live(BookRow.self, where: #Predicate { $0.rating > 4 }, sortBy: [SortDescriptor(\.title)], limit: 20)
///     let token = observe { print(rows.map(\.author)) }
///
/// Code that reads the collection is invalidated when its rows, their order or their values change, including values
/// from other tables. A commit that changes no column that the query or a field reads costs no statement. Any other
/// commit costs one for the rows it affects, and one for each changed table that predicate, order, or an aggregate over
/// a many-to-many relationship reads. If the end of a limited result moves up, some look-ahead rows are read too, and
/// the next rows that move up cost no statement. See ``LiveResult`` for what all live results have in common.
public final class LiveRows<Row: Projection>: LiveResult, RandomAccessCollection {
  private var query: RowsQuery<Row>
  let node: LiveNode<RowsOperator<Row>>

  init(_ context: ModelContext, _ query: RowsQuery<Row>) throws {
    let owner = context.owner
    try owner.following.catchUp()
    let projection = try ProjectionQuery(Row.self, in: try owner.requireStore())
    let select = try query.select(projection)
    self.query = query
    let rows = try RowsOperator(select, RowForm(projection), named: "\(Row.self)", owner: owner)
    node = try LiveNode(rows, select, in: owner)
    super.init(node, in: context)
  }

  // MARK: The collection

  /// All reads of the collection go through this property.
  private var shown: [Row] {
    node.accessContent()
    return node.content.values
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }

  public subscript(index: Int) -> Row { shown[index] }

  /// The object of a row, loaded if needed; nil if that row was deleted.
  public func model(at index: Int) -> Row.Model? {
    node.accessContent()
    return context.model(Row.Model.self, key: node.content.keys[index])
  }

  /// Calls `body` after each transition that changed the result, with what changed, by index, old and new rows.
  ///
  /// Called on the context's isolation when the whole context shows the new commit. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Row>) -> Void) -> ChangeToken { node.onDifference(body) }

  // MARK: Replacing the query

  /// The rows it shows, their order and number; other parts of the descriptor have no effect. After a replacement
  /// during a pause, what it will show.
  public var descriptor: FetchDescriptor<Row.Model> { query.descriptor }

  /// Replaces the query; see ``LiveQuery/update(_:)``. Rows that are already shown are not read again.
  ///
  ///     try rows.update { $0.fetchLimit = 40 }
  ///
  /// - Throws: As `fetch` does; then nothing has changed.
  public func update(_ change: (inout FetchDescriptor<Row.Model>) throws -> Void) throws {
    var descriptor = descriptor
    try change(&descriptor)
    try update(query: descriptor)
  }

  /// Replaces the predicate.
  public func update(where predicate: Predicate<Row.Model>?) throws { try update { $0.predicate = predicate } }

  /// Replaces the query by that of the descriptor. A condition on the rows' own fields is kept, as is an order by
  /// fields if the descriptor has none.
  package func update(query descriptor: FetchDescriptor<Row.Model>) throws {
    var query = query
    query.descriptor = descriptor
    if !descriptor.sortBy.isEmpty { query.order = nil }
    try replace(by: query)
  }

  /// Replaces the condition on the rows' own fields.
  public func update(having condition: Predicate<Row>?) throws {
    var query = query
    query.having = condition
    try replace(by: query)
  }

  /// Orders the same rows by their own fields.
  public func update(sortBy order: [SortDescriptor<Row>]) throws {
    var query = query
    query.order = order
    try replace(by: query)
  }

  private func replace(by query: RowsQuery<Row>) throws {
    try node.update {
      try query.select(ProjectionQuery(Row.self, in: try node.owner.requireStore()))
    } isTaken: {
      self.query = query
    }
  }
}

extension ModelContext {
  /// A live result of a projection's rows; see ``LiveRows``.
  ///
  /// - Parameter having: A condition on the row's own fields, in addition to the one on the object.
  /// - Throws: As `fetch` does.
  public func live<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row.Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveRows<Row> {
    try LiveRows(
      self,
      RowsQuery(FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset), having))
  }

  /// A live result of a projection's rows, ordered by the row's own fields.
  ///
  ///     try context.live(AuthorShelf.self, sortBy: [SortDescriptor(\AuthorShelf.books, order: .reverse)], limit: 20)
  ///
  /// A key path without a root that fits both, such as `\.name`, is the model's: begin the first with the row's type.
  @_disfavoredOverload
  public func live<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row>], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveRows<Row> {
    try LiveRows(
      self,
      RowsQuery(FetchDescriptor(predicate: predicate, fetchLimit: limit, fetchOffset: offset), having, sortBy: sortBy))
  }

  /// A live result of a projection's rows, for a fetch's descriptor.
  public func live<Row: Projection>(_ type: Row.Type, _ descriptor: FetchDescriptor<Row.Model>) throws -> LiveRows<Row>
  {
    try LiveRows(self, RowsQuery(descriptor))
  }
}
