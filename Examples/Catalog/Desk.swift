import Catalog
import Quire

/// What the screen is about: ten books of the catalog by title, which of them is selected, and what is being typed.
@MainActor @Observable final class Desk {
  static let shown = 10

  private let store: ModelContainer
  private let context: ModelContext
  let books: LiveQuery<Book>
  let count: LiveValue<Int>
  let available: LiveValue<Int>
  /// The selected one's place among those shown.
  private(set) var place = 0
  /// What is being typed; nil where nothing is.
  var draft: Draft?
  /// Why the last thing asked for was not done.
  var problem: String?

  struct Draft {
    let field: Field
    var text: String

    enum Field {
      case title, author, sql
      /// A question that a key answers.
      case deletion

      var prompt: String {
        switch self {
        case .title: "Title: "
        case .author: "Author: "
        case .sql: "SQL: "
        case .deletion: "Delete this book? y, or any other key to keep it "
        }
      }
    }
  }

  init(_ store: ModelContainer) throws {
    self.store = store
    context = store.mainContext
    books = try context.live(Book.self, sortBy: [SortDescriptor(\.title)], limit: Self.shown)
    count = try context.liveCount(Book.self)
    available = try context.liveCount(Book.self, where: #Predicate { $0.isAvailable })
  }

  var selected: Book? { books.indices.contains(place) ? books[place] : nil }

  /// Statements that the live results have run: what a commit costs beside the write.
  var statements: Int { books.queriesRun + count.queriesRun + available.queriesRun }

  /// Does what may fail: then it says why, and nothing has changed.
  func attempt(_ body: () throws -> Void) {
    do {
      if problem != nil { problem = nil }
      try body()
    } catch {
      context.rollback()
      problem = "\(error)"
    }
  }
}

// MARK: What can be done

extension Desk {
  /// Selects another book; beyond the end the list shows others, and the rows of those that it showed already stay.
  func move(by step: Int) {
    let next = place + step
    if books.indices.contains(next) {
      place = next
      return
    }
    attempt {
      let now = books.descriptor.fetchOffset ?? 0
      let offset = max(0, min(now + step, count.value - Self.shown))
      if offset != now { try books.update { $0.fetchOffset = offset } }
      let end = step < 0 ? 0 : books.count - 1
      if abs(offset - now) < abs(step), books.indices.contains(end), end != place { place = end }
    }
  }

  func retitle(_ title: String) {
    guard let book = selected else { return }
    attempt {
      book.title = title
      try context.save()
      select(book)
    }
  }

  /// Of the book's author: every row with a book of theirs shows it.
  func renameAuthor(_ name: String) {
    guard let author = selected?.author else { return }
    attempt {
      author.name = name
      try context.save()
    }
  }

  func lend() {
    guard let book = selected else { return }
    attempt {
      if !book.checkOut() { book.giveBack() }
      try context.save()
    }
  }

  func delete() {
    guard let book = selected else { return }
    attempt {
      context.delete(book)
      try context.save()
      place = max(0, min(place, books.count - 1))
    }
  }

  /// As somebody else would write to the file.
  func run(_ sql: SQL) {
    attempt {
      try store.execute(sql)
      try context.refresh()
      place = max(0, min(place, books.count - 1))
    }
  }

  /// Follows a book to the place where it stands now, if it is still shown.
  private func select(_ book: Book) {
    if let now = books.firstIndex(where: { $0 === book }), now != place { place = now }
  }
}

// MARK: Typing

extension Desk {
  func begin(_ field: Draft.Field) {
    let text =
      switch field {
      case .title: selected?.title
      case .author: selected?.author?.name
      case .deletion: selected.map { _ in "" }
      case .sql: ""
      }
    if problem != nil { problem = nil }
    if let text {
      draft = Draft(field: field, text: text)
    } else {
      problem = selected == nil ? "no book is selected" : "this book's author is not known"
    }
  }

  func finish() {
    guard let typed = draft else { return }
    draft = nil
    switch typed.field {
    case .title: retitle(typed.text)
    case .author: renameAuthor(typed.text)
    case .sql: run(SQL(verbatim: typed.text))
    case .deletion: delete()
    }
  }
}
