/// Values for objects whose row is gone: a required reference to a missing row must still be readable.
enum PlaceholderValue {
  /// The value of a decoder that returns zero, empty and nil for everything, otherwise the first case of an enum. Nil
  /// if the type accepts neither: then a schema that could need one is refused when the container is opened.
  static func make<Value>(_: Value.Type) -> Value? {
    if let type = Value.self as? any ExpressibleByNilLiteral.Type { return type.init(nilLiteral: ()) as? Value }
    if let type = Value.self as? any Decodable.Type, let value = try? type.init(from: ZeroDecoder()) as? Value {
      return value
    }
    if let type = Value.self as? any CaseIterable.Type { return first(of: type) as? Value }
    return firstCase()
  }

  /// The first case of an enum without payloads. The compiler numbers these cases from 0 in the order of declaration,
  /// and the type's metadata, whose layout is part of Swift's stable ABI, says whether the type is such an enum.
  fileprivate static func firstCase<Value>() -> Value? {
    let type = unsafeBitCast(Value.self as Any.Type, to: UnsafeRawPointer.self)
    guard type.load(as: UInt.self) == 0x201 else { return nil }  // the kind of enums
    let description = type.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer.self)
    let casesWithPayload = description.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF
    let casesWithout = description.load(fromByteOffset: 24, as: UInt32.self)
    guard casesWithPayload == 0, casesWithout > 0 else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: max(1, MemoryLayout<Value>.size), alignment: 1) { bytes in
      for place in bytes.indices { bytes[place] = 0 }
      return bytes.loadUnaligned(as: Value.self)
    }
  }

  private static func first<T: CaseIterable>(of _: T.Type) -> Any? { T.allCases.first }

  /// For a read of a property that was never decoded: this happens only in an object without a row, and a container
  /// accepts a schema only if there is a placeholder for it.
  static func required<Value>(_: Value.Type, of model: some PersistentModel, property: Int) -> Value {
    if let value = make(Value.self) { return value }
    let type = type(of: model)
    return required(Value.self, of: type, property: type._quireDefinition.properties[property].name)
  }

  static func required<Value, Model: PersistentModel>(_: Value.Type, of type: Model.Type, property: String) -> Value {
    if let value = make(Value.self) { return value }
    preconditionFailure(
      "\(type).\(property) has no value: its row is gone, and \(Value.self) has neither a zero nor a first case. "
        + "Give the property a default.")
  }
}

/// Returns zero, empty and nil for everything.
private struct ZeroDecoder: Decoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed())
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Unkeyed() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { Single() }

  private static func zero<T: Decodable>(_ type: T.Type) throws -> T {
    if let number = T.self as? any Numeric.Type, let value = number.init(exactly: 0) as? T { return value }
    if let value = "" as? T { return value }
    if let value = false as? T { return value }
    if let value = PlaceholderValue.make(T.self) { return value }
    throw DecodingError.valueNotFound(T.self, .init(codingPath: [], debugDescription: "no zero"))
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    /// The first key, if keys are an enum: so an enum with payloads decodes as its first case.
    var allKeys: [Key] { PlaceholderValue.firstCase().map { [$0] } ?? [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try zero(type) }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
      KeyedDecodingContainer(Keyed<N>())
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { Unkeyed() }
    func superDecoder() throws -> any Decoder { ZeroDecoder() }
    func superDecoder(forKey key: Key) throws -> any Decoder { ZeroDecoder() }
  }

  private struct Unkeyed: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }
    mutating func decodeNil() throws -> Bool { true }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try zero(type) }
    mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type) throws -> KeyedDecodingContainer<N> {
      KeyedDecodingContainer(Keyed<N>())
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { self }
    mutating func superDecoder() throws -> any Decoder { ZeroDecoder() }
  }

  private struct Single: SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try zero(type) }
  }
}
