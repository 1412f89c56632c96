import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// A live result in sections: what it shows, who is woken, and what is told.
@MainActor @Suite(.fewOnMainActor) struct SectionTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    for (title, year) in [("a", 1), ("b", 1), ("c", 2), ("d", 3), ("e", 3), ("f", nil)] as [(String, Int?)] {
      context.insert(Book(title, year: year))
    }
    try context.save()
  }

  private func run(_ statements: String...) throws {
    try store.writeSQL { transaction in for sql in statements { try transaction.connection.execute(sql) } }
    try context.refresh()
  }

  private func byYear(limit: Int? = nil, order: SortOrder = .forward) throws -> LiveSections<Book, Int?> {
    try context.live(Book.self, sectionBy: \.year, order: order, sortBy: [SortDescriptor(\.title)], limit: limit)
  }

  private func picture<Key>(_ sections: LiveSections<Book, Key>) -> String {
    sections.map { "\($0.key): \($0.titles.joined())" }.joined(separator: ", ")
      .replacing("Optional(", with: "").replacing(")", with: "").replacing("\"", with: "")
  }

  @Test func `sections are ordered by key, nil first, and rows within by the sort; either way round, and limited`()
    throws
  {
    #expect(picture(try byYear()) == "nil: f, 1: ab, 2: c, 3: de")
    #expect(picture(try byYear(order: .reverse)) == "3: de, 2: c, 1: ab, nil: f")
    #expect(picture(try byYear(limit: 3)) == "nil: f, 1: ab")
    let down = try context.live(
      Book.self, sectionBy: \.year, where: #Predicate { $0.title != "b" },
      sortBy: [SortDescriptor(\.title, order: .reverse)], offset: 1)
    #expect(picture(down) == "1: a, 2: c, 3: ed")
    #expect(try context.live(Author.self, sectionBy: \.rank).isEmpty)
  }

  @Test func `without a sort the rows of a section are in the order of their keys, whichever way the sections are`()
    throws
  {
    for order in [SortOrder.forward, .reverse] {
      let list = try context.live(Book.self, sectionBy: \.year, order: order)
      for section in list { #expect(section.bookKeys == section.bookKeys.sorted()) }
      try run("INSERT INTO book (title, year, price, is_in) VALUES ('late', 1, 0, 1)")
      for section in list { #expect(section.bookKeys == section.bookKeys.sorted()) }
      #expect(
        try list.flatMap { $0.bookKeys }
          == context.live(Book.self, sectionBy: \.year, order: order).flatMap { $0.bookKeys })
    }
  }

  @Test func `a section is one object as long as it has a row; then it is empty`() throws {
    let list = try byYear()
    let (one, two) = (list[1], list[2])
    #expect(one[0] === context.model(Book.self, key: 1) && one.count == 2)
    try run("UPDATE book SET year = 1 WHERE title = 'c'")
    #expect(picture(list) == "nil: f, 1: abc, 3: de" && list[1] === one && two.isEmpty)
    try run("UPDATE book SET year = 2 WHERE title = 'c'")
    #expect(picture(list) == "nil: f, 1: ab, 2: c, 3: de" && list[2] !== two && two.isEmpty)
    try run("DELETE FROM book")
    #expect(list.isEmpty && one.isEmpty)
    try run("INSERT INTO book (title, year, price, is_in) VALUES ('z', 9, 0, 1)")
    #expect(picture(list) == "9: z" && list.queriesRun == 1)
  }

  @Test func `who reads one section is woken when that changed, who reads which there are when those did`() throws {
    let list = try byYear()
    var woken: [String] = []
    func watch() {
      woken = []
      track {
        _ = list.count
      } before: {
        woken.append("sections \(list.count)")
      }
      for section in Array(list) {
        track {
          _ = section.count
        } before: {
          woken.append("\(section.key ?? 0) \(section.count)")
        }
      }
    }
    watch()
    try run("UPDATE book SET title = 'aa' WHERE title = 'b'")
    #expect(woken.isEmpty, "it stands where it stood")
    try run("UPDATE book SET title = '0' WHERE title = 'aa'")
    #expect(woken == ["1 2"])
    watch()
    try run("UPDATE book SET year = 1 WHERE title = 'd'")
    #expect(Set(woken) == ["1 2", "3 2"])
    watch()
    try run("DELETE FROM book WHERE title = 'c'")
    #expect(Set(woken) == ["2 1", "sections 4"])
    watch()
    try run("INSERT INTO book (title, year, price, is_in) VALUES ('x', 2, 0, 1)", "UPDATE book SET note = 'n'")
    #expect(woken == ["sections 3"])
  }

  @Test func `differences are told by section and row, and lead from the one to the other`() throws {
    let list = try byYear()
    var told: [String] = []
    var commits: [Int64] = []
    let token = list.onDifference { difference in
      commits.append(difference.commit)
      for change in difference {
        switch change {
        case .deleteSection(let at, let key): told.append("- section \(at): \(key ?? 0)")
        case .insertSection(let at, let key): told.append("+ section \(at): \(key ?? 0)")
        case .insert(let at, let new): told.append("+ \(at.section).\(at.row) \(new.title ?? "")")
        case .delete(let at, let old): told.append("- \(at.section).\(at.row) \(old.title ?? "")")
        case .move(let from, let to, let old, let new):
          told.append("\(from.section).\(from.row) \(old.title ?? "") → \(to.section).\(to.row) \(new.title ?? "")")
        case .update(let at, let old, let new):
          told.append("\(at.section).\(at.row) \(old.note.flatMap { $0 } ?? "-") → \(new.note.flatMap { $0 } ?? "-")")
        }
      }
    }
    func expect(_ changes: String..., sql: String...) throws {
      told = []
      try store.writeSQL { transaction in for statement in sql { try transaction.connection.execute(statement) } }
      try context.refresh()
      #expect(told == changes)
      #expect(commits.last == context.commitNumber)
    }
    try expect("1.0 - → n", sql: "UPDATE book SET note = 'n' WHERE title = 'a'")
    try expect(
      "2.0 c → 1.0 0", "- section 2: 2", "2.0 - → m",
      sql: "UPDATE book SET year = 1, title = '0' WHERE title = 'c'", "UPDATE book SET note = 'm' WHERE title = 'd'")
    try expect(
      "- 0.0 f", "- section 0: 0", "+ section 2: 4", "+ 2.0 g",
      sql: "DELETE FROM book WHERE title = 'f'",
      "INSERT INTO book (id, title, year, price, is_in) VALUES (60, 'g', 4, 0, 1)")
    token.cancel()
  }

  @Test func `a row whose section alone changed has moved, though its place among all rows is the same`() throws {
    let (lem, dick) = (Author("Lem"), Author("Dick"))
    for (title, author) in [("x", lem), ("y", dick)] { context.insert(Book(title, year: 7, author: author)) }
    try context.save()
    let list = try context.live(
      Book.self, sectionBy: \.author?.name, where: #Predicate { $0.year == 7 }, sortBy: [SortDescriptor(\.title)])
    #expect(picture(list) == "Dick: y, Lem: x")
    var told: [LiveSections<Book, String?>.Difference.Change] = []
    let token = list.onDifference { told = $0.changes }
    // No column of the book is another.
    try run("UPDATE author SET name = 'Eco' WHERE name = 'Dick'")
    #expect(picture(list) == "Eco: y, Lem: x" && told.count == 3)
    guard case .move(let from, let to, let old, let new) = told[0], case .deleteSection(0, "Dick") = told[1],
      case .insertSection(0, "Eco") = told[2]
    else {
      Issue.record("told \(told)")
      return
    }
    #expect(from == to && from.section == 0 && from.row == 0 && old.title == "y" && new.title == "y")
    token.cancel()
  }

  @Test func `asked something else, paused and gone on, sections follow as lists do`() throws {
    let list = try byYear()
    let nobody = list[0]
    var told: [Int] = []
    let token = list.onDifference { told.append($0.changes.count) }
    try list.update(where: #Predicate { $0.title > "b" })
    #expect(picture(list) == "nil: f, 2: c, 3: de" && told == [3] && list[0] === nobody)
    try list.update { $0.sortBy = [SortDescriptor(\.title, order: .reverse)] }
    #expect(picture(list) == "nil: f, 2: c, 3: ed" && told == [3, 1])
    let queries = list.queriesRun
    try list.update { $0.fetchLimit = 2 }
    #expect(picture(list) == "nil: f, 2: c" && told == [3, 1, 3])
    list.pause()
    let commit = list.commitNumber
    try run("UPDATE book SET year = 5 WHERE title = 'c'", "DELETE FROM book WHERE title = 'f'")
    #expect(picture(list).hasPrefix("nil: ") && list.commitNumber == commit && list.isPaused && told.count == 3)
    try list.resume()
    #expect(picture(list) == "3: ed" && told.count == 4 && list.commitNumber == context.commitNumber)
    try run("DELETE FROM book WHERE title = 'e'")
    #expect(picture(list) == "3: d, 5: c" && list.queriesRun > queries)
    token.cancel()
  }

  @Test func `what is no stored property has no sections; a key that does not decode is its error`() throws {
    #expect(throws: ModelError.self) { _ = try context.live(Book.self, sectionBy: \.title.count) }
    let list = try context.live(Book.self, sectionBy: \.title)
    try run("UPDATE book SET title = CAST(x'ff61' AS TEXT) WHERE title = 'a'")
    #expect(list.count == 6)
    #expect(list.error is ValueError && list.commitNumber == context.commitNumber - 1)
    #expect(list.first?.key == "a")
    try run("UPDATE book SET title = '0' WHERE year = 1")
    #expect(list.error == nil && list.commitNumber == context.commitNumber && list.count == 5)
  }

  @Test func `text is a section by its bytes`() throws {
    try run("UPDATE book SET title = 'é' WHERE id < 3", "UPDATE book SET title = 'e\u{301}' WHERE id = 3")
    let list = try context.live(Book.self, sectionBy: \.title, where: #Predicate { $0.year != nil })
    #expect(list.map { Array($0.key.utf8) } == ["d", "e", "e\u{301}", "é"].map { Array($0.utf8) })
    #expect(list.map(\.count) == [1, 1, 1, 2])
  }
}
