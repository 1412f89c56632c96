/// Compares projected rows to the byte: rows that Swift considers equal may hold texts of different bytes.
package struct ProjectionComparison<Row: Projection> {
  /// One for each field that may hold text.
  private let textsDiffer: [(Row, Row) -> Bool]

  package init() {
    textsDiffer = Row._quireDefinition.fields.compactMap { field in
      func comparison<Value>(_ type: Value.Type) -> ((Row, Row) -> Bool)? {
        guard !_isPOD(type), let keyPath = field.keyPath as? KeyPath<Row, Value> else { return nil }
        return { QuireModel.textsDiffer($0[keyPath: keyPath], $1[keyPath: keyPath]) }
      }
      return _openExistential(type(of: field.keyPath).valueType, do: comparison)
    }
  }

  package func areIdentical(_ a: Row, _ b: Row) -> Bool { a == b && !textsDiffer.contains { $0(a, b) } }
}
