import QuireRow

/// A resolved statement as SQL: each value is a `?`, names of the file are quoted, parameters have their names after a
/// colon. (Values have no names, because SQLite searches all known names for each new one.)
struct ModelSQL: Hashable, Sendable {
  var text = ""
  /// The same with its values, for people to read and copy; it is not run.
  var readable = ""
  /// The value of each `?`, in order.
  var values: [Value] = []

  static func select(_ query: ResolvedQuery) throws -> ModelSQL {
    var sql = ModelSQL()
    try sql.write(query)
    return sql
  }

  /// How many rows the query has.
  ///
  /// - Parameter atMost: Counts no further.
  static func count(_ query: ResolvedQuery, atMost: Int? = nil) throws -> ModelSQL {
    var sql = ModelSQL()
    var inner = query
    inner.order = []
    sql.put("SELECT count(*) AS \"count\" FROM (")
    if query.names == nil { (inner.rows.values, inner.names) = ([.value(1)], ["one"]) }
    if let atMost { inner.limit = inner.limit ?? .value(.integer(Int64(atMost))) }
    try sql.write(inner)
    sql.put(")")
    return sql
  }

  static func write(_ statement: ResolvedWrite) throws -> ModelSQL {
    var sql = ModelSQL()
    switch statement {
    case .insert(let table, let columns, let values):
      sql.put("INSERT INTO \(try quoted(identifier: table))")
      if columns.isEmpty {
        sql.put(" DEFAULT VALUES")
      } else {
        sql.put(" (\(try columns.map { try quoted(identifier: $0) }.joined(separator: ", "))) VALUES (")
        try sql.list(values)
        sql.put(")")
      }
    case .update(let rows, let keys, let columns, let values):
      sql.put("UPDATE \(try quoted(identifier: rows.tables.table)) AS \(rows.tables.alias) SET ")
      for (place, column) in columns.enumerated() {
        sql.put("\(place > 0 ? ", " : "")\(try quoted(identifier: column)) = ")
        try sql.write(values[place])
      }
      try sql.writeWhere(rows, keys)
    case .delete(let rows, let keys):
      sql.put("DELETE FROM \(try quoted(identifier: rows.tables.table)) AS \(rows.tables.alias)")
      try sql.writeWhere(rows, keys)
    }
    return sql
  }

  // MARK: Parts

  private mutating func put(_ part: String) {
    text += part
    readable += part
  }

  private mutating func bind(_ value: Value) {
    values.append(value)
    text += "?"
    readable += "\(value)"
  }

  private mutating func list(_ parts: [Resolved], by separator: String = ", ") throws {
    for (place, part) in parts.enumerated() {
      if place > 0 { put(separator) }
      try write(part)
    }
  }

  private func column(_ alias: String, _ name: String) throws -> String { "\(alias).\(try quoted(identifier: name))" }

  private mutating func write(_ query: ResolvedQuery) throws {
    put(query.isDistinct ? "SELECT DISTINCT " : "SELECT ")
    if let names = query.names {
      for (place, value) in query.rows.values.enumerated() {
        if place > 0 { put(", ") }
        try write(value)
        if case .column(_, let column) = value, column == names[place] { continue }
        put(" AS \(try quoted(identifier: names[place]))")
      }
    } else {
      let alias = query.rows.tables.alias
      if let rowID = query.rowID { put("\(try column(alias, rowID)), ") }
      put("\(alias).*")
    }
    try writeFrom(query.rows)
    if !query.groups.isEmpty {
      put(" GROUP BY ")
      try list(query.groups)
    }
    if let having = query.having {
      put(" HAVING ")
      try write(having)
    }
    for (place, term) in query.order.enumerated() {
      put(place > 0 ? ", " : " ORDER BY ")
      try write(term.value)
      if term.isDescending { put(" DESC") }
      if let nullsFirst = term.nullsFirst { put(nullsFirst ? " NULLS FIRST" : " NULLS LAST") }
    }
    if query.limit != nil || query.offset != nil {
      put(" LIMIT ")
      try write(query.limit ?? .value(-1))
    }
    if let offset = query.offset {
      put(" OFFSET ")
      try write(offset)
    }
  }

  private mutating func writeFrom(_ rows: ResolvedRows) throws {
    put(" FROM \(try quoted(identifier: rows.tables.table)) AS \(rows.tables.alias)")
    for join in rows.tables.joins {
      put(join.isOptional ? " LEFT JOIN " : " JOIN ")
      put("\(try quoted(identifier: join.table)) AS \(join.alias) ON ")
      try list(join.conditions, by: " AND ")
    }
    try writeConditions(rows.conditions)
  }

  private mutating func writeConditions(_ conditions: [Resolved]) throws {
    if conditions.isEmpty { return }
    put(" WHERE ")
    if conditions.count == 1 { return try write(conditions[0]) }
    try writeJoined(conditions, by: " AND ")
  }

  private mutating func writeWhere(_ rows: ResolvedRows, _ keys: [String]?) throws {
    guard let keys else { return try writeConditions(rows.conditions) }
    let alias = rows.tables.alias
    put(" WHERE ")
    var inner = rows
    inner.values = keys.map { .column(alias: alias, $0) }
    try write(.within(inner.values, inner, isNegated: false))
  }

  /// The highest number of operands in one row. For SQLite each is one level of depth, and a thousand is the limit:
  /// more are grouped, with the same meaning and little depth.
  private static let longestRow = 250

  private mutating func writeJoined(_ parts: [Resolved], by word: String) throws {
    guard parts.count > Self.longestRow else {
      for (place, part) in parts.enumerated() {
        if place > 0 { put(word) }
        try writeInside(part)
      }
      return
    }
    // As many groups as each has parts.
    let size = Int(Double(parts.count).squareRoot()) + 1
    for start in stride(from: 0, to: parts.count, by: size) {
      put(start > 0 ? word + "(" : "(")
      for (place, part) in parts[start..<min(start + size, parts.count)].enumerated() {
        if place > 0 { put(word) }
        try writeInside(part)
      }
      put(")")
    }
  }

  // MARK: Values

  /// In parentheses if an enclosing operator might bind tighter.
  private mutating func writeInside(_ part: Resolved) throws {
    if part.isSimple { return try write(part) }
    put("(")
    try write(part)
    put(")")
  }

  private mutating func write(_ part: Resolved) throws {
    switch part {
    case .value(let value): bind(value)
    case .parameter(let name): put(":\(name.dropFirst())")
    case .column(let alias, let name): put(try column(alias, name))
    case .everything: put("*")
    case .prefix(let sign, let inner):
      put(sign == "NOT" ? "NOT " : sign)
      try writeInside(inner)
    case .infix(let sign, let a, let b):
      try writeInside(a)
      put(" \(sign) ")
      try writeInside(b)
    case .chain(let first, let links):
      try writeInside(first)
      for link in links {
        put(" \(link.sign) ")
        try writeInside(link.value)
      }
    case .all(let parts):
      if parts.isEmpty { return bind(1) }
      try writeJoined(parts, by: " AND ")
    case .any(let parts):
      if parts.isEmpty { return bind(0) }
      try writeJoined(parts, by: " OR ")
    case .isNull(let inner, let isNegated):
      try writeInside(inner)
      put(isNegated ? " IS NOT NULL" : " IS NULL")
    case .isTruth(let inner, let truth, let isNegated):
      try writeInside(inner)
      put(" IS \(isNegated ? "NOT " : "")\(truth ? "TRUE" : "FALSE")")
    case .collated(let inner, let collation):
      try writeInside(inner)
      put(" COLLATE \(try quoted(identifier: collation))")
    case .cast(let inner, let type):
      put("CAST(")
      try write(inner)
      put(" AS \(type))")
    case .oneOf(let element, let values, let isNegated):
      try writeInside(element)
      put(isNegated ? " NOT IN (" : " IN (")
      try list(values)
      put(")")
    case .within(let elements, let rows, let isNegated):
      if elements.count > 1 { put("(") }
      try list(elements)
      put("\(elements.count > 1 ? ")" : "")\(isNegated ? " NOT" : "") IN (")
      try writeRows(rows)
      put(")")
    case .between(let element, let low, let high, let isNegated):
      try writeInside(element)
      put(isNegated ? " NOT BETWEEN " : " BETWEEN ")
      try writeInside(low)
      put(" AND ")
      try writeInside(high)
    case .match(let word, let a, let b, let isNegated):
      try writeInside(a)
      put(" \(isNegated ? "NOT " : "")\(word) ")
      try writeInside(b)
    case .function(let name, let arguments, let isDistinct):
      put("\(name)(\(isDistinct ? "DISTINCT " : "")")
      try list(arguments)
      put(")")
    case .choice(let parts, let otherwise):
      put("CASE")
      for (place, part) in parts.enumerated() {
        put(place.isMultiple(of: 2) ? " WHEN " : " THEN ")
        try write(part)
      }
      if let otherwise {
        put(" ELSE ")
        try write(otherwise)
      }
      put(" END")
    case .exists(let rows, let isNegated):
      put(isNegated ? "NOT EXISTS (" : "EXISTS (")
      try writeRows(rows)
      put(")")
    case .aggregate(let rows):
      put("(")
      try writeRows(rows)
      put(")")
    }
  }

  private mutating func writeRows(_ rows: ResolvedRows) throws {
    put("SELECT ")
    try list(rows.values)
    try writeFrom(rows)
  }
}

extension Resolved {
  /// Whether it needs no parentheses anywhere.
  fileprivate var isSimple: Bool {
    switch self {
    case .value(.integer(let number)): number >= 0
    case .value, .parameter, .column, .everything, .function, .choice, .cast, .exists, .aggregate: true
    default: false
    }
  }
}
