public import Observation
public import QuireRow
public import QuireSQLite

/// A class whose objects are rows: conform with `@Model`, never by hand.
///
/// Objects belong to the context they were inserted in or fetched by, and to its isolation; what travels between
/// isolations is ``PersistentIdentifier``.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  static var _quireDefinition: _Quire.ModelDefinition { get }
  /// Borrowed, not copied: a copy is two retain pairs.
  @_borrowed var _quireState: _Quire.ModelState { get set }
  /// The row whole or no object: columns in the order of the definition's properties, to-many ones left out.
  init(_quireRow row: inout _Quire.RowCursor, _ state: _Quire.ModelState) throws(ValueError)
  /// An object for a row that is not there: declared defaults, else zeros.
  init(_quireVacant state: _Quire.ModelState)
  /// Binds the properties of the mask, lowest first, to consecutive parameters.
  func _quireBind(_ properties: UInt64, to statement: _Quire.Statement, from index: Int32) throws(ValueError)
  /// The stored properties (to-many ones left out) in which this object and `other`, of the same class, differ.
  func _quireDifference(from other: AnyObject) -> UInt64
  /// Takes the storage of those properties from `other`; tells nobody.
  func _quireAdopt(_ properties: UInt64, from other: AnyObject)
  func _quireLink(_ property: Int) -> _Quire.Link
  func _quireSetLink(_ property: Int, _ link: _Quire.Link)
  /// Tells the observation registrar, if there is one, that a property is about to change, or has.
  func _quireTell(_ property: Int, _ moment: _Quire.Moment)
}

extension _Quire {
  /// Before or after.
  @frozen public enum Moment: Sendable { case willSet, didSet }
}

extension PersistentModel {
  /// The object as what it is known to be.
  static func _quireModel(_ object: AnyObject) -> any PersistentModel { unsafeDowncast(object, to: Self.self) }

  public static func == (a: Self, b: Self) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PersistentModel where ID == PersistentIdentifier {
  /// The object's ``PersistentModel/persistentModelID``, if the class declares no `id` of its own.
  public var id: PersistentIdentifier { persistentModelID }
}
