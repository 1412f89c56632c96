import Foundation
import LineEditor
import PseudoTerminal
import Synchronization
import Testing

/// The editor on a terminal: one at a time, because it hears the process's signals.
@Suite(.serialized, .timeLimit(.minutes(60))) struct TerminalTests {
  /// An editor on a thread of its own, which reads until it is left.
  private final class Session {
    let terminal: PseudoTerminal
    let wakeup: Wakeup?
    private let inputs = Said()
    private let done = DispatchSemaphore(value: 0)

    init(
      _ terminal: PseudoTerminal, term: String = "xterm", above: @escaping @Sendable () -> [String] = { [] }
    ) {
      self.terminal = terminal
      let (inputs, done) = (inputs, done)
      let descriptor = terminal.inner
      let handover = Handover()
      Thread.detachNewThread {
        let editor = Editor(input: descriptor, output: descriptor, environment: ["TERM": term])
        handover.give(editor.wakeup)
        editor.language.isComplete = { $0.hasSuffix(";") || $0.isEmpty }
        editor.language.complete = { _, place in .init(0..<place, [.init("book"), .init("books"), .init("bookshop")]) }
        editor.history = History(["select title\nfrom book;", "count Book;"])
        editor.above = { _ in above() }
        editor.begin()
        reading: while true {
          let input = editor.read(Prompt("lib› "))
          inputs.add("\(input)")
          switch input {
          case .left: break reading
          case .text(let text): editor.write("ran \(text.count)\n")
          default: break
          }
        }
        editor.end()
        done.signal()
      }
      wakeup = handover.take()
    }

    func end() -> [String] {
      done.wait()
      return inputs.all
    }
  }

  private let terminal: PseudoTerminal

  init() throws { terminal = try PseudoTerminal(columns: 30, rows: 8) }

  @Test func `what is typed is read, and the terminal is as it was afterwards`() throws {
    let session = Session(terminal)
    try terminal.wait { $0.lines == ["lib›"] && $0.pastesInBrackets }
    terminal.type("abc")
    try terminal.wait { $0.lines == ["lib› abc"] && $0.cursor == (0, 8) }
    terminal.type("\u{1B}[D\u{1B}[Dx;\u{5};\r")
    try terminal.wait { $0.lines == ["lib› ax;bc;", "ran 6", "lib›"] }
    terminal.type("\u{4}")
    #expect(session.end() == [#"text("ax;bc;")"#, "left"])
    try terminal.wait { !$0.pastesInBrackets }
    // Echo is on again.
    terminal.type("echo")
    try terminal.wait(for: "echo")
    #expect(terminal.screen.unknown.isEmpty)
  }

  @Test func `several lines are edited as one text`() throws {
    let session = Session(terminal)
    try terminal.wait(for: "lib›")
    terminal.type("select\r  title\rfrom book")
    try terminal.wait { $0.lines == ["lib› select", "   ·   title", "   ·   from book"] }
    terminal.type("\u{1B}[A\u{1B}[A\u{5} 1,\u{1B}[B")
    try terminal.wait { $0.lines == ["lib› select 1,", "   ·   title", "   ·   from book"] && $0.cursor.row == 1 }
    terminal.type("\u{1B}[1;5F;\r")
    try terminal.wait(for: "ran")
    terminal.type("\u{4}")
    #expect(session.end().first == #"text("select 1,\n  title\n  from book;")"#)
  }

  @Test func `a paste stands there and runs when Enter says so`() throws {
    let session = Session(terminal)
    try terminal.wait { $0.pastesInBrackets }
    terminal.paste("select 1;\r\nselect 2;")
    try terminal.wait { $0.lines == ["lib› select 1;", "   · select 2;"] }
    terminal.type("\r")
    try terminal.wait(for: "ran 19")
    terminal.type("\u{4}")
    #expect(session.end() == [#"text("select 1;\nselect 2;")"#, "left"])
  }

  @Test func `the menu opens below, and goes`() throws {
    let session = Session(terminal)
    try terminal.wait(for: "lib›")
    terminal.type("b\t")
    try terminal.wait { $0.lines == ["lib› book", "  book", "  books", "  bookshop"] }
    terminal.type("\u{1B}[B\u{1B}[B")
    try terminal.wait { $0.lines == ["lib› books", "  book", "› books", "  bookshop"] }
    terminal.type("\r;")
    try terminal.wait { $0.lines == ["lib› books;"] }
    terminal.type("\r\u{4}")
    #expect(session.end() == [#"text("books;")"#, "left"])
  }

  @Test func `Ctrl-R searches, and an entry of two lines comes back whole`() throws {
    let session = Session(terminal)
    try terminal.wait(for: "lib›")
    terminal.type("\u{12}tit")
    try terminal.wait { $0.lines == ["search ‘tit’› select title", "            · from book;"] }
    terminal.type("\u{1B}[C")
    try terminal.wait { $0.lines == ["lib› select title", "   · from book;"] && $0.cursor == (0, 13) }
    terminal.type("\r")
    try terminal.wait(for: "ran 23")
    terminal.type("\u{4}")
    _ = session.end()
  }

  @Test func `a narrower or wider terminal is drawn anew`() throws {
    let session = Session(terminal)
    try terminal.wait(for: "lib›")
    terminal.type("0123456789012345678901234")
    try terminal.wait { $0.lines == ["lib› 0123456789012345678901234"] && $0.cursor == (1, 0) }
    terminal.resize(columns: 40, rows: 8)
    session.wakeup?.ring()
    try terminal.wait { $0.cursor == (0, 30) }
    #expect(terminal.screen.lines == ["lib› 0123456789012345678901234"])
    terminal.type("\u{3}\u{4}")
    #expect(session.end() == ["interrupted", "left"])
    #expect(terminal.screen.unknown.isEmpty)
  }

  @Test func `what stands above changes while one types`() throws {
    let shown = Said()
    shown.add("2 books")
    let session = Session(terminal, above: { [shown.all.last ?? ""] })
    try terminal.wait { $0.lines == ["2 books", "lib›"] }
    terminal.type("co")
    try terminal.wait { $0.lines == ["2 books", "lib› count Book;"] }
    shown.add("3 books")
    session.wakeup?.ring()
    try terminal.wait { $0.lines == ["3 books", "lib› count Book;"] && $0.cursor == (1, 7) }
    terminal.type(";\r")
    // What was entered stays, and what was above it does not.
    try terminal.wait { $0.lines == ["lib› co;", "ran 3", "3 books", "lib›"] }
    terminal.type("\u{4}")
    _ = session.end()
    try terminal.wait { $0.lines == ["lib› co;", "ran 3", "lib›"] }
  }

  @Test func `Ctrl-C drops the text and goes on`() throws {
    let session = Session(terminal)
    try terminal.wait(for: "lib›")
    terminal.type("abc\u{3}")
    try terminal.wait { $0.lines == ["lib› abc^C", "lib›"] }
    terminal.type("\u{3}\u{4}")
    #expect(session.end() == ["interrupted", "interrupted", "left"])
  }

  @Test func `a dumb terminal is read line by line`() throws {
    let session = Session(terminal, term: "dumb")
    try terminal.wait(for: "lib›")
    terminal.type("select\n1;\n")
    try terminal.wait(for: "ran 9")
    terminal.type("\u{4}")
    #expect(session.end() == [#"text("select\n1;")"#, "left"])
    #expect(!terminal.screen.pastesInBrackets && terminal.screen.unknown.isEmpty)
  }

  @Test func `without a terminal lines are read, the last without its end`() throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("select\r\n1;\n\nlast".utf8))
    try pipe.fileHandleForWriting.close()
    let editor = Editor(
      input: pipe.fileHandleForReading.fileDescriptor, output: terminal.inner, environment: ["TERM": "xterm"])
    editor.language.isComplete = { $0.hasSuffix(";") || $0.isEmpty }
    let inputs = (0..<4).map { _ in editor.read(Prompt("lib› ")) }
    #expect(inputs == [.text("select\n1;"), .text(""), .text("last"), .left])
  }
}

/// Lines that several threads add to.
private final class Said: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

/// A wakeup from the thread that has the editor.
private final class Handover: Sendable {
  private let given = DispatchSemaphore(value: 0)
  private let bell = Mutex<Wakeup?>(nil)

  func give(_ given: Wakeup) {
    bell.withLock { $0 = given }
    self.given.signal()
  }

  func take() -> Wakeup? {
    given.wait()
    return bell.withLock { $0 }
  }
}
