package import QuireModel
package import QuireRow
package import QuireSQLite

/// How many rows a query made while the program runs has, as one record that follows them.
package final class LiveTally: LiveResult {
  let node: LiveNode<MeasureOperator<Record>>
  private let names: ColumnNames

  /// - Parameters:
  ///   - select: Which rows, as for ``LiveSelection``.
  ///   - name: Of the record's one column.
  /// - Throws: what SQLite refuses.
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
  package func onDifference(_ body: @escaping (Difference<Record>) -> Void) -> DifferenceToken {
    node.onDifference(body)
  }

  /// Replaces the query.
  package func update(query select: SelectQuery) throws { try node.update { select } }
}
