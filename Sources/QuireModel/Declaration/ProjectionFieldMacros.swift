public import QuireRow

// Sources of a projection's fields, beside properties and paths. An aggregate of a to-many relationship has the value
// that `fetchCount`, `fetchSum`, `fetchAverage`, `fetchMin` or `fetchMax` would return with a predicate for one object.
// One statement reads all fields of a row: an aggregate costs a search in the foreign key's index, and reading the
// object's related rows.

/// The number of related objects, or of those that meet a condition.
///
///     @Count(\Library.books, where: { $0.isAvailable }) var available: Int
///
/// The condition is a closure as `#Predicate` takes it.
@attached(peer)
public macro Count<Model: PersistentModel, Related: PersistentModel>(
  _ objects: KeyPath<Model, [Related]>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The exact sum of a property of the related objects: an `Int` for whole numbers, a `Double` for reals; 0 if there are
/// none.
///
/// A sum beyond `Int`, or of infinities of both signs, is an error when the row is read; the error names the row.
@attached(peer)
public macro Sum<Model: PersistentModel, Related: PersistentModel, Value: Summable>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The nearest `Double` to the exact average of a property of the related objects; nil if there are none. The field is
/// a `Double?`.
@attached(peer)
public macro Average<Model: PersistentModel, Related: PersistentModel, Value: Summable>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The least value of a property of the related objects in the order of its column, text by its bytes; nil if there is
/// none.
@attached(peer)
public macro Min<Model: PersistentModel, Related: PersistentModel, Value>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// The greatest value, ordered as in ``Min(_:_:where:)``; nil if there is none.
@attached(peer)
public macro Max<Model: PersistentModel, Related: PersistentModel, Value>(
  _ objects: KeyPath<Model, [Related]>, _ property: KeyPath<Related, Value>, where condition: ((Related) -> Bool)? = nil
) = #externalMacro(module: "QuireMacros", type: "FieldMacro")

/// A value that the database computes from the object's properties, from what to-one paths lead to, and from aggregates
/// of to-many relationships. The closure is what `#Expression` takes, with the model named.
///
///     @Computed({ (book: Book) in book.rating * 20 }) var percent: Double
///     @Computed({ (book: Book) in book.author?.name ?? "unknown" }) var by: String
///
/// It has the value that Swift would compute. If Swift would trap (an overflow, a division of whole numbers by zero,
/// `!` of nil), or if the result is not a number, the field is nil. It is an error that names row and field if the
/// field is not optional or the number is beyond its type. As in predicates, text is compared by its bytes, and its
/// `count` is of Unicode scalars. A call that has no SQL is refused at compile time; anything else that
/// has none is an error when the query is made.
@attached(peer)
public macro Computed<Model: PersistentModel, Value>(_ value: (Model) -> Value) =
  #externalMacro(module: "QuireMacros", type: "FieldMacro")
