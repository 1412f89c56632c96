package import QuireSQLite

/// A table or column that gets another name and keeps its values.
///
/// As text, `book:volume` renames a table and `book.title:book.heading` a column, whose table may have its old or new
/// name. A name with a period or a colon is in quotes: `"app.settings".value:content`.
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
    guard let sides = Self.sides(text), sides.count == 2 else { return nil }
    switch (sides[0].count, sides[1].count) {
    case (1, 1): self.init(table: sides[0][0], to: sides[1][0])
    // `book.title:heading` names the table once.
    case (2, 1): self.init(table: sides[0][0], column: sides[0][1], to: sides[1][0])
    case (2, 2): self.init(table: sides[1][0], column: sides[0][1], to: sides[1][1])
    default: return nil
    }
  }

  /// The names between periods, on both sides of the colon; nil if one is missing. A name in quotes may have these signs
  /// in it, as in SQL.
  private static func sides(_ text: String) -> [[SQLName]]? {
    var sides: [[SQLName]] = [[]]
    var rest = text[...]
    while true {
      let name: String
      if rest.first == "\"" {
        guard let quoted = rest.prefixMatch(of: /"((?:[^"]|"")+)"/) else { return nil }
        name = String(quoted.output.1).replacing("\"\"", with: "\"")
        rest = rest[quoted.range.upperBound...]
      } else {
        name = String(rest.prefix { $0 != "." && $0 != ":" })
        rest = rest.dropFirst(name.count)
      }
      if name.isEmpty { return nil }
      sides[sides.count - 1].append(SQLName(name))
      switch rest.popFirst() {
      case nil: return sides
      case ".": continue
      case ":": sides.append([])
      default: return nil
      }
    }
  }

  package var description: String {
    func written(_ name: SQLName) -> String { name.text.contains(where: ".:\"".contains) ? "\(name)" : name.text }
    let (old, new) = (written(table), written(newName))
    return column.map { "\(old).\(written($0)):\(old).\(new)" } ?? "\(old):\(new)"
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
  /// A table is proposed if most columns are equal, a column if its declaration is equal; the likeliest come first. Columns
  /// of a table that itself may have been renamed are proposed once that is decided.
  package func possibleRenames(to other: DatabaseSchema) -> [SchemaRename] {
    let newTables = other.tables.filter { self[table: $0.name] == nil }
    let gone = tables.filter { other[table: $0.name] == nil }
    let ofTables = gone.flatMap { table in
      newTables.map { new in
        let likeness = table.likeness(to: new)
        return (
          rename: SchemaRename(table: table.name, to: new.name),
          // The names decide between tables whose columns are as equal.
          likeness: likeness > 0.5 ? likeness + 0.001 * Self.likeness(of: table.name, to: new.name) : 0
        )
      }
    }
    let ofColumns = tables.flatMap { table in
      guard let other = other[table: table.name] else { return [SchemaRename]() }
      let new = other.columns.filter { table[$0.name] == nil }
      let pairs = table.columns.filter { other[$0.name] == nil }.flatMap { column in
        new.filter { $0.declaration == column.declaration }.map { new in
          (
            rename: SchemaRename(table: table.name, column: column.name, to: new.name),
            likeness: 1 + Self.likeness(of: column.name, to: new.name)
          )
        }
      }
      return Self.likeliest(pairs)
    }
    return Self.likeliest(ofTables) + ofColumns
  }

  /// In the order of the schema where nothing tells them apart.
  private static func likeliest(_ pairs: [(rename: SchemaRename, likeness: Double)]) -> [SchemaRename] {
    let ordered = pairs.enumerated().sorted { a, b in
      (b.element.likeness, a.offset) < (a.element.likeness, b.offset)
    }
    return ordered.filter { $0.element.likeness > 0 }.map(\.element.rename)
  }

  /// How many of their characters are equal, from 0 to 1.
  private static func likeness(of name: SQLName, to other: SQLName) -> Double {
    let (mine, theirs) = (Array(SQLName.folded(name.text)), Array(SQLName.folded(other.text)))
    return 1 - Double(editDistance(mine, theirs)) / Double(max(mine.count, theirs.count, 1))
  }
}

extension DatabaseSchema.Table {
  /// The share of common columns among all columns of either: from 0 to 1.
  fileprivate func likeness(to other: Self) -> Double {
    let (mine, theirs) = (Set(columns), Set(other.columns))
    let all = mine.union(theirs).count
    return all == 0 ? 0 : Double(mine.intersection(theirs).count) / Double(all)
  }
}
