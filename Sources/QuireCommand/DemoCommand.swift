import Catalog
import Foundation
import Quire
import QuireTool

extension Command {
  /// `quire demo`: a catalog on the screen that follows every change.
  static let demo = Command(
    "demo", "see live lists and projections follow edits, SQL and cascades",
    options: [
      Option("--data", value: "DIR", "real catalogs: goodbooks-10k/books.csv and pls/*.csv in this folder"),
      Option("--file", value: "FILE", "keep the database here; it must not exist yet"),
    ],
    notes: "Everything happens in a new file; the last lines say where it is and what to try with it."
  ) { try await Demo($0).run() }
}

/// Migrates a new file, imports a catalog, and shows one short list before and after each of four edits, and two
/// projections before and after a fifth.
@MainActor private final class Demo {
  private let terminal: Terminal
  private let file: String
  private let books: String
  private let libraries: String
  /// What starts this program: in a clone a script builds it first.
  private let program: String

  nonisolated init(_ invocation: Invocation) throws {
    terminal = invocation.terminal
    let script = "Scripts/quire"
    program = FileManager.default.fileExists(atPath: script) ? script : invocation.command[0]
    (books, libraries) = try Demo.catalog(invocation)
    if let file = invocation["--file"] {
      if FileManager.default.fileExists(atPath: file) {
        throw CommandFailure("\(file) is there already; the demo wants a new file. Nothing was changed", .usage)
      }
      self.file = file
    } else {
      let folder = FileManager.default.temporaryDirectory.appending(
        path: "quire-demo-\(ProcessInfo.processInfo.processIdentifier)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      file = folder.appending(path: "library.db").path
    }
  }

  nonisolated private static func catalog(_ invocation: Invocation) throws -> (String, String) {
    guard let folder = invocation["--data"] else {
      guard let books = SampleCatalog.books, let libraries = SampleCatalog.libraries else {
        throw CommandFailure(
          "this program was copied away from its sample (Quire_Catalog.resources); give --data DIR", .usage)
      }
      return (books, libraries)
    }
    func first(_ names: [String]) throws -> String {
      let paths = names.map { URL(filePath: folder).appending(path: $0).path }
      guard let found = paths.first(where: FileManager.default.fileExists) else {
        throw CommandFailure("no \(names.joined(separator: " or ")) in \(folder)", .usage)
      }
      return found
    }
    return (
      try first(["goodbooks-10k/books.csv", "books.csv"]), try first(["pls/pls_fy2018_libraries.csv", "libraries.csv"])
    )
  }

  func run() async throws -> ExitStatus {
    terminal.print("Quire keeps model objects in plain SQLite tables, and every view of them true.\n")
    let store = try fill()
    let context = store.mainContext
    let screen = try Screen(store, terminal)
    terminal.print("The first six books there are to be lent, by title: before each edit, and after it.\n")

    let first = screen.list[0]
    try await screen.edit("A model is edited", code: "book.checkOut(); try context.save()") {
      first.checkOut()
      try context.save()
    }
    let renamed = screen.list[screen.list.count - 1].persistentModelID.rowKey ?? 0
    try await screen.edit("Raw SQL", code: "UPDATE book SET title = 'A new ' || title WHERE id = \(renamed)") {
      try store.execute("UPDATE book SET title = 'A new ' || title WHERE id = \(renamed)")
    }
    try await screen.edit(
      "Another context, on another thread", code: "for book in oldestTen { book.checkOut() }; try save()"
    ) {
      try await lendOldest(of: store)
    }
    if let author = screen.list.compactMap(\.author).max(by: { $0.books.count < $1.books.count }) {
      let count = author.books.count
      try await screen.edit(
        "A delete that cascades", code: "context.delete(author)   // \(author.name), \(count) books"
      ) {
        context.delete(author)
        try context.save()
      }
    }
    try await addBook(to: try Shelves(store, terminal, limit: 2), in: context)
    finish(screen)
    try store.close()
    return .done
  }

  /// One commit that a row of each projection depends on.
  private func addBook(to shelves: Shelves, in context: ModelContext) async throws {
    guard let (author, library) = shelves.first else { return }
    terminal.print("Authors by their books, libraries by what they lend: value rows with counts and means.\n")
    try await shelves.edit(
      "A new book, in one library",
      code: "library.books.append(Book(title: …, author: author, rating: 5)); try context.save()"
    ) {
      library.books.append(Book(title: "The Collected Works", author: author, rating: 5))
      try context.save()
    }
  }

  private func fill() throws -> ModelContainer {
    let clock = ContinuousClock()
    let progress = Progress("importing", on: terminal)
    var store: ModelContainer?
    var summary = CatalogImport.Summary()
    let time = try clock.measure {
      try createCatalog(at: file)
      let opened = try ModelContainer(for: Book.self, Author.self, Library.self, url: URL(filePath: file))
      var work = CatalogImport(into: opened) { what, done, total in progress.update(done, of: total, what) }
      try work.books(from: books)
      try work.libraries(from: libraries)
      try work.stock(min(2000, work.summary.books * work.summary.libraries / 2))
      summary = work.summary
      store = opened
    }
    progress.finish()
    guard let store else { throw ModelError.closed }
    terminal.print(
      "\(summary.books) books by \(summary.authors) authors, \(summary.libraries) libraries, \(summary.holdings) holdings: "
        + "migrated, imported and saved in \(time.formatted(.units(allowed: [.seconds, .milliseconds], width: .narrow)))\n"
    )
    return store
  }

  private nonisolated func lendOldest(of store: ModelContainer) async throws {
    let context = ModelContext(store, isolation: nil)
    var oldest = FetchDescriptor<Book>(predicate: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.year)])
    oldest.fetchLimit = 10
    for book in try context.fetch(oldest) { book.checkOut() }
    try context.save()
  }

  private func finish(_ screen: Screen) {
    let quoted = shellQuoted(file)
    terminal.print(
      """
      The list was asked for once (\(screen.list.queriesRun) statement\(screen.list.queriesRun == 1 ? "" : "s"), the count \
      \(screen.count.queriesRun)); everything after came from the changes themselves.

      The file is plain SQLite, and yours:  \(file)
          sqlite3 \(quoted) 'SELECT title, year FROM book ORDER BY year LIMIT 5'
          sqlite3 \(quoted) .schema
          \(program) migrate status \(quoted)
          \(program) demo --data DIR        with real catalogs
      """)
  }
}
