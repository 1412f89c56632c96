import QuireSQLite

/// A table or view of a file as something with a name, properties and relations.
public struct FileModel: Hashable, Sendable {
  /// Its name in queries: `Book`.
  public var name: String
  public let table: String
  public let kind: Kind
  public var columns: [Column]
  /// Columns of a virtual table that can be selected but are not shown: `rank`, and the one named as the table, of a
  /// full-text index.
  var hiddenColumns: [String] = []
  /// What a row is known by.
  public let key: Key
  /// The row id, under a name that SQL knows: the key if the row id is the key, otherwise a name that is not a column.
  /// Nil if there is none, as in a view.
  var rowID: String?
  /// Whether its columns hold values of their declared types only.
  var isStrict = false
  /// Whether all its texts are compared by their bytes in UTF-8: no column has a collation of its own, and the file is
  /// not in UTF-16.
  var comparesBytes = true
  public internal(set) var relations: [Relation] = []
  /// Whether it comes from a class compiled into the program, and not from the tables alone.
  public var isCompiled = false

  public enum Kind: Hashable, Sendable {
    case table
    /// Can only be read.
    case view
    /// A full-text index and the like.
    case virtual
  }

  public enum Key: Hashable, Sendable {
    /// These columns.
    case columns([String])
    /// The row id, by one of its names that is not a column.
    case rowID(String)
    /// A view, or a table whose columns hide the row id.
    case none
  }

  public struct Column: Hashable, Sendable {
    /// Its name in queries: a compiled model's property, otherwise the column's own name.
    public var name: String
    public let column: String
    /// As declared; empty if there is no declaration.
    public let type: String
    public let isRequired: Bool
    public let hasDefault: Bool
    /// Place in the primary key from 1, 0 outside it.
    public let keyPlace: Int
    public let isGenerated: Bool
  }
}

/// How a row leads to others.
public struct Relation: Hashable, Sendable {
  /// Its name in queries: `author`, `books`.
  public var name: String
  /// The place of the model it leads to.
  public let target: Int
  public let isToMany: Bool
  /// Whether columns of this row hold the other's key, and not the other way round.
  public let holdsKey: Bool
  public let route: Route
  /// False if only the column's name implies it.
  public let isDeclared: Bool
  /// Whether the table between may link two rows more than once. They are one row of the list all the same.
  var repeatsLinks = false

  public enum Route: Hashable, Sendable {
    /// A column of this row is equal to one of the other's.
    case direct([Pair])
    /// Through a table that has both keys.
    case join(table: String, own: [Pair], other: [Pair])
  }

  /// `other` is in the table that comes later on the way.
  public struct Pair: Hashable, Sendable {
    public let own: String
    public let other: String
    /// By which the two are compared, if texts of one of them are not compared by their bytes: the parent's, as a foreign
    /// key is checked.
    var collation: String?
    /// The side that holds the key, if a comparison of the two columns would not convert it as SQLite's check of keys does,
    /// which gives it the affinity of the column it leads to: a key that is the number 1 leads to the text `1`, and not to
    /// `01`, though both are equal to it as numbers.
    var converted: Side?
    /// Whether the columns' own comparison, which finds rows by their indexes, is true wherever the converted one is.
    var isFoundUnconverted = true

    enum Side: Hashable, Sendable { case own, other }

    init(own: String, other: String, collation: String? = nil, converted: Side? = nil) {
      (self.own, self.other, self.collation, self.converted) = (own, other, collation, converted)
    }

    var reversed: Pair {
      let side: Side? = converted.map { $0 == .own ? .other : .own }
      var pair = Pair(own: other, other: own, collation: collation, converted: side)
      pair.isFoundUnconverted = isFoundUnconverted
      return pair
    }
  }

  /// The own columns that hold the key of one other row; empty if the other row, or a third table, has them.
  public var ownColumns: [String] {
    guard holdsKey, !isToMany else { return [] }
    if case .direct(let pairs) = route { return pairs.map(\.own) }
    return []
  }
}

extension FileModel {
  public var keyColumns: [String] {
    switch key {
    case .columns(let names): names
    case .rowID(let name): [name]
    case .none: []
    }
  }

  public var isWritable: Bool { kind != .view }

  /// Whether each row has an integer there: the row id always, other columns as long as the table is STRICT.
  func holdsOnlyIntegers(in name: String) -> Bool {
    if name == rowID || key == .rowID(name) { return true }
    return isStrict && columns.contains { $0.column == name && $0.isInteger }
  }

  /// The column of that name, in queries or in the file; case matters only if both spellings exist.
  func column(named name: String) -> Column? {
    columns.first { $0.name.utf8.elementsEqual(name.utf8) } ?? columns.first { SQLName($0.column) == SQLName(name) }
      ?? columns.first { $0.name == name }
      ?? columns.first { $0.name.lowercased() == name.lowercased() }
      ?? columns.first { $0.column.lowercased() == name.lowercased() }
  }

  func hiddenColumn(named name: String) -> String? {
    hiddenColumns.first { $0.lowercased() == name.lowercased() }
  }

  func relation(named name: String) -> Relation? {
    relations.first { $0.name == name } ?? relations.first { $0.name.lowercased() == name.lowercased() }
  }

  /// The column that best identifies a row in a word.
  var label: Column? {
    for wanted in ["name", "title", "label", "code"] {
      if let found = columns.first(where: { $0.column.lowercased() == wanted }) { return found }
    }
    return columns.first { $0.column.lowercased().hasSuffix("name") }
  }

  /// All names that may follow it, for suggestions.
  var names: [String] { columns.map(\.name) + relations.map(\.name) }
}

/// All models of a file, as a value: what the language, completion and the commands look names up in.
public struct FileModels: Sendable {
  public internal(set) var all: [FileModel] = []
  /// What the schema was when they were read; below 0 before.
  public internal(set) var schemaVersion: Int64 = -1
  /// Views and virtual tables that are not among the models because SQLite cannot tell their columns, and its reason.
  var unreadable: [SQLName: String] = [:]

  public init() {}

  public subscript(place: Int) -> FileModel { all[place] }

  /// The model of that name or table; case matters only if both spellings exist.
  public func place(of name: String) -> Int? {
    all.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
      ?? all.firstIndex { $0.table.utf8.elementsEqual(name.utf8) }
      ?? all.firstIndex { SQLName($0.name) == SQLName(name) } ?? all.firstIndex { SQLName($0.table) == SQLName(name) }
      ?? all.firstIndex { $0.name.lowercased() == name.lowercased() }
      ?? all.firstIndex { $0.table.lowercased() == name.lowercased() }
  }

  public func model(named name: String) -> FileModel? { place(of: name).map { all[$0] } }

  /// Why there is no model of that name though the file has a view or table of it.
  func reason(against name: String) -> (message: String, hint: String?)? {
    guard let reason = unreadable[SQLName(name)] else { return nil }
    return ("\(printable(name)) cannot be read: \(reason)", SQLFailure.hint(ofMissing: reason))
  }
}
