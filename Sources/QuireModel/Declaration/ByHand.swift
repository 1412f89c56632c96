public import QuireRow
public import QuireSQLite

/// A class that conforms by hand gets these, and with the first the sentence that says what to write.
extension PersistentModel {
  @available(*, unavailable, message: "conform by marking the class with @Model, never by hand")
  public static var _quireDefinition: ModelDefinition { byHand() }
  public var _quireState: ModelState {
    get { byHand() }
    set { byHand() }
  }
  public init(_quireRow row: inout RowCursor, _ state: ModelState) throws(ValueError) { byHand() }
  public init(_quireVacant state: ModelState) { byHand() }
  public func _quireBind(_ properties: UInt64, to statement: Statement, from index: Int32) throws(ValueError) {
    byHand()
  }
  public func _quireDifference(from other: AnyObject) -> UInt64 { byHand() }
  public func _quireAdopt(_ properties: UInt64, from other: AnyObject) { byHand() }
  public func _quireLink(_ property: Int) -> Link { byHand() }
  public func _quireSetLink(_ property: Int, _ link: Link) { byHand() }
  public func _quireTell(_ property: Int, _ moment: Moment) { byHand() }
}

/// Nobody gets here: the conformance does not compile.
private func byHand() -> Never { preconditionFailure("a model that was not made by @Model") }
