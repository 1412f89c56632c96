public import Foundation

/// A condition on a model's objects, written in Swift and asked of their rows.
///
///     let recent = #Predicate<Book> { $0.year > 1990 }
///     let found = #Predicate<Book> { recent.evaluate($0) && $0.author?.name == search.text }
///
/// Takes the place of Foundation's macro where the closure's parameter is a model, and gives the same `Predicate`. Beyond
/// what that one knows it takes other predicates (`evaluate`), captured values written as any expression (`Date.now`,
/// `settings.limit`, `.poem`), `let`, `guard` and `if` with several conditions, `hasPrefix`, `hasSuffix`, `~=`, and calls
/// that Swift answers for each row (`$0.title.lowercased()`). What is not of the row is computed once, when the predicate
/// is made. Which parts become SQL: see Documentation/Predicates.md.
@freestanding(expression)
public macro Predicate<each Model: PersistentModel>(_ body: (repeat each Model) -> Bool)
  -> Foundation.Predicate<repeat each Model> =
  #externalMacro(module: "QuireMacros", type: "PredicateMacro")
