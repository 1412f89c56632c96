public import QuireRow
public import QuireSQLite

/// Fallbacks for a class that conforms by hand; the first one carries the diagnostic that says what to write.
extension PersistentModel {
  @available(*, unavailable, message: "conform by marking the class with @Model, never by hand")
  public static var _quireDefinition: _Quire.ModelDefinition { byHand() }
  public var _quireState: _Quire.ModelState {
    get { byHand() }
    set { byHand() }
  }
  public static func _quireRead(_ row: inout _Quire.RowCursor, _ state: consuming _Quire.ModelState) throws(ValueError)
    -> AnyObject
  {
    byHand()
  }
  public static func _quireVacant(_ state: _Quire.ModelState) -> AnyObject { byHand() }
  public func _quireBind(_ properties: _Quire.PropertyMask, to statement: _Quire.Statement, from index: Int32)
    throws(ValueError)
  {
    byHand()
  }
  public func _quireDifference(from other: AnyObject) -> _Quire.PropertyMask { byHand() }
  public func _quireAdopt(_ properties: _Quire.PropertyMask, from other: AnyObject) { byHand() }
  public func _quireLink(_ property: Int) -> _Quire.Link { byHand() }
  public func _quireSetLink(_ property: Int, _ link: _Quire.Link) { byHand() }
  public func _quireTell(_ property: Int, _ moment: _Quire.Moment) { byHand() }
}

extension PersistentModel where Self: Encodable {
  /// For a class that says it is Codable and leaves the rest to the compiler, whose message would name the storage that
  /// the macro has written. There is none for `init(from:)`: the compiler would offer it wherever an initializer is misspelled.
  @available(
    *, unavailable,
    message: "write ‘encode(to:)’ and ‘init(from:)’ in the class: the compiler cannot make them for a model"
  )
  public func encode(to encoder: any Encoder) throws { byHand() }
}

/// Unreachable: the conformance does not compile.
private func byHand() -> Never { preconditionFailure("a model that was not made by @Model") }
