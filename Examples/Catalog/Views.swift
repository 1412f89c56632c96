import Catalog
import Quire

/// The views of the screen: one for each row, and one for each other piece. Each depends on what it reads, and on
/// nothing more.
@MainActor final class Views {
  let head: View
  let list: View
  let cursor: View
  let detail: View
  let edit: View
  /// A view for each book shown, kept while it is.
  private(set) var rows: [(book: Book, view: View)] = []
  private let desk: Desk
  private let evaluated: () -> Void

  init(_ desk: Desk, evaluated: @escaping () -> Void = {}) {
    self.desk = desk
    self.evaluated = evaluated
    head = View(evaluated: evaluated) { ["\(desk.count.value) books, \(desk.available.value) available"] }
    // Which books in which order: titles are for the rows to read.
    list = View(evaluated: evaluated) { desk.books.map { "\($0.persistentModelID)" } }
    cursor = View(evaluated: evaluated) { ["\(desk.place)"] }
    detail = View(evaluated: evaluated) { Self.detail(of: desk.selected) }
    edit = View(evaluated: evaluated) { [Self.edit(desk)] }
    placeRows()
  }

  var all: [View] { [head, list, cursor, detail, edit] + rows.map(\.view) }

  /// Returns when every view that is concerned by what has happened has run.
  func settle() async {
    while all.contains(where: \.isDue) { await Task.yield() }
    placeRows()
  }

  /// Rows for the books that are shown now: those that were there are kept as they are.
  private func placeRows() {
    let known = Dictionary(rows.map { (ObjectIdentifier($0.book), $0.view) }) { first, _ in first }
    rows = desk.books.map { book in
      (book, known[ObjectIdentifier(book)] ?? View(evaluated: evaluated) { [Self.row(book)] })
    }
  }
}

// MARK: What they write

extension Views {
  private static func row(_ book: Book) -> String {
    let author = book.author?.name ?? "unknown"
    return book.title.fitted(to: 25) + " " + author.fitted(to: 17) + (book.isAvailable ? "  " : " ⇠")
  }

  private static func detail(of book: Book?) -> [String] {
    guard let book else { return ["No book is shown"] }
    let year = book.year.map { $0 < 0 ? "\(-$0) BCE" : "\($0)" } ?? "year unknown"
    return [
      book.title,
      "by \(book.author?.name ?? "somebody unknown")",
      "",
      [year, book.language].compactMap { $0 }.joined(separator: ", "),
      book.isAvailable ? "There to be lent" : "Lent out",
      book.libraries.count == 1 ? "In 1 library" : "In \(book.libraries.count) libraries",
    ]
  }

  private static func edit(_ desk: Desk) -> String {
    if let draft = desk.draft { return draft.field.prompt + draft.text + "▏" }
    if let problem = desk.problem { return problem }
    return "↑ ↓ select  e title  a author  space lend  d delete  s SQL  q quit"
  }
}
