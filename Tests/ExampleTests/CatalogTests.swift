import Quire
import Testing

@testable import CatalogExample

/// The example program, asked by commands in place of keys.
@MainActor @Suite struct CatalogTests {
  /// What the last lines of the screens say has been evaluated, that of the first screen left out.
  private func evaluated(by commands: [String]) async throws -> [String] {
    try await Script(try Main.open(nil)).run(commands).filter { $0.hasPrefix("evaluated: ") }.dropFirst()
      .map { String($0.dropFirst("evaluated: ".count)) }
  }

  @Test func `the screen at first and after a title has been edited`() async throws {
    let lines = try await Script(try Main.open(nil)).run(["title A Doll's House, again"])
    #expect(
      lines.joined(separator: "\n") == """
        Catalog · 134 books, 134 available                                       head 1•
        ───────────────────────────────────────────────────┬────────────────────────────
        Books by title                              list 1•│ The book          detail 1•
        › A Doll's House            Henrik Ibsen         1•│ A Doll's House
          A Tale of Two Cities      Charles Dickens      1•│ by Henrik Ibsen
          A Vindication of the Rig… Mary Wollstonecr…    1•│
          Adventures of Huckleberr… Mark Twain           1•│ 1879, no
          Alice's Adventures in Wo… Lewis Carroll        1•│ There to be lent
          All Quiet on the Western… Erich Maria Rema…    1•│ In 4 libraries
          And Then There Were None  Agatha Christie      1•│
          Animal Farm               George Orwell        1•│
          Anna Karenina             Leo Tolstoy          1•│
          Antigone                  Sophocles            1•│
        ───────────────────────────────────────────────────┴────────────────────────────
        ↑ ↓ select  e title  a author  space lend  d delete  s SQL  q quit       edit 1•
        evaluated: 10 rows, list, cursor, detail, head, edit · statements run: 3

        > title A Doll's House, again

        Catalog · 134 books, 134 available                                       head 1
        ───────────────────────────────────────────────────┬────────────────────────────
        Books by title                              list 1 │ The book          detail 2•
        › A Doll's House, again     Henrik Ibsen         2•│ A Doll's House, again
          A Tale of Two Cities      Charles Dickens      1 │ by Henrik Ibsen
          A Vindication of the Rig… Mary Wollstonecr…    1 │
          Adventures of Huckleberr… Mark Twain           1 │ 1879, no
          Alice's Adventures in Wo… Lewis Carroll        1 │ There to be lent
          All Quiet on the Western… Erich Maria Rema…    1 │ In 4 libraries
          And Then There Were None  Agatha Christie      1 │
          Animal Farm               George Orwell        1 │
          Anna Karenina             Leo Tolstoy          1 │
          Antigone                  Sophocles            1 │
        ───────────────────────────────────────────────────┴────────────────────────────
        ↑ ↓ select  e title  a author  space lend  d delete  s SQL  q quit       edit 1
        evaluated: 1 row, detail · statements run: 0
        """)
  }

  @Test func `editing one title evaluates its row and no other`() async throws {
    #expect(
      try await evaluated(by: ["title A Doll's House, again"]) == [
        "1 row, detail · statements run: 0"
      ])
  }

  @Test func `each edit evaluates what shows it, without a statement`() async throws {
    var (steps, expected): ([String], [String]) = ([], [])
    for (command, evaluated) in [
      ("down 3", "cursor, detail"),
      ("lend", "1 row, detail, head"),
      ("author Samuel Clemens", "1 row, detail"),
      ("title A new title", "1 row, detail"),
      ("down 9", "3 rows, list, cursor, detail"),
      ("delete", "1 row, list, detail, head"),
      ("sql UPDATE book SET rating = 4.5", "nothing"),
      ("sql UPDATE book SET title = 'A Zoo' WHERE title LIKE 'Candide%'", "1 row, list, detail"),
      ("nonsense", "edit"),
      ("up 20", "3 rows, list, cursor, detail, edit"),
      ("sql DELETE FROM author WHERE name = 'Samuel Clemens'", "1 row, list, detail, head"),
    ] {
      steps.append(command)
      expected.append(evaluated + " · statements run: 0")
    }
    #expect(try await evaluated(by: steps) == expected)
  }

  @Test func `typing evaluates the edit line, and the row when it is done`() async throws {
    let desk = try Desk(try Main.open(nil))
    let views = Views(desk)
    let events: [Terminal.Event] = [.character("e"), .character("!"), .erase, .character("?")]
    for event in events {
      _ = desk.take(event)
      await views.settle()
    }
    #expect(views.edit.evaluations == 5 && views.edit.lines == ["Title: A Doll's House?▏"])
    #expect(views.rows.allSatisfy { $0.view.evaluations == 1 } && views.detail.evaluations == 1)
    _ = desk.take(.enter)
    await views.settle()
    #expect(views.rows.map(\.view.evaluations) == [2] + Array(repeating: 1, count: 9))
    #expect(views.list.evaluations == 1 && views.detail.lines[0] == "A Doll's House?" && desk.draft == nil)
  }

  @Test func `pages end where the list does, and the rows that stay are not evaluated`() async throws {
    let desk = try Desk(try Main.open(nil))
    let views = Views(desk)
    await views.settle()
    desk.move(by: -10)
    #expect(desk.place == 0 && desk.books.descriptor.fetchOffset ?? 0 == 0)
    desk.move(by: 10)
    #expect(desk.place == 0 && desk.books.descriptor.fetchOffset == 10)
    let last = desk.count.value - Desk.shown
    desk.move(by: 1000)
    #expect(desk.place == Desk.shown - 1 && desk.books.descriptor.fetchOffset == last)
    desk.move(by: 10)
    #expect(desk.place == Desk.shown - 1 && desk.books.descriptor.fetchOffset == last)
    await views.settle()
    #expect(views.rows.count == Desk.shown)
  }

  @Test func `a book is deleted when that has been confirmed, and what cannot be renamed says so`() async throws {
    let desk = try Desk(try Main.open(nil))
    let count = desk.count.value
    for event in [Terminal.Event.character("d"), .character("n"), .character("d"), .escape] { _ = desk.take(event) }
    #expect(desk.count.value == count && desk.draft == nil)
    for event in [Terminal.Event.character("d"), .character("y")] { _ = desk.take(event) }
    #expect(desk.count.value == count - 1 && desk.draft == nil)
    desk.run("UPDATE book SET author_id = NULL")
    _ = desk.take(.character("a"))
    #expect(desk.draft == nil && desk.problem == "this book's author is not known")
  }

  @Test(
    arguments: [
      ("\u{1B}[A\u{1B}[A\u{1B}OB", [.up, .up, .down]), ("\u{1B}", [.escape]),
      ("\u{1B}[5~j\u{1B}[6~", [.pageUp, .character("j"), .pageDown]),
      ("\u{1B}[1;5Cé\r", [.character("é"), .enter]), ("\u{7F}\u{3}", [.erase, .end]), ("\u{1B}[", []), ("\t", []),
    ] as [(String, [Terminal.Event])])
  func `keys that come together are all taken`(typed: String, events: [Terminal.Event]) {
    #expect(Terminal.events(in: Array(typed.utf8)) == events)
  }

  @Test func `text fills its columns, wide characters too`() {
    #expect("abc".fitted(to: 5) == "abc  " && "abcdef".fitted(to: 4) == "abc…" && "a\nb".fitted(to: 3) == "a b")
    #expect("漢字かな".fitted(to: 8) == "漢字かな" && "漢字かな".fitted(to: 6) == "漢字… " && "😀".columns == 2)
    #expect("abcdef".fittedAtEnd(to: 4) == "…def" && "漢字かな".fittedAtEnd(to: 6) == "…かな ")
    #expect("\u{1B}[1mabc\u{1B}[0m".clipped(to: 2) == "\u{1B}[1mab\u{1B}[0m" && "漢字".clipped(to: 3) == "漢")
  }
}
