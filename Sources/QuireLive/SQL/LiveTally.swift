import Observation
package import QuireModel
package import QuireRow
package import QuireSQLite

/// How many rows a query made while the program runs has, as one record that follows them.
package final class LiveTally: Observable {
  private let context: ModelContext
  private let measure: LiveMeasure<Int>
  private let names: ColumnNames
  private let registrar = ObservationRegistrar()
  private let listeners = DifferenceListeners<Difference<Record>>()
  private var shown: Record

  /// - Parameters:
  ///   - select: Which rows, as for ``LiveSelection``.
  ///   - name: Of the record's one column.
  /// - Throws: what SQLite refuses.
  package init(_ context: ModelContext, _ select: SelectQuery, named name: String) throws {
    self.context = context
    try context.owner.following.settleThrowing()
    _ = try context.owner.requireStore()
    let names = ColumnNames([name])
    self.names = names
    measure = try LiveMeasure(context, select, Aggregate(.count)) { $0.count }
    shown = Record(values: [.integer(Int64(measure.value))], names: names)
    measure.willChange = { [weak self] in if let self { registrar.willSet(self, keyPath: \.records) } }
    measure.didChange = { [weak self] in self?.didChange() }
    measure.didFail = { [weak self] in
      if let self { registrar.withMutation(of: self, keyPath: \.error) {} }
    }
  }

  private func didChange() {
    let old = shown
    shown = Record(values: [.integer(Int64(measure.value))], names: names)
    registrar.didSet(self, keyPath: \.records)
    listeners.tell(Difference(commit: measure.commitNumber, changes: [.update(at: 0, old: old, new: shown)]))
  }

  package var columns: [String] { names.all }

  package var records: [Record] {
    registrar.access(self, keyPath: \.records)
    return [shown]
  }

  /// Why it could not follow the last commit; nil while it does. The number stays what it was until it can.
  package var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return measure.error
  }

  /// The commit the number stands at.
  package var commitNumber: Int64 { measure.commitNumber }
  /// How many statements it has run since it was made.
  package var queriesRun: Int { measure.queriesRun }

  /// Calls `body` after each move that changed the number. Ends with the token.
  package func onDifference(_ body: @escaping (Difference<Record>) -> Void) -> DifferenceToken { listeners.add(body) }

  /// For tests: makes it wrong.
  package func injectFault() { measure.injectFault() }
}
