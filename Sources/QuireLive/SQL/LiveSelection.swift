package import QuireModel
package import QuireRow
package import QuireSQLite

/// Rows of a query made while the program runs, as records that follow their rows: what ``LiveRows`` is, for tables that
/// no model of the program describes.
///
/// Always what the same query would give. A commit costs statements by key for the rows it affects, and none if it affects
/// none; the query is run again only if it is not known what changed, as after another process's commit to a file without
/// a change log. See ``LiveResult`` for what all live results share.
package final class LiveSelection: LiveResult {
  let node: LiveNode<RowsOperator<Record>>
  private let names: ColumnNames

  /// - Parameters:
  ///   - select: Which rows, in which order. Its key is the table's row id, under whichever name; each table it reaches has
  ///     one too, which is what steps lead to. The values it is ordered by are compared by their bytes.
  ///   - columns: What each record has, by name.
  /// - Throws: what SQLite refuses.
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
  package func onDifference(_ body: @escaping (Difference<Record>) -> Void) -> DifferenceToken {
    node.onDifference(body)
  }

  /// Replaces the query; its records have the same columns.
  package func update(query select: SelectQuery) throws { try node.update { select } }
}

extension ModelContext {
  /// How a ``LiveSelection`` would be kept.
  package func explainLive(_ select: SelectQuery, columns: [(name: String, value: RowExpression)]) throws
    -> LiveExplanation
  {
    try owner.following.catchUp()
    return try owner.readLatest { try .ofRows(nil, select, columns.map(\.value), on: $0) }
  }

  /// How a ``LiveTally`` would be kept.
  package func explainLive(countOf select: SelectQuery) throws -> LiveExplanation {
    try owner.following.catchUp()
    return try owner.readLatest(AggregateTracker(select, [Aggregate(.count)]).explanation)
  }

  /// Who has made the commits of which live results are being told; empty while nothing is.
  package var toldOrigins: Set<ChangeSet.Origin> { owner.following.toldOrigins }

  /// Has the store tell such commits as this program's own.
  package func recognize(_ commits: LocalCommits) { owner.store?.database.recognize(commits) }

  /// Whether the file keeps a log of its changes, so that what other processes have changed is known by row.
  package var knowsForeignRows: Bool { owner.store?.database.latestToken != nil }
}
