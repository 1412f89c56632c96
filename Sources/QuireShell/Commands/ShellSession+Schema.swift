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
    if rows.isEmpty { return ["\(name.isEmpty ? "no model" : name) has \(name.isEmpty ? "a" : "no") relation"] }
    return Self.aligned(rows)
  }

  /// - Parameter pattern: As LIKE has it, or with `*` and `?`.
  func tableLines(_ pattern: String) throws -> [String] {
    let pattern = pattern.replacing("*", with: "%").replacing("?", with: "_")
    let connection = source.connection
    let tables = try SchemaReader(connection).tables().filter { table in
      guard table.kind != .shadow, !SQLName.folded(table.name).hasPrefix("sqlite_") else { return false }
      return try pattern.isEmpty || connection.query("SELECT ? LIKE ?", [.text(table.name), .text(pattern)]).first == 1
    }
    if tables.isEmpty { return [pattern.isEmpty ? "no tables" : "no table is like \(pattern)"] }
    return Self.aligned(
      tables.sorted { $0.name < $1.name }.map { [$0.name, $0.kind == .table ? "" : $0.kind.rawValue] })
  }

  func indexLines(_ name: String) throws -> [String] {
    let wanted = name.isEmpty ? nil : SQLName(try find(name).table)
    let found = try SchemaReader(source.connection).indexes().filter { table, _ in
      wanted.map { $0 == table } ?? !SQLName.folded(table.text).hasPrefix("sqlite_")
    }
    if found.isEmpty { return ["no indexes"] }
    return Self.aligned(
      found.sorted { $0.key.text < $1.key.text }.flatMap { table, indexes in
        indexes.sorted { $0.name < $1.name }.map { index in
          let columns = index.columns.map { $0.name ?? "…" }.joined(separator: ", ")
          return ["\(table.text) (\(columns))", index.isUnique ? "unique" : "", index.name]
        }
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

  /// The model or table of a name that was typed, perhaps in quotes.
  ///
  /// - Parameter hint: What else may be done if there is nothing of a similar name.
  func find(_ name: String, orElse hint: () -> String? = { nil }) throws(ShellFailure) -> FileModel {
    let name = "\"'[`".contains(name.prefix(1)) ? SQLTokens.name(name) : name
    if let model = models.model(named: name) { return model }
    if let (message, hint) = models.reason(against: name) { throw ShellFailure(message, hint: hint) }
    let near = nearest(to: name, among: models.all.flatMap { [$0.name, $0.table] })
    throw ShellFailure(
      "there is no model or table \(printable(name))",
      hint: near.map { "did you mean \($0)?" } ?? hint() ?? ".models lists them", .usage)
  }

  /// The SQL of a table and what belongs to it, or of everything, in an order in which it can be run: what SQLite makes
  /// itself, such as the tables of a full-text index, is not in it.
  private func createStatements(of table: String?) throws -> [String] {
    let kinds = [SchemaReader.ObjectKind.table, .view, .index, .trigger]
    let reader = SchemaReader(source.connection)
    let shadows = Set(try reader.tables().filter { $0.kind == .shadow }.map { SQLName($0.name) })
    return try reader.objects(of: table)
      .filter { !SQLName.folded($0.name).hasPrefix("sqlite_") && !shadows.contains(SQLName($0.table)) }
      .sorted {
        ($0.table, kinds.firstIndex(of: $0.kind) ?? 0, $0.name) < (
          $1.table, kinds.firstIndex(of: $1.kind) ?? 0, $1.name
        )
      }.flatMap(Self.lines)
  }

  private func createStatements(named name: String) throws -> [String] {
    try SchemaReader(source.connection).objects(named: name).flatMap(Self.lines)
  }

  private static func lines(_ object: SchemaReader.Object) -> [String] {
    guard let sql = object.sql else { return [] }
    let text = SQLTokens.ended(sql)
    return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
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
