import Foundation
import QuireRow

/// Questions about the many rows of a relationship.
extension Translation {
  /// The related rows for which a closure holds.
  func rows<T: PredicateExpression>(
    _ rows: RelatedRows, of type: Any.Type, meeting test: T, _ variable: PredicateExpressions.VariableID
  ) throws(UntranslatablePredicate) -> RelatedRows {
    rows.filtered(try condition(test, on: type, variable))
  }

  /// A closure over a related row as a condition over its columns.
  func condition<T: PredicateExpression>(
    _ test: T, on type: Any.Type, _ variable: PredicateExpressions.VariableID
  ) throws(UntranslatablePredicate) -> RowExpression {
    var inner = enteringRow()
    inner.bind(variable, to: .row(Row(steps: [], type: type)), called: "$0")
    return try inner.expression(of: test)
  }

  /// What is asked of a to-many by name: how many there are, whether there are none.
  func property<Root, Output>(
    _ kind: PredicateExpressions.KeyPath<Root, Output>.CommonKeyPathKind?, of rows: RelatedRows
  ) -> RowExpression? {
    switch kind {
    case .collectionCount: .countRows(rows)
    case .collectionIsEmpty: !.exists(rows)
    default: nil
    }
  }
}
