package import QuireModel
package import QuireRow
package import QuireSQLite

/// A live result of a query made at run time, with records as rows: like ``LiveRows``, for tables that no model of the
/// program describes.
///
/// Always equals the same query. A commit costs statements by key for the rows it affects, and none if it affects none.
/// The query is run again only if the changed rows are unknown, as after another process's commit to a file without a
/// change log. See ``LiveResult`` for what all live results have in common.
package final class LiveSelection: LiveResult {
  let node: LiveNode<RowsOperator<Record>>
  private let names: ColumnNames

  /// - Parameters:
  ///   - select: The rows and their order. Its key is the table's row id, under any name; each table it reaches must
  ///     have one too, because steps lead to it. Order values are compared by their bytes.
  ///   - columns: The columns of each record, by name.
  /// - Throws: Errors of SQLite.
  package init(_ context: ModelContext, _ select: SelectQuery, columns: [(name: String, value: RowExpression)]) throws {
    let owner = context.owner
    try owner.following.catchUp()
    _ = try owner.requireStore()
    let names = ColumnNames(columns.map(\.name))
    self.names = names
    let key = RowExpression.column(ColumnPath(select.key))
    let width = Int32(columns.count)
    let form = RowForm<Record>(expressions: columns.map(\.value) + [key], keyPlace: width, areIdentical: ==) { row in
      Record(values: (0..<width).map(row.value), names: names)
    }
    node = try LiveNode(RowsOperator(select, form, owner: owner), select, in: owner)
    super.init(node, in: context)
  }

  package var columns: [String] { names.all }

  package var records: [Record] {
    node.accessContent()
    return node.content.values
  }

  /// Calls `body` after each transition that changed the records; see ``Difference``. Ends with the token.
  package func onDifference(_ body: @escaping (Difference<Record>) -> Void) -> ChangeToken {
    node.onDifference(body)
  }

  /// Replaces the query; its records have the same columns.
  package func update(query select: SelectQuery) throws { try node.update { select } }
}

extension ModelContext {
  /// Explains how a ``LiveSelection`` would be kept up to date.
  package func explainLive(_ select: SelectQuery, columns: [(name: String, value: RowExpression)]) throws
    -> LiveExplanation
  {
    try owner.following.catchUp()
    return try owner.readLatest { try .ofRows(nil, select, columns.map(\.value), on: $0) }
  }

  /// Explains how a ``LiveTally`` would be kept up to date.
  package func explainLive(countOf select: SelectQuery) throws -> LiveExplanation {
    try owner.following.catchUp()
    return try owner.readLatest(AggregateTracker(select, [Aggregate(.count)]).explanation)
  }

  /// The origins of the commits of which live results are being notified; empty outside a notification.
  package var toldOrigins: Set<ChangeSet.Origin> { owner.following.toldOrigins }

  /// Makes the store report such commits as this program's own.
  package func recognize(_ commits: LocalCommits) { owner.store?.database.recognize(commits) }

  /// Whether the file has a change log, so that changes of other processes are known by row.
  package var knowsForeignRows: Bool { owner.store?.database.latestToken != nil }
}
