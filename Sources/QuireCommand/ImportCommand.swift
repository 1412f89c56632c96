import Catalog
import Foundation
import Quire
import QuireMigration
import QuireTool

extension Command {
  /// `quire import`: catalogue files into a database.
  static let importCatalogue = Command(
    "import", "fill a catalogue from CSV files",
    arguments: [Argument("FILE", "the database")],
    options: [
      Option("--books", value: "CSV", repeats: true, "a file of books, such as goodbooks-10k's books.csv"),
      Option("--libraries", value: "CSV", repeats: true, "a file of libraries, such as the Public Libraries Survey's"),
      Option("--stock", value: "N", "put N holdings of books in libraries, by a fixed rule"),
      Option("--create", "create the database where there is none"),
      Option("--bad", value: "N", "how many bad records to list (20)"),
      Option("--json", "the summary as one JSON document"),
    ],
    notes: """
      A book is known by title, year and authors, a library by name, city and region. What is there already is left as
      it is, so importing a file twice adds nothing, and repeating an import that broke off finishes it.
      Exit status: 0 done, 1 failed (what was committed before stays, and is said), 2 usage or no such file, 6 busy
      """
  ) { try ImportRun($0).run() }
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

  func run() throws -> ExitStatus {
    do {
      // A file that cannot be imported is found before the database is touched.
      for path in books { _ = try RecordReader.books(in: path) }
      for path in libraries { _ = try RecordReader.libraries(in: path) }
    } catch {
      throw CommandFailure("\(error)", .usage)
    }
    let store = try open()
    let progress = Progress("importing", on: invocation.terminal)
    var work = CatalogImport(into: store) { what, done, total in progress.update(done, of: total, what) }
    do {
      for path in books { try work.books(from: path) }
      for path in libraries { try work.libraries(from: path) }
      if let stock { try work.stock(stock) }
    } catch {
      progress.finish()
      let done = try? Counts(store)
      throw CommandFailure(
        "\(error)\n\(file) holds what was committed before\(done.map { ": \($0)" } ?? "").\nRepeat the import to finish it.",
        status(of: error))
    }
    progress.finish()
    return try report(work.summary, Counts(store))
  }

  private func open() throws -> ModelContainer {
    let quotedFile = shellQuoted(file)
    if !FileManager.default.fileExists(atPath: file) {
      guard invocation.flag("--create") else {
        throw CommandFailure(
          "no database at \(file). To create one:  quire migrate apply --create \(quotedFile)\n"
            + "or add --create to this command", .usage)
      }
      try createCatalogue(at: file)
    }
    do {
      return try ModelContainer(for: Book.self, Author.self, Library.self, url: URL(filePath: file))
    } catch {
      throw CommandFailure("\(error)", status(of: error))
    }
  }

  private func status(of error: any Error) -> ExitStatus {
    guard let error = error as? DatabaseError else { return error is StockError ? .usage : .failure }
    return switch error {
    case .busy: .busy
    case .missing, .isDirectory, .notADatabase, .empty, .unreadable, .hardLinked: .usage
    default: .failure
    }
  }

  private func report(_ summary: CatalogImport.Summary, _ counts: Counts) throws -> ExitStatus {
    let terminal = invocation.terminal
    for bad in summary.bad.prefix(listed) { terminal.note("bad record  \(printable("\(bad)"))") }
    if summary.bad.count > listed { terminal.note("… and \(summary.bad.count - listed) more bad records (--bad N lists more)") }
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
              summary.bad.map { .object([("file", .string($0.file)), ("line", .integer($0.line)), ("reason", .string($0.reason))]) })
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
    for line in Table(["", "added", "in all"], alignRight: [1, 2], rows: rows).lines(width: terminal.columns) {
      terminal.print(line)
    }
    var notes: [String] = []
    if summary.known > 0 { notes.append("\(summary.known) records were there already") }
    if !summary.bad.isEmpty { notes.append("\(summary.bad.count) bad records left out") }
    if !notes.isEmpty { terminal.print(notes.joined(separator: ", ")) }
    return .done
  }
}

/// Makes a file with the catalogue's schema, by its migrations.
func createCatalogue(at file: String) throws {
  guard let folder = SampleCatalogue.migrations else {
    throw CommandFailure(
      "this program was copied away from its resources (Quire_Catalog.resources), where the catalogue's migrations are", .usage)
  }
  var migrator = Migrator(database: file, files: try MigrationFolder.read(folder))
  migrator.createsDatabase = true
  migrator.by = "quire"
  _ = try migrator.apply { _ in }
}

/// How many rows a catalogue has.
struct Counts: CustomStringConvertible {
  let books: Int
  let authors: Int
  let coauthors: Int
  let libraries: Int
  let holdings: Int

  init(_ store: ModelContainer) throws {
    let row = try store.query(
      """
      SELECT (SELECT count(*) FROM book), (SELECT count(*) FROM author), (SELECT count(*) FROM book_coauthors),
        (SELECT count(*) FROM library), (SELECT count(*) FROM library_books)
      """
    ).first ?? []
    func number(_ index: Int) -> Int { if row.indices.contains(index), case .integer(let value) = row[index] { Int(value) } else { 0 } }
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
