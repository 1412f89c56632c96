import Foundation
package import QuireRow

extension ChangeWriter {
  /// Gives every row that changes or goes other values, which no row has, in place of its unique ones.
  ///
  /// - Returns: The steps, which know these values: a row that holds them counts as it was found.
  func givingUpValues(_ steps: [Step]) throws -> [Step] {
    var uniques: [String: [UniqueColumns]] = [:]
    return try steps.enumerated().map { number, step in
      guard let old = step.old else { return step }
      let form = step.form
      if uniques[form.table.name] == nil { uniques[form.table.name] = try uniqueColumns(of: form) }
      var step = step
      for columns in uniques[form.table.name] ?? [] {
        for place in columns.places(of: step) {
          step.spares[place] =
            columns.nullable.contains(place) ? .null : old[place].columnType.map { .spare($0, Int64(number)) }
        }
      }
      if step.spares.isEmpty { return step }
      let row = old.indices.map { step.spares[$0] ?? old[$0] }
      try update(row, at: step.spares.keys.sorted(), step)
      return step
    }
  }

  /// Columns of which no two rows share all values, by their places in the table.
  private struct UniqueColumns {
    let places: [Int]
    let nullable, references: Set<Int>

    /// Where a row gives up values. A row that changes does so where it gets others. One that goes keeps its references
    /// if it can, because references to rows that go are counted.
    func places(of step: Step) -> [Int] {
      guard let old = step.old else { return [] }
      if let new = step.new { return places.filter { old[$0] != new[$0] } }
      let values = places.filter { !references.contains($0) }
      return values.isEmpty ? places : values
    }
  }

  private func uniqueColumns(of form: Form) throws -> [UniqueColumns] {
    let reader = SchemaReader(connection)
    let name = form.table.name
    func places(_ names: some Sequence<String>) -> Set<Int> {
      Set(names.compactMap { form.table.index(of: $0) }).intersection(form.places)
    }
    let nullable = places(try reader.columns(of: name).filter { !$0.isRequired && $0.keyPlace == 0 }.map(\.name))
    let references = places(try reader.foreignKeys(of: name).flatMap(\.columns))
    // A row whose primary key changes is another row.
    return try reader.indexes(of: name).filter { $0.isUnique && $0.origin != .primaryKey }.map { index in
      UniqueColumns(
        places: places(index.columns.compactMap(\.name)).sorted(), nullable: nullable, references: references)
    }
  }
}

extension Value {
  /// A value that differs for each number, and that no other code writes.
  package static func spare(_ type: ColumnType, _ number: Int64) -> Value {
    switch type {
    case .integer: .integer(Int64.min + number)
    case .real: .real(-1e300 - Double(number) * 1e290)
    case .text, .any: .text("\u{1}quire \(number)")
    case .blob: .blob(Data("\u{1}quire \(number)".utf8))
    }
  }

  /// The kind of column that holds such values; nil for NULL.
  fileprivate var columnType: ColumnType? {
    switch self {
    case .null: nil
    case .integer: .integer
    case .real: .real
    case .text, .malformedText: .text
    case .blob: .blob
    }
  }
}
