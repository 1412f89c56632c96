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
