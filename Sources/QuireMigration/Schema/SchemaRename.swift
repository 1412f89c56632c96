package import QuireSQLite

/// A table or column that gets another name and keeps its values.
///
/// As text, `book:volume` renames a table and `book.title:book.heading` a column, whose table may have its old or new
/// name.
package struct SchemaRename: Hashable, Sendable {
  package let table: SQLName
  /// Nil if a table is renamed.
  package let column: SQLName?
  package let newName: SQLName

  package init(table: SQLName, column: SQLName? = nil, to newName: SQLName) {
    self.table = table
    self.column = column
    self.newName = newName
  }

  /// The rename that undoes this one.
  var reversed: SchemaRename {
    if let column { return SchemaRename(table: table, column: newName, to: column) }
    return SchemaRename(table: newName, to: table)
  }
}

extension SchemaRename: LosslessStringConvertible {
  package init?(_ text: String) {
    let sides = text.split(separator: ":", omittingEmptySubsequences: false).map { side in
      side.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
    guard sides.count == 2, !sides[0].contains(""), !sides[1].contains("") else { return nil }
    switch (sides[0].count, sides[1].count) {
    case (1, 1): self.init(table: SQLName(sides[0][0]), to: SQLName(sides[1][0]))
    // `book.title:heading` names the table once.
    case (2, 1): self.init(table: SQLName(sides[0][0]), column: SQLName(sides[0][1]), to: SQLName(sides[1][0]))
    case (2, 2): self.init(table: SQLName(sides[1][0]), column: SQLName(sides[0][1]), to: SQLName(sides[1][1]))
    default: return nil
    }
  }

  package var description: String {
    if let column { return "\(table.text).\(column.text):\(table.text).\(newName.text)" }
    return "\(table.text):\(newName.text)"
  }
}

extension DatabaseSchema {
  /// This schema after `renames`, with every text that mentions a renamed name.
  ///
  /// - Throws: ``SchemaChangeError/rename(_:reason:)`` for a rename of something that does not exist.
  package func renamed(by renames: [SchemaRename]) throws(SchemaChangeError) -> DatabaseSchema {
    if renames.isEmpty { return self }
    var writer = try SchemaWriter(from: self)
    return try writer.renaming(renames)
  }

  /// Renames that would explain what is removed and what is new in `other`: ask about them, never assume them.
  ///
  /// A table is proposed if most columns are equal, a column if its declaration is equal and no other in its table has
  /// that one; columns of a table that itself may have been renamed are proposed once that is decided.
  package func possibleRenames(to other: DatabaseSchema) -> [SchemaRename] {
    let gone = tables.filter { other[table: $0.name] == nil }
    var new = other.tables.filter { self[table: $0.name] == nil }
    var renames: [SchemaRename] = []
    for table in gone {
      let likeliest = new.enumerated().map { (place: $0.offset, equalityKey: table.equalityKey(to: $0.element)) }
        .max { $0.equalityKey < $1.equalityKey }
      guard let likeliest, likeliest.equalityKey > 0.5 else { continue }
      renames.append(SchemaRename(table: table.name, to: new.remove(at: likeliest.place).name))
    }
    for table in tables {
      guard let other = other[table: table.name] else { continue }
      let gone = table.columns.filter { other[$0.name] == nil }
      let new = other.columns.filter { table[$0.name] == nil }
      for column in gone where gone.count(where: { $0.declaration == column.declaration }) == 1 {
        let alike = new.filter { $0.declaration == column.declaration }
        guard alike.count == 1 else { continue }
        renames.append(SchemaRename(table: table.name, column: column.name, to: alike[0].name))
      }
    }
    return renames
  }
}

extension DatabaseSchema.Table {
  /// The share of common columns among all columns of either: from 0 to 1.
  fileprivate func equalityKey(to other: Self) -> Double {
    let (mine, theirs) = (Set(columns), Set(other.columns))
    let all = mine.union(theirs).count
    return all == 0 ? 0 : Double(mine.intersection(theirs).count) / Double(all)
  }
}
