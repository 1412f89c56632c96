import Catalog
import Foundation
import Quire
import QuireMigration
import QuireShell
import QuireTool

extension Command {
  /// `quire import`: catalog files into a database.
  static let importCatalog = Command(
    "import", "fill a catalog from CSV files",
    arguments: [Argument("FILE", "the database")],
    options: [
      Option("--books", value: "CSV", repeats: true, "a file of books, such as goodbooks-10k's books.csv"),
      Option("--libraries", value: "CSV", repeats: true, "a file of libraries, such as the Public Libraries Survey's"),
      Option("--stock", value: "N", "put N holdings of books in libraries, by a fixed rule"),
      Option("--create", "create the database if it does not exist"),
      Option("--bad", value: "N", "how many bad records to list (20)"),
      Option("--json", "the summary as one JSON document, an error too"),
    ],
    notes: """
      A book is known by title, year and authors, a library by name, city and region. What is there already is left as
      it is, so importing a file twice adds nothing, and repeating an import that broke off finishes it.
      Exit status: 0 done, 1 failed (what was committed before stays, and is said), 2 usage or no such file, 6 busy
      """
  ) { try await ImportRun($0).run() }
}

private struct ImportRun {
  let invocation: Invocation
  let file: String
  let books: [String]
  let libraries: [String]
  let stock: Int?
  let listed: Int

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    guard let file = invocation.argument("FILE") else { throw invocation.usageError("which database?") }
    self.file = file
    books = invocation.values("--books")
    libraries = invocation.values("--libraries")
    stock = try invocation.integer("--stock")
    listed = try invocation.integer("--bad") ?? 20
    if books.isEmpty, libraries.isEmpty, stock == nil {
      throw invocation.usageError("nothing to import: give --books, --libraries or --stock")
    }
  }

  @MainActor func run() throws -> ExitStatus {
    do {
      // A file that cannot be imported is found before the database is touched.
      for path in books { _ = try RecordReader.books(in: path) }
      for path in libraries { _ = try RecordReader.libraries(in: path) }
    } catch {
      throw CommandFailure("\(error)", .usage)
    }
    let store = try open()
    // Before the process ends, so that no log stays beside the file.
    defer { try? store.close() }
    let progress = Progress("importing", on: invocation.terminal)
    var work = CatalogImport(into: store) { what, done, total in progress.update(done, of: total, what) }
    do {
      for path in books { try work.books(from: path) }
      for path in libraries { try work.libraries(from: path) }
      if let stock { try work.stock(stock) }
    } catch {
      progress.finish()
      throw failure(explained(error), Result { try Counts(store) })
    }
    progress.finish()
    return try report(work.summary, Counts(store))
  }

  private func open() throws -> ModelContainer {
    let quotedFile = shellQuoted(file)
    let size = (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int
    if size == nil || size == 0 {
      guard invocation.flag("--create") else {
        throw CommandFailure(
          (size == nil ? "no database at \(file)" : "\(file) has no bytes")
            + ". To create one:  quire migrate apply --create \(quotedFile)\nor add --create to this command", .usage)
      }
      try createCatalog(at: file)
    }
    guard access(file, R_OK) == 0 else {
      throw CommandFailure("\(file) cannot be opened: \(FileObstacle.reason(errno)). It was not changed", .usage)
    }
    do {
      return try ModelContainer(for: Book.self, Author.self, Library.self, url: URL(filePath: file))
    } catch {
      let error = explained(error)
      throw CommandFailure("\(error)", status(of: error))
    }
  }

  /// Converts a statement's error if it concerns the whole file.
  private func explained(_ error: any Error) -> any Error {
    guard let error = error as? SQLiteError else { return error }
    if error.isBusy { return DatabaseError.busy(path: file, waited: .seconds(5)) }
    if error.isReadOnly { return DatabaseError.readOnly(path: file, reason: FileObstacle.writing(file)) }
    if error.isCorrupt { return DatabaseError.corrupt(path: file, sql: nil) }
    if error.isFull { return DatabaseError.diskFull(path: file) }
    return error
  }

  /// An import that broke off: why, what is there, and what to do.
  private func failure(_ error: any Error, _ counts: Result<Counts, any Error>) -> CommandFailure {
    if error is StockError { return CommandFailure("\(error)", .usage) }
    var text = "\(error)"
    if case .success(let counts) = counts { text += "\n\(file) holds what was committed before: \(counts)." }
    if let error = error as? DatabaseError, case .corrupt = error { return CommandFailure(text, .failure) }
    let isInput = error is CSVError
    return CommandFailure(
      text + "\n" + (isInput ? "Correct the file and repeat" : "Repeat") + " the import to finish it.",
      status(of: error))
  }

  private func status(of error: any Error) -> ExitStatus {
    guard let error = error as? DatabaseError else { return .failure }
    return switch error {
    case .busy, .writerBusy: .busy
    case .missing, .isDirectory, .notADatabase, .empty, .unreadable, .hardLinked: .usage
    default: .failure
    }
  }

  private func report(_ summary: CatalogImport.Summary, _ counts: Counts) throws -> ExitStatus {
    let terminal = invocation.terminal
    for bad in summary.bad.prefix(listed) { terminal.note("bad record  \(printable("\(bad)"))") }
    if summary.bad.count > listed {
      terminal.note("… and \(summary.bad.count - listed) more bad records (--bad N lists more)")
    }
    if invocation.flag("--json") {
      terminal.print(
        JSON.object([
          ("v", 1), ("database", .string(file)),
          (
            "added",
            .object([
              ("books", .integer(summary.books)), ("authors", .integer(summary.authors)),
              ("coauthors", .integer(summary.coauthors)), ("libraries", .integer(summary.libraries)),
              ("holdings", .integer(summary.holdings)),
            ])
          ),
          ("known", .integer(summary.known)), ("bad", .integer(summary.bad.count)),
          (
            "badRecords",
            .array(
              summary.bad.map {
                .object([("file", .string($0.file)), ("line", .integer($0.line)), ("reason", .string($0.reason))])
              })
          ),
          ("total", counts.json),
        ]).text)
      return .done
    }
    let rows = [
      ["books", "\(summary.books)", "\(counts.books)"], ["authors", "\(summary.authors)", "\(counts.authors)"],
      ["coauthors", "\(summary.coauthors)", "\(counts.coauthors)"],
      ["libraries", "\(summary.libraries)", "\(counts.libraries)"],
      ["holdings", "\(summary.holdings)", "\(counts.holdings)"],
    ]
    for line in Table(["", "added", "total"], alignRight: [1, 2], rows: rows).lines(width: terminal.columns) {
      terminal.print(line)
    }
    var notes: [String] = []
    if summary.known > 0 {
      notes.append("\(summary.known) \(summary.known == 1 ? "record" : "records") already present")
    }
    if !summary.bad.isEmpty {
      notes.append("\(summary.bad.count) bad record\(summary.bad.count == 1 ? "" : "s") left out")
    }
    if !notes.isEmpty { terminal.print(notes.joined(separator: ", ")) }
    return .done
  }
}

/// Makes a file with the catalog's schema, by its migrations.
func createCatalog(at file: String) throws {
  guard let folder = SampleCatalog.migrations else {
    throw CommandFailure(
      "this program was copied without its resources (Quire_Catalog.resources), which contain the catalog's migrations",
      .usage)
  }
  var migrator = Migrator(database: file, files: try MigrationFolder.read(folder))
  migrator.createsDatabase = true
  migrator.by = "quire"
  _ = try migrator.apply { _ in }
}

/// How many rows a catalog has.
struct Counts: CustomStringConvertible {
  let books: Int
  let authors: Int
  let coauthors: Int
  let libraries: Int
  let holdings: Int

  init(_ store: ModelContainer) throws {
    let row =
      try store.query(
        """
        SELECT (SELECT count(*) FROM book), (SELECT count(*) FROM author), (SELECT count(*) FROM book_coauthors),
          (SELECT count(*) FROM library), (SELECT count(*) FROM library_books)
        """
      ).first
    func number(_ place: Int) -> Int { if case .integer(let value)? = row?[place] { Int(value) } else { 0 } }
    (books, authors, coauthors, libraries, holdings) = (number(0), number(1), number(2), number(3), number(4))
  }

  var description: String {
    "\(books) books, \(authors) authors, \(coauthors) coauthors, \(libraries) libraries, \(holdings) holdings"
  }

  var json: JSON {
    .object([
      ("books", .integer(books)), ("authors", .integer(authors)), ("coauthors", .integer(coauthors)),
      ("libraries", .integer(libraries)), ("holdings", .integer(holdings)),
    ])
  }
}
