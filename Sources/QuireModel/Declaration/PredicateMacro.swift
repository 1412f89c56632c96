public import Foundation

/// A condition on a model's objects, written in Swift and evaluated on their rows.
///
///     let recent = #Predicate<Book> { $0.year > 1990 }
///     let found = #Predicate<Book> { recent.evaluate($0) && $0.author?.name == search.text }
///
/// Replaces Foundation's macro if the closure's parameter is a model, and produces the same `Predicate`. It also
/// accepts other predicates (`evaluate`), captured values written as any expression (`Date.now`, `settings.limit`,
/// `.poem`), `let`, `guard` and `if` with several conditions, `hasPrefix`, `hasSuffix`, `~=`, and calls that Swift
/// evaluates for each row (`$0.title.lowercased()`). Anything that does not depend on the row is computed once, when
/// the predicate is made. For the parts that become SQL, see Documentation/Predicates.md.
@freestanding(expression)
public macro Predicate<each Model: PersistentModel>(_ body: (repeat each Model) -> Bool)
  -> Foundation.Predicate<repeat each Model> =
  #externalMacro(module: "QuireMacros", type: "PredicateMacro")

/// A value computed from a model's objects, written in Swift and evaluated on their rows.
///
///     let decade = #Expression<Book, Int> { ($0.year ?? 0) / 10 }
///     let found = #Predicate<Book> { decade.evaluate($0) == 199 }
///
/// Replaces Foundation's macro if the closure's parameter is a model, produces the same `Expression`, and accepts the
/// same Swift as `#Predicate`.
@freestanding(expression)
public macro Expression<each Model: PersistentModel, Value>(_ body: (repeat each Model) -> Value)
  -> Foundation.Expression<repeat each Model, Value> =
  #externalMacro(module: "QuireMacros", type: "RowExpressionMacro")

/// Written for ``Computed(_:)``: an expression of what has SQL.
@freestanding(expression)
public macro _RowExpression<each Model: PersistentModel, Value>(_ body: (repeat each Model) -> Value)
  -> Foundation.Expression<repeat each Model, Value> =
  #externalMacro(module: "QuireMacros", type: "SQLExpressionMacro")
