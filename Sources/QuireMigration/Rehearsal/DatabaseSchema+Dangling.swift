import QuireRow
import QuireSQLite

extension DatabaseSchema {
  /// Tables, views and virtual tables.
  var tableNames: Set<SQLName> { Set(tables.map(\.name) + (views + virtualTables).map(\.name)) }

  /// The keys, views and triggers that refer to one of `gone`, which the schema no longer has.
  ///
  /// SQLite drops a table under them without an error, and then refuses each statement that meets them: nothing more is
  /// written to the table of such a trigger, and no row to that of such a key if keys are enforced.
  ///
  /// - Parameter connection: Has this schema. A name may stand in a view or trigger for something else, so SQLite is asked.
  func references(to gone: Set<SQLName>, on connection: Connection) -> [SchemaDifference] {
    if gone.isEmpty { return [] }
    let keys = tables.flatMap { table in
      table.foreignKeys.filter { gone.contains($0.parent) }.map {
        SchemaDifference(
          table: table.name, kind: .constraint, old: "\($0)", new: "REFERENCES \($0.parent), which is gone")
      }
    }
    func objects(_ kind: SchemaDifference.Kind, _ objects: [Object]) -> [SchemaDifference] {
      objects.compactMap { object in
        let named = gone.filter(object.sql.mentions)
        if named.isEmpty { return nil }
        let statement = kind == .view ? reading(object.name) : firing(object)
        guard let name = missing(in: statement, of: named, on: connection) else { return nil }
        return SchemaDifference(table: nil, kind: kind, old: "\(object.name)", new: "reads \(name), which is gone")
      }
    }
    return keys.sorted { "\($0)" < "\($1)" } + objects(.view, views) + objects(.trigger, triggers)
  }

  private func reading(_ view: SQLName) -> String? {
    (try? quoted(identifier: view.text)).map { "SELECT * FROM \($0)" }
  }

  /// A statement that fires the trigger.
  private func firing(_ trigger: Object) -> String? {
    guard let name = try? quoted(identifier: trigger.table.text) else { return nil }
    let tokens = SQLTokens(trigger.sql.text)
    let event = tokens.lazy.map { tokens.text(of: $0).uppercased() }.first {
      ["INSERT", "DELETE", "UPDATE"].contains($0)
    }
    switch event {
    case "INSERT": return "INSERT INTO \(name) DEFAULT VALUES"
    case "DELETE": return "DELETE FROM \(name)"
    default:
      let columns = self[table: trigger.table]?.columns.filter { $0.generated == nil } ?? []
      let values = columns.compactMap { try? quoted(identifier: $0.name.text) }.map { "\($0) = \($0)" }
      return values.isEmpty ? nil : "UPDATE \(name) SET \(values.joined(separator: ", "))"
    }
  }

  /// The one of `names` that SQLite misses when it compiles the statement, which does not run.
  private func missing(in sql: String?, of names: Set<SQLName>, on connection: Connection) -> SQLName? {
    guard let sql else { return nil }
    do throws(SQLiteError) {
      _ = try connection.prepare(sql)
      return nil
    } catch {
      return names.first { error.message.lowercased() == "no such table: main.\($0.text)".lowercased() }
    }
  }
}
