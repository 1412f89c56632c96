import Catalog
import Foundation
import Quire
import QuireShell
import QuireTool

/// The demo's projections on a terminal: the authors with the most books and the libraries with the most to lend,
/// before an edit and after it.
@MainActor final class Shelves {
  private let authors: LiveRows<AuthorShelf>
  private let libraries: LiveRows<LibraryShelf>
  private let terminal: Terminal
  private var reader: ObservationToken?
  private var tokens: [ChangeToken] = []

  /// What the reader saw when it last ran.
  private var shown = Seen()
  private var authorChanges: Difference<AuthorShelf>?
  private var libraryChanges: Difference<LibraryShelf>?

  private struct Seen {
    var authors: [AuthorShelf] = []
    var libraries: [LibraryShelf] = []
  }

  init(_ store: ModelContainer, _ terminal: Terminal, limit: Int) throws {
    self.terminal = terminal
    let context = store.mainContext
    authors = try context.live(
      AuthorShelf.self, sortBy: [SortDescriptor(\AuthorShelf.books, order: .reverse), SortDescriptor(\.name)],
      limit: limit)
    libraries = try context.live(
      LibraryShelf.self, sortBy: [SortDescriptor(\LibraryShelf.available, order: .reverse), SortDescriptor(\.name)],
      limit: limit)
    tokens = [
      authors.onDifference { [unowned self] in authorChanges = $0 },
      libraries.onDifference { [unowned self] in libraryChanges = $0 },
    ]
    reader = observe { [unowned self] in shown = Seen(authors: Array(authors), libraries: Array(libraries)) }
  }

  /// The objects of the first rows; nil if there are none.
  var first: (author: Author, library: Library)? {
    guard !authors.isEmpty, !libraries.isEmpty, let author = authors.model(at: 0), let library = libraries.model(at: 0)
    else { return nil }
    return (author, library)
  }

  /// Runs an edit, waits until its turn is over, and shows the rows before and after.
  func edit(_ title: String, code: String, _ body: () throws -> Void) async throws {
    let before = shown
    let runs = reader?.runs ?? 0
    let queries = authors.queriesRun + libraries.queriesRun
    (authorChanges, libraryChanges) = (nil, nil)
    try body()
    for _ in 0..<1000 where (reader?.runs ?? 0) == runs { try await Task.sleep(for: .milliseconds(1)) }
    terminal.print(terminal.output.styled("── \(title)", .bold) + "   " + terminal.output.styled(code, .yellow))
    draw(before)
    let commits = Set([authorChanges?.commit, libraryChanges?.commit].compactMap { $0 }).sorted()
    terminal.print(
      terminal.output.styled(
        "   commit \(commits.map(String.init).joined(separator: ", ")): authors: "
          + "\(plural(authorChanges?.changes.count ?? 0, "difference"))"
          + " · libraries: \(plural(libraryChanges?.changes.count ?? 0, "difference"))"
          + " · \(plural((reader?.runs ?? 0) - runs, "reader")) run, with both as they are after it"
          + " · \(plural(authors.queriesRun + libraries.queriesRun - queries, "query", "queries")) run\n", .dim))
  }

  private func draw(_ before: Seen) {
    let half = (min(terminal.columns, 120) - 8) / 2
    let left =
      lines(before.authors, authorChanges?.leaving, half, name: \.name, text)
      + lines(before.libraries, libraryChanges?.leaving, half, name: \.name, text)
    let right =
      lines(shown.authors, authorChanges?.coming, half, name: \.name, text)
      + lines(shown.libraries, libraryChanges?.coming, half, name: \.name, text)
    for row in 0..<max(left.count, right.count) {
      terminal.print(
        "   " + padded(row < left.count ? left[row] : "", to: half) + "   " + (row < right.count ? right[row] : ""))
    }
  }

  private func lines<Row>(
    _ rows: [Row], _ marks: [Int: String]?, _ width: Int, name: KeyPath<Row, String>, _ text: (Row) -> String
  ) -> [String] {
    rows.enumerated().map { index, row in
      let end = text(row)
      let room = max(8, width - end.count - 4)
      return "\(marks?[index] ?? " ") \(padded(truncated(printable(row[keyPath: name]), to: room), to: room))  \(end)"
    }
  }

  private func text(_ row: AuthorShelf) -> String {
    plural(row.books, "book")
      + (row.meanRating.map { ", rated \($0.formatted(.number.precision(.fractionLength(2))))" } ?? "")
  }

  private func text(_ row: LibraryShelf) -> String { "\(row.available) of \(row.books) to be lent" }
}
