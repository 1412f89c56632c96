public import Foundation
public import QuireModel

/// A query whose rows are values that follow their rows: a collection of a projection's rows that is always what the
/// same fetch would give.
///
///     let rows = try context.live(BookRow.self, where: #Predicate { $0.rating > 4 }, sortBy: [SortDescriptor(\.title)], limit: 20)
///     let token = observe { print(rows.map(\.author)) }
///
/// Code that reads the collection is invalidated by all of it: by which rows are in it, in which order, and by their values,
/// those that come from other tables included. A commit that changes no column the query or a field reads costs no
/// statement; one that does costs one for the rows it affects, and one for each table that changed and is read by predicate
/// or order, or by an aggregate over a many-to-many relationship. If the end of a limited result moves up, some of the rows
/// behind it are read too, and the next that come cost no statement. See ``LiveResult`` for what all live results share.
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

  /// What all reads of the collection go through.
  private var shown: [Row] {
    node.accessContent()
    return node.content.values
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }

  public subscript(index: Int) -> Row { shown[index] }

  /// The object a row is of, loaded if need be; nil if that row was deleted.
  public func model(at index: Int) -> Row.Model? {
    node.accessContent()
    return context.model(Row.Model.self, key: node.content.keys[index])
  }

  /// Calls `body` after each transition that changed the result, with what changed, by index, old and new rows.
  ///
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Row>) -> Void) -> DifferenceToken { node.onDifference(body) }

  // MARK: Replacing the query

  /// What it shows: which rows, in which order, how many. The rest of a descriptor has no effect here. If it was replaced
  /// during a pause, what it will show.
  public var descriptor: FetchDescriptor<Row.Model> { query.descriptor }

  /// Replaces the query; see ``LiveQuery/update(_:)``. Rows that were shown already are not read again.
  ///
  ///     try rows.update { $0.fetchLimit = 40 }
  ///
  /// - Throws: as `fetch` does; then nothing has changed.
  public func update(_ change: (inout FetchDescriptor<Row.Model>) throws -> Void) throws {
    var descriptor = descriptor
    try change(&descriptor)
    try update(query: descriptor)
  }

  /// Replaces the predicate.
  public func update(where predicate: Predicate<Row.Model>?) throws { try update { $0.predicate = predicate } }

  /// Replaces the query by what a fetch with this descriptor would give. A condition on the rows' own fields stays; so does
  /// an order by fields, if the descriptor has none.
  public func update(query descriptor: FetchDescriptor<Row.Model>) throws {
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
