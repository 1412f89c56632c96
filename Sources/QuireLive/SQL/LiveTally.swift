package import QuireModel
package import QuireRow
package import QuireSQLite

/// The number of rows of a query made at run time, as a live result with one record.
package final class LiveTally: LiveResult {
  let node: LiveNode<MeasureOperator<Record>>
  private let names: ColumnNames

  /// - Parameters:
  ///   - select: The rows, as for ``LiveSelection``.
  ///   - name: The name of the record's one column.
  /// - Throws: Errors of SQLite.
  package init(_ context: ModelContext, _ select: SelectQuery, named name: String) throws {
    let owner = context.owner
    try owner.following.catchUp()
    _ = try owner.requireStore()
    let names = ColumnNames([name])
    self.names = names
    let count = try MeasureOperator(select, Aggregate(.count)) {
      Record(values: [.integer(Int64($0.count))], names: names)
    }
    node = try LiveNode(count, select, in: owner)
    super.init(node, in: context)
  }

  package var columns: [String] { names.all }

  package var records: [Record] {
    node.accessContent()
    return [node.content.value]
  }

  /// Calls `body` after each transition that changed the number. Ends with the token.
  package func onDifference(_ body: @escaping (Difference<Record>) -> Void) -> ChangeToken {
    node.onDifference(body)
  }

  /// Replaces the query.
  package func update(query select: SelectQuery) throws { try node.update { select } }
}
