public import QuireRow

// What a field of a projection is read from, beside a property and a path. An aggregate of a to-many relationship gives
// what the same question asked of the related objects would: `fetchCount`, `fetchSum`, `fetchAverage`, `fetchMin` and
// `fetchMax` with a predicate for one object. All fields of a row are read by one statement: an aggregate costs a search
// by the foreign key's index, and what the object's related rows cost to read.

/// How many related objects there are, or how many of them a condition holds for.
///
///     @Count(\Library.books, where: { $0.isAvailable }) var available: Int
///
/// The condition is what `#Predicate` takes.
@attached(peer)
public macro Count<Model: PersistentModel, Related: PersistentModel>(
  _ objects: KeyPath<Model, [Related]>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The exact sum of a property of the related objects: of whole numbers an `Int`, of reals a `Double`; 0 of nothing.
///
/// A sum beyond `Int`, or of infinities of both signs, is an error when the row is read, which names it.
@attached(peer)
public macro Sum<Model: PersistentModel, Related: PersistentModel, Value: Summable>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The nearest `Double` to the exact average of a property of the related objects; nil of nothing. The field is a
/// `Double?`.
@attached(peer)
public macro Average<Model: PersistentModel, Related: PersistentModel, Value: Summable>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The least value of a property of the related objects in the order of its column, text by its bytes; nil of nothing.
@attached(peer)
public macro Min<Model: PersistentModel, Related: PersistentModel, Value>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The greatest value, as ``Min(_:_:where:)`` is the least.
@attached(peer)
public macro Max<Model: PersistentModel, Related: PersistentModel, Value>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// A value computed by the database from the object's properties, what to-one paths lead to, and questions about to-many
/// relationships: what `#Expression` takes, with the model named.
///
///     @Computed({ (book: Book) in book.rating * 20 }) var percent: Double
///     @Computed({ (book: Book) in book.author?.name ?? "unknown" }) var by: String
///
/// It has the value Swift would compute. Where Swift would trap (an overflow, a division of whole numbers by zero, `!` of
/// nil) and where the result is no number, it is nil, and an error naming row and field where the field takes no nil or
/// the number is beyond its type. As in predicates text is compared by its bytes, and its `count` is of Unicode scalars.
/// What has no SQL is an error when the query is made, and at compile time where `#Expression` sees it.
@attached(peer)
public macro Computed<Model: PersistentModel, Value>(_ value: (Model) -> Value) =
  #externalMacro(module: "QuireMacros", type: "FieldMacro")
