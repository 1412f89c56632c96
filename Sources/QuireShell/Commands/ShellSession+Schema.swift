import QuireMigration
import QuireRow
import QuireSQLite

// What the file has, in words: .models .schema .relations .tables .indexes

extension ShellSession {
  var modelLines: [String] {
    let models = models
    if models.all.isEmpty { return ["no models: the file has no tables"] }
    return Self.aligned(
      models.all.map { model in
        [
          model.name, model.kind == .view ? "view" : model.table == model.name ? "" : model.table,
          model.relations.map { "\($0.name) → \(models[$0.target].name)\($0.isToMany ? " list" : "")" }
            .joined(separator: ", "),
        ]
      })
  }

  func relationLines(_ name: String) throws(ShellFailure) -> [String] {
    let models = models
    let wanted = name.isEmpty ? models.all : [try find(name)]
    var rows: [[String]] = []
    for model in wanted {
      for relation in model.relations {
        let target = models[relation.target]
        let way =
          switch relation.route {
          case .direct(let pairs):
            pairs.map { "\(model.table).\($0.own) = \(target.table).\($0.other)" }.joined(separator: ", ")
          case .join(let table, _, _): "through \(table)"
          }
        rows.append([
          "\(model.name).\(relation.name)", "→ \(target.name)\(relation.isToMany ? " list" : "")",
          way + (relation.isDeclared ? "" : "  (by its name)"),
        ])
      }
    }
    return rows.isEmpty ? ["\(name.isEmpty ? "no model" : name) leads nowhere"] : Self.aligned(rows)
  }

  /// - Parameter pattern: As LIKE has it, or with `*` and `?`.
  func tableLines(_ pattern: String) throws -> [String] {
    let pattern = pattern.replacing("*", with: "%").replacing("?", with: "_")
    let rows = try source.connection.query(
      """
      SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
        AND type <> 'shadow' AND (?1 = '' OR name LIKE ?1) ORDER BY name
      """, [.text(pattern)]
    ).rows
    if rows.isEmpty { return [pattern.isEmpty ? "no tables" : "no table is like \(pattern)"] }
    return Self.aligned(rows.map { row in [row[0].string ?? "", row[1].string == "table" ? "" : row[1].string ?? ""] })
  }

  func indexLines(_ name: String) throws -> [String] {
    let table = name.isEmpty ? "" : try find(name).table
    let rows = try source.connection.query(
      """
      SELECT i.name, t.name, (SELECT group_concat(coalesce(c.name, '…'), ', ') FROM pragma_index_info(i.name) AS c),
        i."unique", i.origin
      FROM pragma_table_list AS t, pragma_index_list(t.name) AS i WHERE t.schema = 'main' AND (?1 = '' OR t.name = ?1)
        AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~'
      ORDER BY t.name, i.name
      """, [.text(table)]
    ).rows
    if rows.isEmpty { return ["no indexes"] }
    return Self.aligned(
      rows.map { row in
        ["\(row[1].string ?? "") (\(row[2].string ?? ""))", row[3] == 1 ? "unique" : "", row[0].string ?? ""]
      })
  }

  /// A model with its columns, relations and SQL; without a name the SQL of everything.
  func schemaLines(_ name: String) throws -> [String] {
    if name.isEmpty { return try createStatements(of: nil) }
    if models.place(of: name) == nil, case let index = try createStatements(named: name), !index.isEmpty {
      return index
    }
    let model = try find(name)
    let models = models
    var rows = model.columns.map { column in
      [
        column.name,
        [column.type.lowercased(), column.isRequired ? "required" : "", column.isGenerated ? "computed" : ""]
          .filter { !$0.isEmpty }.joined(separator: " "),
        model.keyColumns.contains(column.column) && column.keyPlace > 0
          ? "key" : column.name == column.column ? "" : column.column,
      ]
    }
    rows += model.relations.map { relation in
      [
        relation.name, "→ \(models[relation.target].name)\(relation.isToMany ? " list" : "")",
        relation.isDeclared ? "" : "by its name",
      ]
    }
    let kind = model.kind == .view ? "a view" : model.isCompiled ? "as this program knows it" : ""
    let head = [model.name, model.table == model.name ? "" : "table \(model.table)", kind].filter { !$0.isEmpty }
    return [printable(head.joined(separator: " · "))] + Self.aligned(rows).map { "  " + $0 } + [""]
      + (try createStatements(of: model.table))
  }

  func find(_ name: String) throws(ShellFailure) -> FileModel {
    var name = name
    if let first = name.first, "\"[`".contains(first), name.count > 2 { name = String(name.dropFirst().dropLast()) }
    if let model = models.model(named: name) { return model }
    let near = nearest(to: name, among: models.all.flatMap { [$0.name, $0.table] })
    throw ShellFailure(
      "there is no model or table \(printable(name))", hint: near.map { "did you mean \($0)?" } ?? ".models lists them",
      .usage)
  }

  private func createStatements(of table: String?) throws -> [String] {
    try source.connection.query(
      """
      SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 IS NULL OR tbl_name = ?1)
        AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY tbl_name, type = 'table' DESC, type, name
      """, [table.map { .text($0) } ?? .null]
    ).rows.flatMap { Self.lines($0[0]) }
  }

  private func createStatements(named name: String) throws -> [String] {
    try source.connection.query(
      "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND lower(name) = lower(?)", [.text(name)]
    ).rows.flatMap { Self.lines($0[0]) }
  }

  private static func lines(_ value: Value) -> [String] {
    (value.string ?? "").split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
  }

  /// Rows in columns; control characters in names made visible.
  static func aligned(_ rows: [[String]]) -> [String] {
    let shown = rows.map { $0.map { printable($0) } }
    let count = shown.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in shown.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
    return shown.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell + String(repeating: " ", count: widths[column] - cell.count + (widths[column] == 0 ? 0 : 2))
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
