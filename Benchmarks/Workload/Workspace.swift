import Foundation

/// The folder of a run's files, in the system's temporary folder; deleted by `delete`.
///
/// A table is filled once for each size and copied for each variant: a million books take a second or two to write and
/// a tenth of that to copy.
@MainActor final class Workspace {
  /// What a file holds beside the authors, who are in all of them.
  enum Contents: String {
    case authorsOnly, books
    /// With an index on the title, for `window`.
    case booksByTitle
  }

  private let folder: URL
  private var templates: [String: String] = [:]
  private var copies: [String] = []
  private var copyCount = 0

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func delete() {
    try? FileManager.default.removeItem(at: folder)
  }

  /// A copy of its own for whoever asks.
  func file(_ contents: Contents, rows: Int) throws -> String {
    let template = try template(contents, rows: contents == .authorsOnly ? 0 : rows)
    copyCount += 1
    let copy = folder.appending(path: "\(contents)-\(rows)-\(copyCount).db").path
    try FileManager.default.copyItem(atPath: template, toPath: copy)
    copies.append(copy)
    return copy
  }

  /// Deletes all copies: of a table of ten million rows each takes the better part of a gigabyte.
  func removeCopies() {
    for copy in copies { remove(copy) }
    copies.removeAll()
  }

  /// Deletes a file and what SQLite keeps beside it.
  func remove(_ file: String) {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
  }

  private func template(_ contents: Contents, rows: Int) throws -> String {
    let name = "\(contents)-\(rows).template.db"
    if let made = templates[name] { return made }
    let path = folder.appending(path: name).path
    let database = try RawDatabase(path, .sqlite)
    defer { database.close() }
    // Nobody else sees the file yet, and half of one is thrown away with its folder.
    try database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
    try database.run("PRAGMA cache_size = -262144; BEGIN")
    try database.run(Self.schema)
    try fillAuthors(database)
    try fillBooks(database, rows)
    if rows >= 1_000_000 { Progress.update("indexing \(grouped(rows)) books") }
    try database.run("CREATE INDEX book_author ON book(author_id)")
    if contents == .booksByTitle { try database.run("CREATE INDEX book_title ON book(title)") }
    try database.run("COMMIT; PRAGMA journal_mode = WAL")
    templates[name] = path
    return path
  }

  static let schema = """
    CREATE TABLE author (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL
    ) STRICT;
    CREATE TABLE book (
      id INTEGER PRIMARY KEY,
      title TEXT NOT NULL,
      author_id INTEGER NOT NULL REFERENCES author,
      year INTEGER NOT NULL,
      rating REAL NOT NULL,
      is_available INTEGER NOT NULL
    ) STRICT;
    """

  private func fillAuthors(_ database: RawDatabase) throws {
    let insert = try database.prepare("INSERT INTO author (id, name) VALUES (?1, ?2)")
    defer { insert.finalize() }
    for id in 1...Workload.authorCount {
      insert.bind(1, Int64(id))
      try insert.binding(2, Workload.authorName(id)) { try insert.run() }
    }
  }

  private func fillBooks(_ database: RawDatabase, _ count: Int) throws {
    let insert = try database.prepare(RawDatabase.insertBook)
    defer { insert.finalize() }
    var workload = Workload()
    for index in 0..<count {
      try insert.insert(workload.nextBook())
      if index % 50_000 == 49_999 { Progress.update("writing \(grouped(index + 1)) of \(grouped(count)) books") }
    }
  }
}
