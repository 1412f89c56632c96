import Observation

/// Makes a class a stored, observable model: one table, one row an object.
///
///     @Model final class Book {
///       var title: String
///       var author: Author?
///       init(title: String) { self.title = title }
///     }
///
/// Every stored `var` becomes a column of its table or, where its type is a model or an array of models, a
/// relationship. What cannot be stored is refused at the property, with what to write instead.
@attached(
  member, conformances: PersistentModel,
  names: named(_quireState), named(_quireDefinition), named(init), named(_quireBind), named(_quireDifference),
  named(_quireAdopt), named(_quireLink), named(_quireSetLink), named(_quireTell))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel)
public macro Model() = #externalMacro(module: "QuireMacros", type: "ModelMacro")

/// Options of a stored property, and its name in earlier schemas.
@attached(peer)
public macro Attribute(
  _ options: AttributeOption..., column: String? = nil, originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "QuireMacros", type: "AttributeMacro")

/// What becomes of the other side, and which property the other side is.
///
/// The inverse is inferred where exactly one property of the other model can be it, and named on one side only:
/// on both it is a circular reference to the compiler. The side that names it names the join table.
///
/// `order` keeps the list as it is assigned: it names a `Double` of the other model, which Quire sets, and whose objects
/// have a reference back. Without it a list has the order of the keys. A count of 0 is no limit.
@attached(peer)
public macro Relationship(
  _ options: AttributeOption..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
  maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil, order: AnyKeyPath? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "QuireMacros", type: "RelationshipMacro")

/// A property that is observed and not stored; it needs a default.
@attached(peer)
public macro Transient() = #externalMacro(module: "QuireMacros", type: "TransientMacro")

/// Indexes of a model's table, each over one or more properties.
@freestanding(declaration)
public macro Index<Model: PersistentModel>(_ indexes: [PartialKeyPath<Model>]...) =
  #externalMacro(module: "QuireMacros", type: "IndexMacro")

/// Sets of properties that no two rows of a model share.
@freestanding(declaration)
public macro Unique<Model: PersistentModel>(_ constraints: [PartialKeyPath<Model>]...) =
  #externalMacro(module: "QuireMacros", type: "UniqueMacro")

/// Which properties of a model are searched by their words: see ``PersistentModel/search(_:)``.
///
///     @Model final class Book {
///       #FullText<Book>([\.title, \.summary])
///
/// Text properties, optional or not. Their words stand in an FTS5 table beside the model's own, which triggers keep in
/// step whoever writes: saves, SQL, other programs. It costs what a second index does.
@freestanding(declaration)
public macro FullText<Model: PersistentModel>(
  _ properties: [PartialKeyPath<Model>], words: FullTextWords = .whole
) = #externalMacro(module: "QuireMacros", type: "FullTextMacro")

/// Written by `@Model` on each stored property: its storage and its accessors.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_isObserving_))
public macro _Stored(_ index: Int) = #externalMacro(module: "QuireMacros", type: "StoredMacro")

/// Written by `@Model` on each transient property: observed, never stored.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_isObserving_))
public macro _Observed() = #externalMacro(module: "QuireMacros", type: "ObservedMacro")

/// Makes an actor a ``ModelActor``: its executor, its container, and `init(modelContainer:)` where the source has no other
/// way to be made.
@attached(member, names: named(modelExecutor), named(modelContainer), named(unownedExecutor), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor(disableGenerateInit: Bool = false) =
  #externalMacro(module: "QuireMacros", type: "ModelActorMacro")
