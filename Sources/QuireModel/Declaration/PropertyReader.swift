public import QuireRow
public import QuireSQLite

extension _Quire {
  /// Reads the properties of one object from a row, a call for each.
  ///
  /// A column that does not decode gives a placeholder, and its error comes at the end: each call in an initializer that
  /// may throw brings the code that takes apart what was initialized before it.
  @frozen public struct PropertyReader {
    /// An error as an object: as a value it would make the reader large, and a large one is copied for each row.
    @usableFromInline final class Failure {
      let error: ValueError
      init(_ error: ValueError) { self.error = error }
    }

    @usableFromInline var row: RowCursor
    @usableFromInline var failure: Failure?
    /// The column after the one that did not decode; -1 if there is none. Asked in place of `failure`, which would be copied.
    @usableFromInline var failed: Int32

    @inlinable public init(_ row: RowCursor) {
      self.row = row
      failure = nil
      failed = -1
    }

    /// Moves a row to the column after the last one, or after the one that did not decode. Mutating, so that it copies
    /// nothing.
    @inlinable public mutating func move(_ row: inout RowCursor) {
      row.position = failed < 0 ? self.row.position : failed
    }

    /// A property whose type the macro knows by its name.
    @inlinable public mutating func value<V: StoredValue>(else placeholder: V) -> V {
      do { return try row.next(V.self) } catch { return keep(error, placeholder) }
    }

    /// Reads the column into a variable, which keeps its value if the column does not decode.
    @inlinable public mutating func value<V: StoredValue>(into storage: inout V) {
      do { storage = try row.next(V.self) } catch { keep(error) }
    }

    @inlinable public mutating func slot<Form: PropertyForm>(_: Form.Type, into storage: inout Slot<Form.Value>) {
      do { storage = try Form.read(&row) } catch { keep(error) }
    }

    @inlinable public mutating func slot<Form: PropertyForm>(_: Form.Type) -> Slot<Form.Value> {
      do { return try Form.read(&row) } catch { return keep(error, Form.vacant()) }
    }

    /// A `let`, whose type need not have a placeholder.
    public mutating func constant<Form: PropertyForm>(_: Form.Type) throws(ValueError) -> Form.Value {
      if failed >= 0 { try fail() }
      guard let value = try Form.read(&row).value else {
        throw ValueError.notStorable("\(Form.Value.self)", reason: "no column can hold it")
      }
      return value
    }

    /// A property whose placeholder would take longer to make than to read.
    @inlinable public mutating func required<V: StoredValue>(_: V.Type = V.self) throws(ValueError) -> V {
      if failed >= 0 { try fail() }
      return try row.next(V.self)
    }

    public mutating func slot<V>(_: UnstorableForm<V>.Type) -> Slot<V> {
      keep(UnstorableForm<V>.refusal, UnstorableForm<V>.vacant())
    }

    public mutating func slot<V>(_: UnstorableForm<V>.Type, into storage: inout Slot<V>) {
      keep(UnstorableForm<V>.refusal)
    }

    public mutating func constant<V>(_: UnstorableForm<V>.Type) throws(ValueError) -> V {
      throw UnstorableForm<V>.refusal
    }

    /// The object that was read; throws the first error. Mutating, so that it copies nothing.
    @inlinable public mutating func finish<Model: AnyObject>(_ object: Model) throws(ValueError) -> AnyObject {
      if failed >= 0 { try fail() }
      return object
    }

    @usableFromInline @inline(never) func fail() throws(ValueError) {
      if let failure { throw failure.error }
    }

    @usableFromInline @inline(never) mutating func keep(_ error: ValueError) {
      if failed < 0 { (failure, failed) = (Failure(error), row.position) }
    }

    @usableFromInline @inline(never) mutating func keep<V>(_ error: ValueError, _ placeholder: V) -> V {
      keep(error)
      return placeholder
    }
  }
}
