import Foundation
public import QuireRow
import QuireSQLite

/// An object's values as a value that can be sent anywhere; objects themselves stay in their context's isolation.
///
///     let snapshot = try book.snapshot()                      // where the book is
///     await printer.print(try snapshot.title, try snapshot.author)
///
/// Contains the object's values, including unsaved edits, and the identifiers of its to-one targets. Reading a property
/// that is not stored, or a to-many relationship, throws.
@dynamicMemberLookup
public struct ModelSnapshot<Model: PersistentModel>: Hashable, Sendable {
  /// The object's identifier.
  public let persistentModelID: PersistentIdentifier
  /// By the property's number: a column's value.
  private let values: [Value]
  /// By the property's number.
  private let references: [Int: PersistentIdentifier]

  fileprivate init(_ model: Model) throws {
    persistentModelID = model.persistentModelID
    let definition = Model._quireDefinition
    var values: [Value] = []
    var references: [Int: PersistentIdentifier] = [:]
    for (index, property) in definition.properties.enumerated() {
      var value = Value.null
      switch property.kind {
      case .value:
        do throws(ValueError) {
          value = try Value(columnOf: model[keyPath: property.keyPath] as Any)
        } catch {
          throw ModelError.notStorable(model: definition.name, property: property.name, reason: error)
        }
      case .toOne:
        let target = flattened(model[keyPath: property.keyPath] as Any) as? any PersistentModel
        references[index] = target?.persistentModelID
      case .toMany: break
      }
      values.append(value)
    }
    self.values = values
    self.references = references
  }

  public subscript<V: StoredValue>(dynamicMember keyPath: KeyPath<Model, V>) -> V {
    get throws {
      let place = try position(of: keyPath)
      return try V._read(from: ImageSource(values), at: Int32(place))
    }
  }

  public subscript<V: RawRepresentable>(dynamicMember keyPath: KeyPath<Model, V>) -> V where V.RawValue: StoredValue {
    get throws {
      let place = try position(of: keyPath)
      let raw = try V.RawValue._read(from: ImageSource(values), at: Int32(place))
      guard let value = V(rawValue: raw) else {
        throw ValueError.notA(type: "\(V.self)", column: Int32(place), found: "\(raw)")
      }
      return value
    }
  }

  /// A Codable value of any other type.
  @_disfavoredOverload public subscript<V: Decodable>(dynamicMember keyPath: KeyPath<Model, V>) -> V {
    get throws {
      let place = try position(of: keyPath)
      if values[place] == .null, let null = V.self as? any ExpressibleByNilLiteral.Type,
        let value = null.init(nilLiteral: ()) as? V
      {
        return value
      }
      switch values[place] {
      case .text(let text): return try decoded(text)
      case .integer(let number): return try decoded("\(number)")
      case .real(let number): return try decoded("\(number)")
      default: throw ValueError.notA(type: "\(V.self)", column: Int32(place), found: "\(values[place])")
      }
    }
  }

  /// The identifier of the relationship's target.
  public subscript<Target: PersistentModel>(dynamicMember keyPath: KeyPath<Model, Target?>) -> PersistentIdentifier? {
    get throws { references[try position(of: keyPath)] }
  }

  /// The identifier of the relationship's target; nil if there is none.
  public subscript<Target: PersistentModel>(dynamicMember keyPath: KeyPath<Model, Target>) -> PersistentIdentifier? {
    get throws { references[try position(of: keyPath)] }
  }

  /// Decodes JSON text; an optional enum's raw text, which is not JSON, is decoded as a JSON string.
  private func decoded<V: Decodable>(_ text: String) throws -> V {
    do {
      return try JSONDecoder.ofColumns().decode(V.self, from: Data(text.utf8))
    } catch {
      return try JSONDecoder.ofColumns().decode(V.self, from: try JSONEncoder().encode(text))
    }
  }

  private func position(of keyPath: AnyKeyPath) throws(ModelError) -> Int {
    if let place = SnapshotPlaces.of(Model.self)[keyPath] { return place }
    throw .query("\(keyPath) is not in a snapshot of \(Model.self): it is not stored, or is many objects")
  }
}

extension PersistentModel {
  /// The object's current values, to be sent elsewhere.
  ///
  /// - Throws: ``ModelError/notStorable(model:property:reason:)`` for a value that no column can hold.
  public func snapshot() throws -> ModelSnapshot<Self> { try ModelSnapshot(self) }
}

extension ModelContext {
  /// As ``fetch(_:)``, returning values that can be sent elsewhere.
  public func fetchSnapshots<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws
    -> [ModelSnapshot<Model>]
  {
    try fetch(descriptor).map { try $0.snapshot() }
  }
}

/// The numbers of properties except to-many relationships: determined once for each model.
private enum SnapshotPlaces {
  private static let known = Locked<[ObjectIdentifier: [AnyKeyPath: Int]]>([:])

  static func of<Model: PersistentModel>(_: Model.Type) -> [AnyKeyPath: Int] {
    if let places = known.withLock({ $0[ObjectIdentifier(Model.self)] }) { return places }
    var places: [AnyKeyPath: Int] = [:]
    for (index, property) in Model._quireDefinition.properties.enumerated() where !property.isToMany {
      places[property.keyPath] = index
    }
    known.withLock { $0[ObjectIdentifier(Model.self)] = places }
    return places
  }
}

extension Value {
  /// A value whose type was not known when it was read, in its column's form.
  fileprivate init(columnOf any: Any) throws(ValueError) {
    guard let value = flattened(any) else {
      self = .null
      return
    }
    if let stored = value as? any StoredValue {
      self = try Value(storing: stored)
    } else if let raw = value as? any RawRepresentable, let stored = raw.rawValue as? any StoredValue {
      self = try Value(storing: stored)
    } else if let encodable = value as? any Encodable {
      do {
        self = .text(String(decoding: try JSONEncoder.ofColumns().encode(encodable), as: UTF8.self))
      } catch {
        throw ValueError.notStorable("\(type(of: value))", reason: "\(error)")
      }
    } else {
      throw ValueError.notStorable("\(type(of: value))", reason: "it is not Codable")
    }
  }
}

/// Unwraps nested optionals.
private func flattened(_ any: Any) -> Any? {
  let mirror = Mirror(reflecting: any)
  if mirror.displayStyle != .optional { return any }
  return mirror.children.first.map(\.value)
}
