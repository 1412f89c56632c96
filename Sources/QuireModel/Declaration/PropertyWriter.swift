public import QuireRow
public import QuireSQLite

extension _Quire {
  /// Binds those properties of one object that are in a set, lowest first, to consecutive parameters: a call for each
  /// property. The first value that cannot be stored is thrown at the end.
  ///
  /// Storage is passed `inout` here, and to the like calls of generated code, so that it is read where it is: without
  /// optimization, the copy of a slot is twenty instructions at each call.
  @frozen public struct PropertyWriter {
    @usableFromInline let properties: PropertyMask
    @usableFromInline let statement: Statement
    @usableFromInline var index: Int32
    @usableFromInline var failure: ValueError?

    @inlinable public init(_ properties: PropertyMask, to statement: Statement, from index: Int32) {
      self.properties = properties
      self.statement = statement
      self.index = index
      failure = nil
    }

    /// A property whose type the macro knows by its name.
    @inlinable public mutating func value<V: StoredValue>(_ position: Int, _ value: inout V) {
      self.value(position, constant: value)
    }

    @inlinable public mutating func value<V: StoredValue>(_ position: Int, constant value: V) {
      guard holds(properties, position) else { return }
      do { try value._write(to: statement, at: index) } catch { failed(error) }
      index &+= 1
    }

    @inlinable public mutating func slot<Form: PropertyForm>(
      _ position: Int, _: Form.Type, _ slot: inout Slot<Form.Value>
    ) {
      guard holds(properties, position) else { return }
      do { try Form.bind(slot, to: statement, at: index) } catch { failed(error) }
      index &+= 1
    }

    @inlinable public mutating func slot<Form: PropertyForm>(_ position: Int, _: Form.Type, constant value: Form.Value)
    {
      var slot = Slot(value)
      self.slot(position, Form.self, &slot)
    }

    public mutating func slot<V>(_ position: Int, _: UnstorableForm<V>.Type, _ slot: inout Slot<V>) {
      failed(UnstorableForm<V>.refusal)
    }

    public mutating func slot<V>(_ position: Int, _: UnstorableForm<V>.Type, constant value: V) {
      failed(UnstorableForm<V>.refusal)
    }

    /// Mutating, so that it copies nothing.
    @inlinable public mutating func finish() throws(ValueError) {
      if let failure { throw failure }
    }

    @usableFromInline @inline(never) mutating func failed(_ error: ValueError) {
      if failure == nil { failure = error }
    }
  }
}
