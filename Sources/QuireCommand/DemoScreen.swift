import Catalog
import Foundation
import Quire
import QuireShell
import QuireTool

/// The demo's live list and count on a terminal: what they were, what was done, what they are.
@MainActor final class Screen {
  let list: LiveQuery<Book>
  let count: LiveValue<Int>
  private let terminal: Terminal
  private let commits: Commits
  private var reader: ObservationToken?
  private var changes: ChangeToken?

  /// What the reader saw when it last ran.
  private var shown: [BookRow] = []
  private var counted = 0
  private var difference: Difference<ModelRow<Book>>?
  private var arrived: ContinuousClock.Instant?

  init(_ store: ModelContainer, _ terminal: Terminal) throws {
    self.terminal = terminal
    let context = store.mainContext
    commits = store.commits
    list = try context.live(
      Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)], limit: 6)
    count = try context.liveCount(Book.self, where: #Predicate { $0.isAvailable })
    changes = list.onDifference { [unowned self] in
      difference = $0
      arrived = .now
    }
    reader = observe { [unowned self] in
      shown = list.map(BookRow.init)
      counted = count.value
    }
  }

  /// Runs an edit, waits until its turn is over, and shows the list before and after.
  func edit(_ title: String, code: String, _ body: () async throws -> Void) async throws {
    let before = shown
    let countBefore = counted
    let runs = reader?.runs ?? 0
    let queries = list.queriesRun + count.queriesRun
    difference = nil
    arrived = nil
    let start = ContinuousClock.now
    try await body()
    let written = ContinuousClock.now
    var arriving = commits.makeAsyncIterator()
    let commit = try await arriving.next()
    // Readers run when this turn is over.
    for _ in 0..<1000 where (reader?.runs ?? 0) == runs { try await Task.sleep(for: .milliseconds(1)) }
    terminal.print(terminal.output.styled("── \(title)", .bold) + "   " + terminal.output.styled(code, .yellow))
    draw(before, countBefore)
    let rows = commit?.tables.reduce(0) { $0 + $1.rows.count } ?? 0
    terminal.print(
      terminal.output.styled(
        "   commit \(commit?.number ?? 0): \(plural(rows, "row")) changed · list: \(plural(difference?.changes.count ?? 0, "difference"))"
          + " · \(plural((reader?.runs ?? 0) - runs, "reader")) run"
          + " · \(plural(list.queriesRun + count.queriesRun - queries, "query", "queries")) run"
          + " · \(microseconds((arrived ?? written) - start)) µs from the edit to the new list\n", .dim))
  }

  /// The list before on the left and after on the right, what left and what came marked.
  private func draw(_ before: [BookRow], _ countBefore: Int) {
    let half = (min(terminal.columns, 120) - 8) / 2
    let left = lines(before, marks: difference?.leaving ?? [:], width: half)
    let right = lines(shown, marks: difference?.coming ?? [:], width: half)
    for row in 0..<max(left.count, right.count) {
      terminal.print(
        "   " + padded(row < left.count ? left[row] : "", to: half) + "   " + (row < right.count ? right[row] : ""))
    }
    terminal.print("   " + padded("  \(countBefore) to be lent", to: half) + "     \(counted) to be lent")
  }

  private func lines(_ rows: [BookRow], marks: [Int: String], width: Int) -> [String] {
    let author = width / 3
    return rows.enumerated().map { index, row in
      let title = padded(truncated(printable(row.title), to: width - author - 4), to: width - author - 4)
      return "\(marks[index] ?? " ") \(title)  \(truncated(printable(row.author ?? ""), to: author))"
    }
  }
}
