package import QuireRow
import QuireSQLite
import Synchronization

/// A model class as a table: with resolved names, and relationships paired with their inverses. Immutable, shared by
/// all contexts.
package final class Entity: @unchecked Sendable {
  // Unchecked because key paths are immutable but not declared `Sendable` by the standard library.
  package let index: Int
  package let name: String
  package let table: String
  package let keyColumn: String
  package let type: any PersistentModel.Type
  let typeID: ObjectIdentifier
  package let properties: [Property]
  /// The properties that are one side of a relationship.
  let relationships: [Int]
  /// Properties with a column, in the order in which a row is read after its key.
  package let stored: [Int]
  package let storedMask: PropertyMask
  /// Of them those that are foreign keys.
  let keysMask: PropertyMask
  /// The sides of one-to-one relationships that have no column: a row has its own key in their place, which is ignored.
  let mirrors: [Int]
  package let indexes: [[String]]
  package let uniques: [[String]]
  /// Nil if the model cannot be searched.
  let fullText: FullTextIndex?

  /// Statements that every object of the entity uses, identified by purpose rather than text.
  let find = StatementID.make()
  let findMany = StatementID.make()
  let insert = StatementID.make()
  /// One for each set of columns.
  let update = StatementID.make()
  let delete = StatementID.make()
  let maxKey = StatementID.make()

  init(
    index: Int, name: String, table: String, keyColumn: String, type: any PersistentModel.Type, properties: [Property],
    indexes: [[String]], uniques: [[String]], fullText: FullTextIndex?
  ) {
    self.index = index
    self.name = name
    self.table = table
    self.keyColumn = keyColumn
    self.type = type
    typeID = ObjectIdentifier(type)
    self.properties = properties
    relationships = properties.indices.filter { if case .value = properties[$0].kind { false } else { true } }
    self.indexes = indexes
    self.uniques = uniques
    self.fullText = fullText
    stored = properties.indices.filter { properties[$0].column != nil }
    storedMask = stored.reduce(0) { $0 | 1 << PropertyMask($1) }
    keysMask = properties.indices.filter { properties[$0].toOne != nil }.reduce(0) { $0 | 1 << PropertyMask($1) }
    mirrors = properties.indices.filter { properties[$0].occupiesRow && properties[$0].column == nil }
  }

  /// `"id", "title", …` with a prefix such as `t0.`: what a row of this entity is read from.
  func columnList(prefix: String = "") throws -> String {
    var names = [prefix + (try quoted(identifier: keyColumn))]
    for property in properties where property.occupiesRow {
      names.append(prefix + (try quoted(identifier: property.column ?? keyColumn)))
    }
    return names.joined(separator: ", ")
  }

  /// Removes the placeholder values that a decoded object has for its mirrors.
  func clearMirrors(of model: any PersistentModel) {
    for index in mirrors { model._quireSetLink(index, Link()) }
  }

  private let standsIn = Atomic<UInt8>(0)

  /// Whether a stand-in object can be made for a row that does not decode: each property needs a default or a zero.
  package var canStandIn: Bool {
    switch standsIn.load(ordering: .relaxed) {
    case 0:
      let answer = type._quireDefinition.properties.allSatisfy { $0.hasPlaceholder() }
      standsIn.store(answer ? 1 : 2, ordering: .relaxed)
      return answer
    case let known: return known == 1
    }
  }

  /// Casts an object of this entity, without a search for the conformance. An object that was not inserted yet may be of
  /// another version's class: see ``SchemaClasses``.
  func model(_ object: AnyObject) -> any PersistentModel {
    if ObjectIdentifier(Swift.type(of: object)) == typeID { return type._quireModel(object) }
    return object as? any PersistentModel ?? type.vacant(ModelState())
  }

  /// A property's column value in a newly made object: its default, otherwise a zero; NULL for a reference.
  ///
  /// - Parameter connection: Any connection; nothing is read on it.
  func defaultValue(of property: Int, on connection: Connection) throws -> Value {
    let model = type.vacant(ModelState())
    let statement = try connection.statement("SELECT ?")
    defer { statement.reset() }
    try model._quireBind(1 << PropertyMask(property), to: statement, from: 1)
    return try statement.step() ? statement.row.value(0) : .null
  }

  package func property(at keyPath: AnyKeyPath) -> Int? { properties.firstIndex { $0.keyPath == keyPath } }
  package func property(named name: String) -> Int? { properties.firstIndex { $0.name == name } }
}

/// One property of an ``Entity``. A class, because it is read for each object and never changes.
package final class Property: @unchecked Sendable {
  // Unchecked for the key path, as in `Entity`, and for `bind`, which captures a type.
  package let name: String
  let keyPath: AnyKeyPath
  /// The column in the entity's own table; nil if it is stored in another table.
  package let column: String?
  package let kind: Kind
  /// Whether decoding an object reads a value of the row for it: false for to-many relationships. A one-to-one side
  /// without a column reads a NULL.
  package let occupiesRow: Bool
  let isUnique: Bool
  /// Its name in earlier versions of the model.
  let formerName: String?
  /// How many objects a to-many may have; nil for any number.
  let counts: ClosedRange<Int>?
  /// Binds a value that is not in an object: see ``PropertyDefinition/bind``.
  let bind: Bind
  typealias Bind = (Any, Statement, Int32) throws(ValueError) -> Void
  /// Decodes the property's value from its column's; nil if the column holds no such value.
  let decode: Decode
  typealias Decode = (Value) -> Any?
  /// Whether the history keeps its value when the object is deleted.
  let isPreserved: Bool
  package let toOne: ToOneSide?
  package let toMany: ToManySide?

  package enum Kind {
    case value(ColumnType, isOptional: Bool, check: String?)
    case toOne(ToOneSide)
    case toMany(ToManySide)
  }

  init(
    name: String, keyPath: AnyKeyPath, column: String?, kind: Kind, occupiesRow: Bool, isUnique: Bool,
    formerName: String?, counts: ClosedRange<Int>?, bind: @escaping Bind, decode: @escaping Decode, isPreserved: Bool
  ) {
    self.name = name
    self.keyPath = keyPath
    self.column = column
    self.kind = kind
    self.occupiesRow = occupiesRow
    self.isUnique = isUnique
    self.formerName = formerName
    self.counts = counts
    self.bind = bind
    self.decode = decode
    self.isPreserved = isPreserved
    toOne = if case .toOne(let side) = kind { side } else { nil }
    toMany = if case .toMany(let side) = kind { side } else { nil }
  }

  /// The place of its column among those of captured rows: in rows from before it was renamed, that of its former name.
  package func place(in table: ChangedTable) -> Int? {
    guard let column else { return nil }
    return table.index(of: column) ?? formerColumns.lazy.compactMap { table.index(of: $0) }.first
  }
}

/// The side with the foreign key.
package struct ToOneSide: Sendable {
  package let target: Int
  package let isOptional: Bool
  /// The property of the target that mirrors this one.
  package let inverse: Int?
  /// Whether the target has one object of these, not many.
  let isOneToOne: Bool
  /// What happens to this row when its target is deleted: the rule declared on the target's side.
  let whenTargetGoes: DeleteRule
  /// What happens to the target when this object is deleted.
  let deleteRule: DeleteRule
}

/// A side that is stored elsewhere: many objects, or the one that refers to this object in a one-to-one relationship.
package struct ToManySide: Sendable {
  package let target: Int
  package let via: Via
  package let inverse: Int?
  let deleteRule: DeleteRule
  /// The property of the target that holds its position; nil for the order of the keys.
  let order: Int?
  /// Statements that read one object's list, and those of several.
  let list = StatementID.make()
  let lists = StatementID.make()

  package enum Via: Sendable {
    /// The target's to-one property that holds this object's key.
    case foreignKey(property: Int)
    case join(JoinTable, JoinSide)
  }
}

extension Entity {
  /// Whether an object of that side may not be deleted while it has any of the other. Otherwise its pairs are deleted.
  func denies(_ join: JoinTable, _ side: JoinSide) -> Bool {
    properties.contains { property in
      guard let toMany = property.toMany, toMany.deleteRule == .deny, case .join(join, side) = toMany.via else {
        return false
      }
      return true
    }
  }
}

/// A many-to-many relationship's table of two columns.
package struct JoinTable: Hashable, Sendable {
  package let index: Int
  package let name: String
  package let first: Column
  package let second: Column

  package struct Column: Hashable, Sendable {
    package let name: String
    package let entity: Int
  }

  func own(_ side: JoinSide) -> Column { side == .first ? first : second }
  func other(_ side: JoinSide) -> Column { side == .first ? second : first }
}

package enum JoinSide: Hashable, Sendable { case first, second }
