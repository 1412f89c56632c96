import Catalog
import Foundation
import Quire
import Testing

/// The schema that people keep, in `Migrations/`, and the one the models would make: one and the same.
@Suite struct CatalogSchemaTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Migrations")

  /// Runs the statements in a file of their own and gives what `body` reads of it.
  private func schema(_ statements: [String]) throws -> [String: [[Value]]] {
    let file = FileManager.default.temporaryDirectory.appending(path: "quire-schema-\(UUID().uuidString).db")
    defer { try? FileManager.default.removeItem(at: file) }
    let connection = try Connection(path: file.path, access: .create)
    for sql in statements { try connection.execute(sql) }
    var result: [String: [[Value]]] = [:]
    let tables = try connection.query(
      "SELECT name, strict, wr FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).rows
    result["tables"] = tables
    for table in tables {
      guard case .text(let name) = table[0] else { continue }
      result["\(name) columns"] = try connection.query("SELECT * FROM pragma_table_xinfo(?)", [table[0]]).rows
      result["\(name) keys"] = try connection.query(
        "SELECT \"table\", \"from\", \"to\", on_update, on_delete, match FROM pragma_foreign_key_list(?) ORDER BY \"from\"",
        [table[0]]
      ).rows
      result["\(name) indexes"] = try connection.query(
        "SELECT i.name, i.\"unique\", i.origin, i.partial, c.name FROM pragma_index_list(?) AS i, pragma_index_info(i.name) AS c ORDER BY i.name, c.seqno",
        [table[0]]
      ).rows
      // Checks are in the text only: one of each is there or not.
      let sql = try connection.query("SELECT sql FROM sqlite_schema WHERE name = ?", [table[0]]).first
      if case .text(let sql)? = sql {
        result["\(name) checks"] = [[.integer(Int64(sql.components(separatedBy: "CHECK").count - 1))]]
      }
    }
    return result
  }

  /// The part of each file before its undo, statement by statement.
  private func migrations() throws -> [String] {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0.hasSuffix(".sql") }
    #expect(files.count >= 3)
    return try files.sorted().flatMap { file in
      let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
      let up = text.components(separatedBy: "-- migrate: undo")[0].split(separator: "\n").filter { !$0.hasPrefix("--") }
      return up.joined(separator: "\n").components(separatedBy: ";")
        .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }
  }

  @Test func `the models' statements make what the migrations make`() throws {
    let models = try schema(try ModelContainer.schemaSQL(for: Book.self, Author.self, Library.self))
    let files = try schema(try migrations())
    for key in Set(models.keys).union(files.keys).sorted() {
      #expect(models[key] == files[key], "\(key)")
    }
    #expect(models["tables"]?.count == 5)
  }

  @Test func `a container opens a migrated file`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "quire-schema-\(UUID().uuidString).db")
    defer { try? FileManager.default.removeItem(at: file) }
    do {
      let connection = try Connection(path: file.path, access: .create)
      for sql in try migrations() { try connection.execute(sql) }
    }
    let store = try ModelContainer(for: Book.self, Author.self, Library.self, url: file)
    let context = ModelContext(store)
    let library = Library(name: "Main", city: "Zürich", region: "ZH")
    library.books = [Book(title: "Solaris", author: Author(name: "Lem"))]
    context.insert(library)
    try context.save()
    #expect(library.availableBooksCount == 1)
    library.books[0].checkOut()
    #expect(library.availableBooksCount == 0)
  }
}
