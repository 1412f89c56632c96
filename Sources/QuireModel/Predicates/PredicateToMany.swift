import Foundation
import QuireRow

/// Conditions on the related rows of a to-many relationship.
extension Translation {
  /// The related rows that meet a closure's condition.
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

  /// Properties of a to-many: `count` and `isEmpty`.
  func property<Root, Output>(
    _ kind: PredicateExpressions.KeyPath<Root, Output>.CommonKeyPathKind?, of rows: RelatedRows
  ) -> RowExpression? {
    switch kind {
    case .collectionCount: .countRows(rows)
    case .collectionIsEmpty: !.exists(rows)
    default: nil
    }
  }

  /// Whether there is a row of a one-to-one relationship whose column is on the other side, which is asked as a list is;
  /// nil for anything else.
  func presence<P: PredicateExpression>(of part: P) throws(UntranslatablePredicate) -> RowExpression? {
    guard let optional = P.Output.self as? any AnyOptional.Type, optional.wrapped is any PersistentModel.Type,
      case .toMany(let rows, _) = try term(of: part)
    else { return nil }
    return .exists(rows)
  }
}
