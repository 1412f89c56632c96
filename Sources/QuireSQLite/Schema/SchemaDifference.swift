/// One difference between two schemas, as text: `book + isbn TEXT`.
package struct SchemaDifference: Hashable, Sendable {
  /// The table it is in; nil for whole tables, indexes, triggers and views.
  package let table: SQLName?
  package let kind: Kind
  /// The text in the first schema; nil if it is new.
  package let old: String?
  /// The text in the second schema; nil if it was removed.
  package let new: String?

  package init(table: SQLName?, kind: Kind, old: String?, new: String?) {
    (self.table, self.kind, self.old, self.new) = (table, kind, old, new)
  }

  package enum Kind: String, Hashable, Sendable {
    case table
    case column
    /// A primary key, a unique constraint, a check, a foreign key.
    case constraint
    /// STRICT or WITHOUT ROWID.
    case option
    case index
    case trigger
    case view
    case virtualTable = "virtual table"
  }
}

extension SchemaDifference: CustomStringConvertible {
  package var description: String {
    let subject =
      switch (table, kind) {
      case (let table?, _): "\(table)"
      default: kind.rawValue
      }
    return switch (old, new) {
    case (let old?, nil): table == nil ? "− \(subject) \(old)" : "\(subject) − \(old)"
    case (nil, let new?): table == nil ? "+ \(subject) \(new)" : "\(subject) + \(new)"
    case (let old?, let new?):
      kind == .column ? "\(subject).\(old) → \(new)" : "\(table == nil ? "± " : "")\(subject) \(old) → \(new)"
    default: subject
    }
  }
}

extension DatabaseSchema {
  /// The changes from this schema to `other`; empty if they are equal.
  ///
  /// Tables first, then changes inside tables that both have, then indexes, triggers, views and virtual tables. A
  /// renamed table or column appears as one removed and one added.
  package func differences(to other: DatabaseSchema) -> [SchemaDifference] {
    var result: [SchemaDifference] = []
    let (old, new) = (Dictionary(named: tables), Dictionary(named: other.tables))
    for table in tables where new[table.name] == nil {
      result.append(.init(table: nil, kind: .table, old: "\(table.name)", new: nil))
    }
    for table in other.tables where old[table.name] == nil {
      result.append(
        .init(
          table: nil, kind: .table, old: nil,
          new: "\(table.name) (\(table.columns.map { "\($0)" }.joined(separator: ", ")))"))
    }
    for table in tables {
      if let other = new[table.name] { result += table.differences(to: other) }
    }
    result += Self.differences(.index, indexes, other.indexes)
    result += Self.differences(.trigger, triggers, other.triggers)
    result += Self.differences(.view, views, other.views)
    result += Self.differences(.virtualTable, virtualTables, other.virtualTables)
    return result
  }

  private static func differences(_ kind: SchemaDifference.Kind, _ old: [Object], _ new: [Object])
    -> [SchemaDifference]
  {
    let (before, after) = (Dictionary(named: old), Dictionary(named: new))
    var result = old.filter { after[$0.name] == nil }.map {
      SchemaDifference(table: nil, kind: kind, old: $0.summary(kind), new: nil)
    }
    for object in new {
      let earlier = before[object.name]
      guard earlier?.sql != object.sql else { continue }
      result.append(
        .init(table: nil, kind: kind, old: earlier?.summary(kind), new: object.summary(kind, named: earlier == nil)))
    }
    return result
  }
}

extension DatabaseSchema.Table {
  fileprivate func differences(to other: Self) -> [SchemaDifference] {
    func difference(_ kind: SchemaDifference.Kind, _ old: String?, _ new: String?) -> SchemaDifference {
      .init(table: name, kind: kind, old: old, new: new)
    }
    var result: [SchemaDifference] = []
    for column in columns {
      guard let new = other[column.name] else {
        result.append(difference(.column, "\(column)", nil))
        continue
      }
      if new == column { continue }
      let declared = (column.declaration, new.declaration)
      result.append(
        difference(
          .column, "\(column.name) \(declared.0.isEmpty ? "without a type" : declared.0)",
          declared.1.isEmpty ? "without a type" : declared.1))
    }
    for column in other.columns where self[column.name] == nil {
      result.append(difference(.column, nil, "\(column)"))
    }
    if primaryKey != other.primaryKey {
      result.append(difference(.constraint, primaryKey?.description, other.primaryKey?.description))
    }
    func constraints<Constraint: Hashable>(
      _ old: Set<Constraint>, _ new: Set<Constraint>, _ text: (Constraint) -> String
    ) {
      result += old.subtracting(new).map(text).sorted().map { difference(.constraint, $0, nil) }
      result += new.subtracting(old).map(text).sorted().map { difference(.constraint, nil, $0) }
    }
    constraints(uniques, other.uniques) { "\($0)" }
    constraints(foreignKeys, other.foreignKeys) { "\($0)" }
    constraints(checks, other.checks) { "CHECK (\($0))" }
    for (option, old, new) in [
      ("STRICT", isStrict, other.isStrict), ("WITHOUT ROWID", isWithoutRowID, other.isWithoutRowID),
    ] where old != new {
      result.append(difference(.option, old ? option : nil, new ? option : nil))
    }
    return result
  }
}

extension DatabaseSchema.Object {
  /// `book_author ON book (author_id)` of an index, `touch ON book` of a trigger, the name of a view.
  fileprivate func summary(_ kind: SchemaDifference.Kind, named: Bool = true) -> String {
    switch kind {
    case .index:
      let tokens = SQLTokens("\(sql)")
      let on = tokens.first { $0.kind == .word && SQLName.folded(tokens.text(of: $0)) == "on" }
      let place = String(decoding: tokens.bytes[(on?.range.upperBound ?? 0)...], as: UTF8.self)
      return (sql.mentions("unique") ? "UNIQUE " : "") + (named ? "\(name) " : "") + "ON\(place)"
    case .trigger: return named ? "\(name) ON \(table)" : "another text"
    default: return named ? "\(name)" : "another text"
    }
  }
}

private protocol Named { var name: SQLName { get } }
extension DatabaseSchema.Table: Named {}
extension DatabaseSchema.Object: Named {}

extension Dictionary where Key == SQLName {
  fileprivate init(named values: [Value]) where Value: Named {
    self.init(values.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}
