package import Foundation
package import QuireRow

/// The predicate as a condition over columns of the model's row and the rows it references.
///
/// What does not depend on the row (captured values, `search.text`, `ids.count > 3`) is evaluated here, once. Text
/// compares by its bytes, `count` counts Unicode scalars, dates compare to the microsecond: see ``RowExpression``.
package func translate<M>(_ predicate: Predicate<M>, resolving resolver: some PathResolver)
  throws(UntranslatablePredicate) -> RowExpression
{
  var translation = Translation(resolver: resolver)
  translation.bind(predicate.variable.key, to: .row(Row(steps: [], type: M.self)), called: "$0")
  return try translation.expression(of: predicate.expression)
}

/// An expression as a value over the same columns.
///
/// Other than a predicate, which only accepts or not, it has a result that must be what Swift computes: division of reals
/// by zero is infinite, and arithmetic of `Float`, which SQLite does in double precision, is refused.
package func translate<M, V>(_ expression: Expression<M, V>, resolving resolver: some PathResolver)
  throws(UntranslatablePredicate) -> RowExpression
{
  var translation = Translation(resolver: resolver)
  translation.isComputed = true
  translation.bind(expression.variable.key, to: .row(Row(steps: [], type: M.self)), called: "$0")
  return try translation.expression(of: expression.expression)
}

/// A part of a predicate on its way to SQL.
enum Term {
  case expression(RowExpression)
  /// The row a to-one leads to, or the row itself.
  case row(Row)
  /// The rows of a to-many, of that type.
  case toMany(RelatedRows, Any.Type)
  /// The same for every row: known already.
  case captured(Any)
  case range(lower: RowExpression?, upper: RowExpression?, isClosed: Bool)
}

struct Row {
  let steps: [ColumnPath.Step]
  let type: Any.Type

  /// The foreign key that leads here; nil for the query's own row, which is always there.
  var reference: ColumnPath? {
    steps.last.map { ColumnPath(Array(steps.dropLast()), $0.foreignKey) }
  }
}

/// A kind of expression whose meaning in SQL we know.
protocol TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term
  /// In Swift's words, for messages.
  func words(in translation: Translation) -> String
}

/// What is known while a predicate is translated: the schema, and what each closure parameter stands for.
struct Translation {
  let resolver: any PathResolver
  /// Whether the result is a value and no condition.
  var isComputed = false
  private var variables: [PredicateExpressions.VariableID: (term: Term, name: String)] = [:]
  /// Parameters of closures around this one that stand for another row.
  private var outer: Set<PredicateExpressions.VariableID> = []

  init(resolver: any PathResolver) { self.resolver = resolver }

  mutating func bind(_ variable: PredicateExpressions.VariableID, to term: Term, called name: String) {
    variables[variable] = (term, name)
  }

  func binding(_ variable: PredicateExpressions.VariableID, to term: Term, called name: String) -> Translation {
    var copy = self
    copy.bind(variable, to: term, called: name)
    return copy
  }

  /// Inside a closure over related rows: what stands for the row around it is out of reach.
  func enteringRow() -> Translation {
    var copy = self
    for (variable, known) in variables {
      if case .captured = known.term { continue }
      copy.outer.insert(variable)
    }
    return copy
  }

  func isOuter(_ variable: PredicateExpressions.VariableID) -> Bool { outer.contains(variable) }

  subscript(variable: PredicateExpressions.VariableID) -> (term: Term, name: String)? { variables[variable] }

  // MARK: Parts

  func term<E: PredicateExpression>(of part: E) throws(UntranslatablePredicate) -> Term {
    if let known = part as? any TranslatableExpression { return try known.term(in: self) }
    // Not known, but perhaps the same for every row.
    if let value = try? part.evaluate(PredicateBindings()) { return .captured(value) }
    throw refusal(part, "it has no translation to SQL", "Filter the fetched objects in Swift instead.")
  }

  func expression<E: PredicateExpression>(of part: E) throws(UntranslatablePredicate) -> RowExpression {
    switch try term(of: part) {
    case .expression(let expression): return expression
    case .captured(let value): return .literal(try literal(value, in: part))
    case .row(let row):
      if let reference = row.reference { return .column(reference) }
      throw refusal(part, "a whole object is no value", "Compare its persistentModelID.")
    case .toMany: throw toManyRefusal(part)
    case .range: throw refusal(part, "a range is no value", "Ask whether it contains a value.")
    }
  }

  func words<E: PredicateExpression>(_ part: E) -> String {
    (part as? any TranslatableExpression)?.words(in: self) ?? Self.typeName(E.self)
  }

  // MARK: Captured values

  /// - Throws: for a value no column holds.
  func literal<E: PredicateExpression>(_ captured: Any, in part: E) throws(UntranslatablePredicate) -> Value {
    guard let value = unwrapped(captured) else { return .null }
    do {
      if let known = try resolver.value(of: value) { return known }
      if let stored = try Self.storedValue(value) { return stored }
    } catch {
      throw refusal(part, "the captured value fits no column (\(error))", "Compare with a value that can be stored.")
    }
    throw refusal(
      part, "a \(type(of: value)) has no column form",
      "Capture a stored property of it, or give it a raw value that is stored.")
  }

  private static func storedValue(_ value: Any) throws -> Value? {
    if let stored = value as? any StoredValue { return try Value(storing: stored) }
    if let raw = value as? any RawRepresentable { return try storedValue(rawValue(raw)) }
    if let text = value as? any StringProtocol { return .text(String(text)) }
    return nil
  }

  private static func rawValue<R: RawRepresentable>(_ value: R) -> Any { value.rawValue }

  /// The payload of an optional, however deep; nil for nil.
  func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any AnyOptional else { return value }
    return optional.payload.flatMap(unwrapped)
  }

  // MARK: Refusals

  func refusal<E: PredicateExpression>(_ part: E, _ reason: String, _ advice: String) -> UntranslatablePredicate {
    UntranslatablePredicate(part: words(part), reason: reason, advice: advice)
  }

  /// What asks about many rows at once otherwise than `contains`, `allSatisfy`, `filter`, `count` and `isEmpty` do.
  func toManyRefusal<E: PredicateExpression>(_ part: E) -> UntranslatablePredicate {
    refusal(
      part, "of a to-many relationship this is not translated",
      "Ask with contains(where:), allSatisfy, filter, count or isEmpty, or fetch the other model.")
  }

  static func typeName(_ type: Any.Type) -> String {
    let name = String(describing: type)
    return String(name.prefix { $0 != "<" })
  }
}

/// Optionals, whatever they wrap.
protocol AnyOptional {
  var payload: Any? { get }
}

extension Optional: AnyOptional {
  var payload: Any? { self }
}

extension RowExpression {
  /// Computed now where no column is in it.
  var folded: RowExpression {
    switch self {
    case .literal, .exists, .countRows, .aggregate: return self
    default: break
    }
    let isConstant = operands.allSatisfy { if case .literal = $0 { true } else { false } }
    if case .column = self { return self }
    return isConstant ? .literal(evaluate { _ in .null }) : self
  }
}
