// The code of Documentation/ViewModels.md, as it stands there between the two markers; a test runs it and compares.
// begin
import Quire

@Projection(of: Book.self) struct BookRow {  // a snapshot: Sendable, and whole from the first read
  var title: String
  var isAvailable: Bool
}

protocol Titled { var title: String { get } }  // a reader cannot tell which of the two it reads
extension Book: Titled {}
extension BookRow: Titled {}

@MainActor @Observable final class Desk {  // a view model: live results of one context, always at one commit
  let rows: LiveRows<BookRow>
  let available: LiveValue<Int>
  let greeting: StoredSetting<String>  // a value of the store's own, under a name

  init(_ store: ModelContainer) throws {
    rows = try store.mainContext.live(BookRow.self, sortBy: [SortDescriptor(\.title)])
    available = try store.mainContext.liveCount(Book.self, where: #Predicate { $0.isAvailable })
    greeting = try store.mainContext.setting("greeting", default: "Welcome")
  }
}

@MainActor final class Program {  // owns the truth, and the view model made of it
  let store: ModelContainer
  lazy var desk = Result { try Desk(store) }  // made for its first reader, once; goes with its owner
  var screen: [String] = []
  var mails: [String] = []

  init(file: String) throws {
    store = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: file))
  }
}

@MainActor func line(of titled: some Titled) -> String { "‘\(titled.title)’" }

/// A part of the program, at any depth: it finds the truth in the environment, and the view model with it.
@MainActor func show() throws -> ObservationToken {
  let program = try environment[Program.self]
  let desk = try program.desk.get()
  return observe {
    let titles = desk.rows.map { line(of: $0) }.joined(separator: ", ")
    program.screen.append("\(desk.greeting.value): \(titles); \(desk.available.value) to lend")
  }
}

/// A side effect hangs on the commit: once for each, however many readers there are.
@MainActor func sendMails(for program: Program) throws -> Task<Void, any Error> {
  let commits = try program.store.commits(of: Book.self)
  return Task { [weak program] in
    for try await commit in commits { program?.mails.append("\(commit.changes.count) changed") }
  }
}
// end
