public import QuireRow

/// One row of an SQL query: its values, by name and by position.
///
///     for record in try store.query("SELECT name, count(*) AS books FROM …") {
///       let name: String = try record.value("name")
///       print(name, record["books"])
///     }
public struct SQLRecord: Sendable {
  /// All columns, with the names that the query gives them; several may have the same name.
  public var columns: [String] { names.all }
  /// In the order of ``columns``.
  public let values: [SQLValue]
  package let names: ColumnNames

  package init(values: [SQLValue], names: ColumnNames) {
    self.values = values
    self.names = names
  }

  /// The value of the first column of that name, compared as SQL does, ignoring ASCII case; NULL if there is none, in
  /// which case ``value(_:as:)`` throws.
  public subscript(name: String) -> SQLValue { names.place(of: name).map { self[$0] } ?? .null }

  /// The value at that position; NULL if there is none.
  public subscript(place: Int) -> SQLValue { values.indices.contains(place) ? values[place] : .null }

  /// A value as a Swift type, in the form that type has in a column.
  ///
  /// - Throws: ``QuireSQLite/StatementError/unknownColumn(_:columns:)``, and an error that names the column if its value
  ///   does not decode as that type.
  public func value<T: StoredValue>(_ name: String, as type: T.Type = T.self) throws -> T {
    let place = try names.requirePlace(of: name)
    do {
      return try T._read(from: ImageSource(values), at: Int32(place))
    } catch {
      throw UnreadableColumn(name: names.all[place], type: "\(T.self)", reason: error)
    }
  }
}

extension SQLRecord: Hashable {
  public static func == (a: SQLRecord, b: SQLRecord) -> Bool {
    (a.names === b.names || a.names.all == b.names.all) && a.values == b.values
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension SQLRecord: CustomStringConvertible {
  public var description: String {
    "[" + zip(columns, values).map { "\($0): \($1)" }.joined(separator: ", ") + "]"
  }
}

/// A column of a record whose value is not one of the requested type.
package struct UnreadableColumn: QuireError {
  package let name: String
  package let type: String
  package let reason: ValueError
  package var description: String { "column \(name): \(reason), for \(type)" }
  package var cause: QuireErrorCause { reason.cause }
}

/// The names of a query's columns, shared by its records.
package final class ColumnNames: Sendable {
  package let all: [String]
  private let places: [String: Int]

  package init(_ all: [String]) {
    self.all = all
    places = Dictionary(all.enumerated().map { ($1.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
  }

  package func place(of name: String) -> Int? { places[name.lowercased()] }

  package func requirePlace(of name: String) throws(StatementError) -> Int {
    guard let place = place(of: name) else { throw .unknownColumn(name, columns: all) }
    return place
  }
}

/// Its short name inside the package.
package typealias Record = SQLRecord
