public import Observation
public import QuireRow
public import QuireSQLite

/// A class whose objects are rows: conform with `@Model`, never by hand.
///
/// Objects belong to the context they were inserted in or fetched by, and to its isolation; to pass one to another
/// isolation, pass its ``PersistentIdentifier``.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  static var _quireDefinition: _Quire.ModelDefinition { get }
  /// Borrowed, not copied: a copy is two retain pairs.
  @_borrowed var _quireState: _Quire.ModelState { get set }
  /// A copy of what is read of the state most often, without references.
  var _quireRowState: _Quire.RowState { get }
  /// Decodes a whole row or throws: columns in the order of the definition's properties, without to-many relationships.
  /// The result is an object of this class.
  static func _quireRead(_ row: inout _Quire.RowCursor, _ state: consuming _Quire.ModelState) throws(ValueError)
    -> AnyObject
  /// An object for a row that does not exist: declared defaults, otherwise zeros.
  static func _quireVacant(_ state: _Quire.ModelState) -> AnyObject
  /// Binds the properties of the mask, lowest first, to consecutive parameters.
  func _quireBind(_ properties: _Quire.PropertyMask, to statement: _Quire.Statement, from index: Int32)
    throws(ValueError)
  /// The stored properties (without to-many relationships) in which this object and `other`, of the same class, differ.
  func _quireDifference(from other: AnyObject) -> _Quire.PropertyMask
  /// Copies the storage of those properties from `other`; notifies no observers.
  func _quireAdopt(_ properties: _Quire.PropertyMask, from other: AnyObject)
  func _quireLink(_ property: Int) -> _Quire.Link
  func _quireSetLink(_ property: Int, _ link: _Quire.Link)
  /// Notifies the observation registrar, if there is one, that a property is about to change, or has changed.
  func _quireTell(_ property: Int, _ moment: _Quire.Moment)
}

extension _Quire {
  /// Before or after the change.
  @frozen public enum Moment: Sendable { case willSet, didSet }
}

extension PersistentModel {
  // Inlined into the class's own module, where it is a few loads.
  @inlinable public var _quireRowState: _Quire.RowState {
    _Quire.RowState(
      key: _quireState.key, dirty: _quireState.dirty, owner: _quireState.owner.map { ObjectIdentifier($0) },
      flags: _quireState.flags, hasTracking: _quireState.tracking != nil)
  }

  /// Casts the object to its known class.
  static func _quireModel(_ object: AnyObject) -> any PersistentModel { unsafeDowncast(object, to: Self.self) }

  /// The object of a row: see `_quireRead`.
  static func decoded(_ row: inout RowCursor, _ state: consuming ModelState) throws(ValueError) -> Self {
    unsafeDowncast(try _quireRead(&row, state), to: Self.self)
  }

  /// An object for a row that does not exist: see `_quireVacant`.
  package static func vacant(_ state: ModelState) -> Self { unsafeDowncast(_quireVacant(state), to: Self.self) }

  public static func == (a: Self, b: Self) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PersistentModel {
  /// The object's ``PersistentModel/persistentModelID``; beside an `id` that the class declares, where the type asks for it.
  public var id: PersistentIdentifier { persistentModelID }
}
