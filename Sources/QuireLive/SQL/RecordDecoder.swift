import Foundation
import QuireModel
import QuireRow
import QuireSQLite

/// The positions of the query's columns that a type needs by name: found once for all rows.
final class RecordShape {
  let names: ColumnNames
  let type: String
  private var places: [String: Int] = [:]

  init(_ names: ColumnNames, of type: Any.Type) {
    self.names = names
    self.type = "\(type)"
  }

  /// - Throws: If there is no column of that name, or several.
  func place(of name: String) throws(RecordError) -> Int {
    if let known = places[name] { return known }
    let place = try find(name)
    places[name] = place
    return place
  }

  func has(_ name: String) -> Bool { names.place(of: name) != nil || names.place(of: Naming.snakeCase(name)) != nil }

  private func find(_ name: String) throws(RecordError) -> Int {
    for name in [name, Naming.snakeCase(name)] {
      guard let place = names.place(of: name) else { continue }
      let wanted = name.lowercased()
      if names.all[(place + 1)...].contains(where: { $0.lowercased() == wanted }) {
        throw .severalColumns(name, type: type, columns: names.all)
      }
      return place
    }
    throw .missingColumn(name, type: type, columns: names.all)
  }
}

/// Decodes a value of a `Decodable` type from a row, by the names of its columns.
///
/// A column is one value, in the form of a model's property of its type: that of a ``QuireRow/StoredValue``, a raw
/// value, or otherwise JSON.
struct RecordDecoder: Decoder {
  let values: [Value]
  let shape: RecordShape
  /// From 1.
  let row: Int

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// - Throws: ``RecordError``, and what the type's own `init(from:)` throws.
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    // A type with a raw value is decoded from the only column.
    if Self.isRaw(T.self) {
      if values.count == 1 { return try value(at: 0, as: type) }
      throw RecordError.otherWidth(asked: ["\(type)"], columns: shape.names.all)
    }
    return try T(from: self)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Columns<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw unsupported("it asks for values without names")
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw unsupported("it asks for one value without a name, so it has to be a StoredValue")
  }

  fileprivate func unsupported(_ reason: String) -> RecordError { .unsupported(type: shape.type, reason: reason) }

  fileprivate func value<T: Decodable>(at place: Int, as type: T.Type) throws(RecordError) -> T {
    do {
      return try Self.value(values[place], as: type)
    } catch {
      throw .undecodable(row: row, column: shape.names.all[place], type: "\(type)", reason: error)
    }
  }

  private static func isRaw(_ type: Any.Type) -> Bool {
    func isStored<R: RawRepresentable>(_: R.Type) -> Bool { R.RawValue.self is any StoredValue.Type }
    return (type as? any RawRepresentable.Type).map { isStored($0) } ?? false
  }

  private static func value<T: Decodable>(_ value: Value, as type: T.Type) throws(ValueError) -> T {
    func stored<S: StoredValue>(_: S.Type) throws(ValueError) -> Any { try S.decoded(value) }
    func raw<R: RawRepresentable>(_: R.Type) throws(ValueError) -> Any? {
      guard let form = R.RawValue.self as? any StoredValue.Type else { return nil }
      guard let raw = try stored(form) as? R.RawValue else { return nil }
      guard let value = R(rawValue: raw) else { throw .notA(type: "\(R.self)", column: 0, found: "\(raw)") }
      return value
    }
    if let form = T.self as? any StoredValue.Type, let result = try stored(form) as? T { return result }
    if let form = T.self as? any RawRepresentable.Type, let result = try raw(form) as? T { return result }
    let text = try String.decoded(value)
    do {
      return try JSONDecoder.ofColumns().decode(T.self, from: Data(text.utf8))
    } catch {
      throw .notJSON(of: T.self, text, column: 0, error)
    }
  }
}

/// The columns of a row by coding key.
private struct Columns<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: RecordDecoder

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { decoder.shape.names.all.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { decoder.shape.has(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { decoder.values[try place(of: key)] == .null }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try decoder.value(at: place(of: key), as: type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    let place = try place(of: key)
    return decoder.values[place] == .null ? nil : try decoder.value(at: place, as: type)
  }

  private func place(of key: Key) throws(RecordError) -> Int { try decoder.shape.place(of: key.stringValue) }

  // Otherwise the standard library would decode a missing column as nil for these types.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key) }

  private func optional<T: Decodable>(_ key: Key) throws -> T? { try decodeIfPresent(T.self, forKey: key) }

  // MARK: Unsupported containers

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<
    Nested
  > { throw nested(key) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw nested(key) }
  func superDecoder() throws -> any Decoder { throw decoder.unsupported("a class's inherited part has no column") }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw nested(key) }

  private func nested(_ key: Key) -> RecordError {
    decoder.unsupported("it asks for what is within \(key.stringValue), and a column is one value")
  }
}
