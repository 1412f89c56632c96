import Observation
package import QuireModel
package import QuireRow
package import QuireSQLite

/// Rows of a query made while the program runs, as records that follow their rows: what ``LiveRows`` is, for tables that
/// no model of the program describes.
///
/// Always what the same query would give. A commit costs statements by key for the rows it concerns, and none where it
/// concerns none; the query is run again only where what changed is not known, as after another process's commit to a
/// file without a change log. Kept as long as somebody holds it; confined to its context's isolation.
package final class LiveSelection: Observable {
  private let context: ModelContext
  let rows: RowList<Record>
  private let names: ColumnNames
  private let registrar = ObservationRegistrar()
  private let listeners = DifferenceListeners<Difference<Record>>()

  /// - Parameters:
  ///   - select: Which rows, in which order. Its key is the table's row id, under whichever name; each table it reaches has
  ///     one too, which is what steps lead to. The values it is ordered by are compared by their bytes.
  ///   - columns: What each record has, by name.
  /// - Throws: what SQLite refuses.
  package init(_ context: ModelContext, _ select: SelectQuery, columns: [(name: String, value: RowExpression)]) throws {
    self.context = context
    let owner = context.owner
    try owner.following.settleThrowing()
    _ = try owner.requireStore()
    let names = ColumnNames(columns.map(\.name))
    self.names = names
    let key = RowExpression.column(ColumnPath(select.key))
    let width = Int32(columns.count)
    let form = RowForm<Record>(expressions: columns.map(\.value) + [key], keyPlace: width, areIdentical: ==) { row in
      Record(values: (0..<width).map(row.value), names: names)
    }
    rows = try RowList(select, form, owner: owner)
    rows.willChange = { [weak self] changesRows, changesError in
      guard let self else { return }
      if changesRows { registrar.willSet(self, keyPath: \.records) }
      if changesError { registrar.willSet(self, keyPath: \.error) }
    }
    rows.didChange = { [weak self] difference, changesError in
      guard let self else { return }
      if changesError { registrar.didSet(self, keyPath: \.error) }
      guard let difference else { return }
      registrar.didSet(self, keyPath: \.records)
      listeners.tell(difference)
    }
  }

  package var columns: [String] { names.all }

  package var records: [Record] {
    registrar.access(self, keyPath: \.records)
    return rows.values
  }

  /// Why it could not follow the last commit; nil while it does. The records stay what they were until it can.
  package var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return rows.error
  }

  /// The commit the records stand at.
  package var commitNumber: Int64 { rows.commitNumber }
  /// How many statements it has run since it was made.
  package var queriesRun: Int { rows.queriesRun }

  /// Calls `body` after each move that changed the records; see ``Difference``. Ends with the token.
  package func onDifference(_ body: @escaping (Difference<Record>) -> Void) -> DifferenceToken { listeners.add(body) }

  /// For tests: makes it wrong.
  package func injectFault() {
    rows.list.injectFault()
    rows.affected.ignoresPaths = true
  }
}

extension ModelContext {
  /// How a ``LiveSelection`` would be kept.
  package func explainLive(_ select: SelectQuery, columns: [(name: String, value: RowExpression)]) throws
    -> LiveExplanation
  {
    try owner.following.settleThrowing()
    return try owner.readLatest { try .ofRows(nil, select, columns.map(\.value), on: $0) }
  }

  /// How a ``LiveTally`` would be kept.
  package func explainLive(countOf select: SelectQuery) throws -> LiveExplanation {
    try owner.following.settleThrowing()
    return try owner.readLatest(AggregateTracker(select, [Aggregate(.count)]).explanation)
  }

  /// Who has made the commits of which live results are being told; empty while nothing is.
  package var toldOrigins: Set<ChangeSet.Origin> { owner.following.toldOrigins }

  /// Has the store tell such commits as this program's own.
  package func recognize(_ commits: OwnCommits) { owner.store?.database.recognize(commits) }

  /// Whether the file keeps a log of its changes, so that what other processes have changed is known by row.
  package var knowsForeignRows: Bool { owner.store?.database.latestToken != nil }
}
