import Observation

/// Makes a class a stored, observable model: one table for the class, one row for each object.
///
///     @Model final class Book {
///       var title: String
///       var author: Author?
///       init(title: String) { self.title = title }
///     }
///
/// Every stored `var` becomes a column of its table or, if its type is a model or an array of models, a relationship. A
/// property that cannot be stored is an error at the property, which says what to write instead.
///
/// The table is called as the class, in SQL's manner: `book` for `Book`, `reading_list` for `ReadingList`. `table` names
/// one that is called otherwise, and `key` its INTEGER PRIMARY KEY if that is not `id`, as in a file that another program
/// has made: `@Model(table: "books", key: "book_id")`. Join tables keep the class's name.
@attached(
  member, conformances: PersistentModel,
  names: named(_quireState), named(_quireDefinition), named(init), named(_quireRead), named(_quireVacant),
  named(_quireBind), named(_quireDifference), named(_quireAdopt), named(_quireLink), named(_quireSetLink),
  named(_quireTell))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel)
public macro Model(table: String? = nil, key: String? = nil) =
  #externalMacro(module: "QuireMacros", type: "ModelMacro")

/// Options of a stored property, and its name in earlier schemas.
@attached(peer)
public macro Attribute(
  _ options: AttributeOption..., column: String? = nil, originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "QuireMacros", type: "AttributeMacro")

/// Declares what happens to the other side of a relationship when an object is deleted, and which property is the
/// inverse.
///
/// The inverse is inferred if exactly one property of the other model can be it. Name it on one side only: on both
/// sides it is a circular reference for the compiler. The join table is named after the side that names the inverse.
///
/// `order` keeps the list in the order in which it is assigned: it names a `Double` property of the other model, which
/// Quire sets; that model must have a reference back. Without it a list has the order of the keys. A count of 0 means
/// no limit.
@attached(peer)
public macro Relationship(
  _ options: AttributeOption..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
  maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil, order: AnyKeyPath? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "QuireMacros", type: "RelationshipMacro")

/// A property that is observed but not stored; it needs a default.
@attached(peer)
public macro Transient() = #externalMacro(module: "QuireMacros", type: "TransientMacro")

/// Indexes of a model's table, each over one or more properties.
@freestanding(declaration)
public macro Index<Model: PersistentModel>(_ indexes: [PartialKeyPath<Model>]...) =
  #externalMacro(module: "QuireMacros", type: "IndexMacro")

/// Sets of properties whose combined values must be unique within a model.
@freestanding(declaration)
public macro Unique<Model: PersistentModel>(_ constraints: [PartialKeyPath<Model>]...) =
  #externalMacro(module: "QuireMacros", type: "UniqueMacro")

/// Declares which properties of a model are searched by words: see `search`.
///
///     @Model final class Book {
///       #FullText<Book>([\.title, \.summary])
///
/// The properties must be text, optional or not. Their words are stored in an FTS5 table beside the model's own, which
/// triggers keep up to date for every writer: saves, SQL, other programs. It costs about what a second index costs.
@freestanding(declaration)
public macro FullText<Model: PersistentModel>(
  _ properties: [PartialKeyPath<Model>], words: FullTextWords = .whole
) = #externalMacro(module: "QuireMacros", type: "FullTextMacro")

/// Written by `@Model` on each stored property; generates its storage and its accessors.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_kept_), prefixed(_isObserving_))
public macro _Stored(_ index: Int) = #externalMacro(module: "QuireMacros", type: "StoredMacro")

/// Written by `@Model` on each transient property: observed, never stored.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_kept_), prefixed(_isObserving_))
public macro _Observed() = #externalMacro(module: "QuireMacros", type: "ObservedMacro")

/// Written by `@Model` on an initializer that assigns properties which may be relationships, given by their storage: what
/// they refer to is notified of the new object.
@attached(body)
public macro _Initializer(_ storage: String...) = #externalMacro(module: "QuireMacros", type: "InitializerMacro")

/// Makes an actor a ``ModelActor``: generates its executor, its container, and `init(modelContainer:)` unless the
/// source declares another initializer.
@attached(member, names: named(modelExecutor), named(modelContainer), named(unownedExecutor), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor(disableGenerateInit: Bool = false) =
  #externalMacro(module: "QuireMacros", type: "ModelActorMacro")
