package import Foundation
package import QuireRow

/// The predicate as a condition over columns of the model's row and of the rows it references.
///
/// Parts that do not depend on the row (captured values, `search.text`, `ids.count > 3`) are evaluated here, once. Text
/// is compared by its bytes, `count` counts Unicode scalars, dates compare exactly: see ``RowExpression``.
///
/// - Parameters:
///   - computed: Collects the parts that only Swift can evaluate, on the row's object; nil if there will be no object.
///   - standIns: Values to translate in place of those that are captured.
/// - Throws: For a part that has no SQL and, with `computed`, cannot be evaluated safely either.
package func translate<M>(
  _ predicate: Predicate<M>, resolving resolver: some PathResolver, computed: ComputedValues? = nil,
  standingIn standIns: StandIns? = nil
) throws(UntranslatablePredicate) -> RowExpression {
  var translation = Translation(resolver: resolver)
  translation.standIns = standIns
  if let computed { translation.computes(computed, from: predicate.variable) }
  translation.bind(predicate.variable.key, to: .row(Row(steps: [], type: M.self)), called: "$0")
  return try translation.expression(of: predicate.expression)
}

/// An expression as a value over the same columns.
///
/// Unlike a predicate, which only accepts or rejects, it has a result that must equal Swift's: division of reals by
/// zero is infinite, and arithmetic of `Float`, which SQLite does in double precision, is refused.
package func translate<M, V>(_ expression: Expression<M, V>, resolving resolver: some PathResolver)
  throws(UntranslatablePredicate) -> RowExpression
{
  var translation = Translation(resolver: resolver)
  translation.isComputed = true
  translation.bind(expression.variable.key, to: .row(Row(steps: [], type: M.self)), called: "$0")
  return try translation.expression(of: expression.expression)
}

/// A part of a predicate during translation to SQL.
enum Term {
  case expression(RowExpression)
  /// The row that a to-one leads to, or the row itself.
  case row(Row)
  /// The rows of a to-many, of that type.
  case toMany(RelatedRows, Any.Type)
  /// A value that is known already, because it is the same for every row.
  case captured(Any)
  case range(lower: RowExpression?, upper: RowExpression?, isClosed: Bool)
}

struct Row {
  let steps: [ColumnPath.Step]
  let type: Any.Type

  /// The foreign key that leads here; nil for the query's own row, which always exists.
  var reference: ColumnPath? {
    steps.last.map { ColumnPath(Array(steps.dropLast()), $0.foreignKey) }
  }
}

/// A kind of expression with a known meaning in SQL.
protocol TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term
  /// Its Swift source, for messages.
  func words(in translation: Translation) -> String
}

/// The state of a translation: the schema, and the meaning of each closure parameter.
struct Translation {
  let resolver: any PathResolver
  /// Whether the result is a value rather than a condition.
  var isComputed = false
  /// Translated in place of captured values.
  var standIns: StandIns?
  private var variables: [PredicateExpressions.VariableID: (term: Term, name: String)] = [:]
  /// Parameters of enclosing closures that stand for another row.
  private var outer: Set<PredicateExpressions.VariableID> = []
  /// Collects values that only Swift can compute; nil if the query will be SQL only.
  private var computed: ComputedValues?
  /// Binds each parameter that stands for the row's object, from which values are computed.
  private var objects: [(inout PredicateBindings, Any) -> Void] = []

  init(resolver: any PathResolver) { self.resolver = resolver }

  mutating func bind(_ variable: PredicateExpressions.VariableID, to term: Term, called name: String) {
    variables[variable] = (term, name)
  }

  /// With a parameter of a closure in the predicate: nothing inside it is computed by Swift, only the expression around
  /// it.
  func binding(_ variable: PredicateExpressions.VariableID, to term: Term, called name: String) -> Translation {
    var copy = self
    copy.bind(variable, to: term, called: name)
    copy.computed = nil
    return copy
  }

  /// Inside a closure over related rows: parameters of the enclosing row are not available.
  func enteringRow() -> Translation {
    var copy = self
    copy.computed = nil
    for (variable, known) in variables {
      if case .captured = known.term { continue }
      copy.outer.insert(variable)
    }
    return copy
  }

  func isOuter(_ variable: PredicateExpressions.VariableID) -> Bool { outer.contains(variable) }

  subscript(variable: PredicateExpressions.VariableID) -> (term: Term, name: String)? { variables[variable] }

  // MARK: What Swift computes

  /// From now on, parts without SQL are computed from the object that the parameter stands for.
  mutating func computes<M>(_ values: ComputedValues, from variable: PredicateExpressions.Variable<M>) {
    computed = values
    stands(variable)
  }

  /// Adds another parameter for the same object.
  private mutating func stands<M>(_ variable: PredicateExpressions.Variable<M>) {
    objects.append { bindings, object in if let object = object as? M { bindings[variable] = object } }
  }

  /// For a predicate or expression evaluated inside this one, with its parameter bound to the input.
  func evaluating<M>(_ variable: PredicateExpressions.Variable<M>, for input: Term, called name: String) -> Translation
  {
    if case .row(let row) = input, row.steps.isEmpty, computed != nil {
      var copy = self
      copy.bind(variable.key, to: input, called: name)
      copy.stands(variable)
      return copy
    }
    return binding(variable.key, to: input, called: name)
  }

  /// A part without SQL, as a value that Swift computes from the object.
  ///
  /// - Parameters:
  ///   - refusal: Why it has no SQL.
  ///   - form: What the value is compared as.
  func computedTerm<E: PredicateExpression>(
    _ part: E, _ refusal: UntranslatablePredicate, as form: LiteralForm = .column
  ) throws(UntranslatablePredicate) -> Term {
    guard refusal.mayBeComputed, let computed, Columns.isStorable(E.Output.self) else { throw refusal }
    if let trap = Trap.inside(part) {
      throw UntranslatablePredicate(
        part: words(part), reason: "\(refusal.reason), and in Swift \(trap)",
        advice: "Give the model a property that computes it safely.", mayBeComputed: false)
    }
    let (objects, resolver) = (objects, resolver)
    return .expression(
      .computed(
        computed.add(words(part)) { object in
          var bindings = PredicateBindings()
          for bind in objects { bind(&bindings, object) }
          let value = try part.evaluate(bindings)
          return try Translation(resolver: resolver).literal(value, in: part, as: form)
        }))
  }

  // MARK: Parts

  func term<E: PredicateExpression>(of part: E) throws(UntranslatablePredicate) -> Term {
    do {
      return try sqlTerm(of: part)
    } catch {
      return try computedTerm(part, error)
    }
  }

  private func sqlTerm<E: PredicateExpression>(of part: E) throws(UntranslatablePredicate) -> Term {
    if let known = part as? any TranslatableExpression { return try known.term(in: self) }
    // Not a known kind, but perhaps the same for every row.
    if Trap.inside(part) == nil, let value = try? part.evaluate(PredicateBindings()) { return .captured(value) }
    throw refusal(
      part, "it has no translation to SQL",
      part is any ListExtreme
        ? "Filter a @Projection by its @Max or @Min, or the fetched objects in Swift."
        : "Filter the fetched objects in Swift instead.")
  }

  func expression<E: PredicateExpression>(of part: E) throws(UntranslatablePredicate) -> RowExpression {
    try expression(try term(of: part), of: part)
  }

  func expression<E: PredicateExpression>(_ term: Term, of part: E) throws(UntranslatablePredicate)
    -> RowExpression
  {
    switch term {
    case .expression(let expression): return expression
    case .captured(let value): return .literal(try literal(value, in: part))
    case .row(let row):
      if let reference = row.reference { return .column(reference) }
      throw refusal(part, "a whole object is not a value", "Compare its persistentModelID.")
    case .toMany: throw toManyRefusal(part)
    case .range: throw refusal(part, "a range is not a value", "Ask whether it contains a value.")
    }
  }

  func words<E: PredicateExpression>(_ part: E) -> String {
    (part as? any TranslatableExpression)?.words(in: self) ?? Self.typeName(E.self)
  }

  // MARK: Captured values

  enum LiteralForm {
    case column
    /// Of an identifier its model as well as its key.
    case identity
  }

  /// - Throws: For a value that no column can hold.
  func literal<E: PredicateExpression>(_ captured: Any, in part: E, as form: LiteralForm = .column)
    throws(UntranslatablePredicate) -> Value
  {
    guard let value = Self.unwrapped(captured) else { return .null }
    do {
      if form == .identity, let identity = try resolver.identity(of: value) { return identity }
      if let known = try resolver.value(of: value) { return known }
      if let stored = try Self.storedValue(value) { return stored }
    } catch let nothing as IdentifierOfNothing {
      throw UntranslatablePredicate(
        part: words(part), reason: nothing.reason, advice: "Ask with the identifier of a saved object of this store.",
        mayBeComputed: false)
    } catch {
      throw refusal(part, "the captured value fits no column (\(error))", "Compare with a value that can be stored.")
    }
    throw refusal(
      part, "a \(type(of: value)) has no column form",
      "Capture a stored property of it, or give it a raw value that is stored.")
  }

  /// The value as a column stores it; nil if it has no such form.
  static func storedValue(_ value: Any) throws -> Value? {
    if let date = value as? Date, let bound = textBeyondDates(date) { return bound }
    if let stored = value as? any StoredValue { return try Value(storing: stored) }
    if let raw = value as? any RawRepresentable { return try storedValue(rawValue(raw)) }
    if let text = value as? any StringProtocol { return .text(String(text)) }
    return nil
  }

  private static func rawValue<R: RawRepresentable>(_ value: R) -> Any { value.rawValue }

  /// A text that comes before or after those of all dates, for a date that no column can hold; nil for one that a column
  /// can hold.
  private static func textBeyondDates(_ date: Date) -> Value? {
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds.isNaN || (try? Value(storing: date)) != nil { return nil }
    return .text(seconds > 0 ? ":" : "")  // a colon follows the digits
  }

  /// The payload of an optional, however deeply nested; nil for nil.
  static func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any AnyOptional else { return value }
    return optional.payload.flatMap(unwrapped)
  }

  // MARK: Refusals

  func refusal<E: PredicateExpression>(_ part: E, _ reason: String, _ advice: String) -> UntranslatablePredicate {
    UntranslatablePredicate(part: words(part), reason: reason, advice: advice)
  }

  /// The error for an operation over many rows other than `contains`, `allSatisfy`, `filter`, `count` and `isEmpty`.
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

/// The greatest or the least element of a list.
private protocol ListExtreme {}
extension PredicateExpressions.SequenceMaximum: ListExtreme {}
extension PredicateExpressions.SequenceMinimum: ListExtreme {}

/// Optionals of any type.
protocol AnyOptional {
  static var wrapped: Any.Type { get }
  var payload: Any? { get }
}

extension Optional: AnyOptional {
  static var wrapped: Any.Type { Wrapped.self }
  var payload: Any? { self }
}

extension RowExpression {
  /// Evaluated now if it contains no column.
  var folded: RowExpression {
    switch self {
    case .literal, .column, .exists, .countRows, .aggregate, .written, .computed: return self
    default: break
    }
    let isConstant = operands.allSatisfy { if case .literal = $0 { true } else { false } }
    return isConstant ? .literal(evaluate { _ in .null }) : self
  }
}
