import QuireTool
import Testing

@Suite struct TerminalTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("三島由紀夫", 10), ("👨‍👩‍👧", 2), ("❤️", 2), ("…", 1), ("한글", 4),
    ("\u{200C}", 0),
  ])
  func `width is counted in cells`(text: String, width: Int) {
    #expect(displayWidth(text) == width)
  }

  @Test func `text is padded and cut by cells`() {
    #expect(padded("三島", to: 6) == "三島  ")
    #expect(padded("7", to: 3, right: true) == "  7")
    #expect(truncated("三島由紀夫", to: 6) == "三島…")
    #expect(truncated("abc", to: 3) == "abc")
    #expect(truncated("abc", to: 0) == "")
  }

  @Test func `a line is broken between words`() {
    #expect(wrapped("one two three", to: 13) == ["one two three"])
    #expect(wrapped("one two three", to: 9) == ["one two", "three"])
    #expect(wrapped("  one  two three", to: 10, indent: 4) == ["  one  two", "    three"])
    #expect(wrapped("三島 由紀夫 x", to: 8) == ["三島", "由紀夫 x"])
    #expect(wrapped("averylongword is whole", to: 6) == ["averylongword", "is", "whole"])
    #expect(wrapped("a   b", to: 3) == ["a", "b"] || wrapped("a   b", to: 3) == ["a", " b"])
    #expect(wrapped("", to: 3) == [""])
    #expect(wrappedColumns("  .save  write the last answer", to: 22) == ["  .save  write the", "         last answer"])
    #expect(
      wrappedMessage("a long message\n   1 │ select a long line\n     │        ^ did you mean x?", to: 16)
        == "a long message\n   1 │ select a long line\n     │        ^\n  did you mean\n  x?")
  }

  @Test func `a quoted line that is wider than the terminal is shortened around what is underlined`() {
    func fitted(_ line: String, _ indent: Int, to width: Int) -> [String] {
      let text =
        "error: no nope\n   1 │ \(line)\n     │ \(String(repeating: " ", count: indent))^^^^ did you mean note?"
      return wrappedMessage(text, to: width).split(separator: "\n").map(String.init)
    }
    let long = "select a, b, c from book where title = '三島由紀夫の長い題名' and nope = 3 and year > 1900 and year < 2000"
    for width in [30, 40, 60, 79] {
      let lines = fitted(long, displayWidth("select a, b, c from book where title = '三島由紀夫の長い題名' and "), to: width)
      #expect(lines.allSatisfy { displayWidth($0) <= width }, "\(lines)")
      let place = lines[2].firstRange(of: "^^^^")
      let under = displayWidth(String(lines[2][..<(place?.lowerBound ?? lines[2].startIndex)]))
      let found = lines[1].firstRange(of: "nope")
      #expect(found.map { displayWidth(String(lines[1][..<$0.lowerBound])) } == under, "\(lines)")
    }
    #expect(fitted("select nope, " + long, 7, to: 40)[1] == "   1 │ select nope, select a, b, c from…")
  }

  @Test func `a table's columns are as wide as what is in them`() {
    let table = Table(["id", "title"], alignRight: [0], rows: [["1", "三島"], ["12", "Eden\u{1B}[2J"], ["3"]])
    #expect(table.lines() == ["id  title", " 1  三島", "12  Eden␛[2J", " 3"])
    #expect(Table(rows: []).lines().isEmpty)
  }

  @Test func `the widest column is cut where the terminal is narrow`() {
    let lines = Table(rows: [["1", String(repeating: "x", count: 100), "end"]]).lines(width: 40)
    #expect(lines.map(displayWidth) == [40])
    #expect(lines[0].hasSuffix("…  end"))
    #expect(Table(rows: [["short", "words"]]).lines(width: 1) == ["short  words"])
  }

  @Test func `JSON keeps order and escapes what must be`() {
    let document: JSON = ["b": 1, "a": ["x\"\\\n\u{1}é", true, nil], "n": .number(0.5), "i": .number(.infinity)]
    #expect(document.text == #"{"b":1,"a":["x\"\\\n\u0001é",true,null],"n":0.5,"i":null}"#)
  }

  @Test func `words are quoted for a shell where they must be`() {
    #expect(shellQuoted("library.db") == "library.db")
    #expect(shellQuoted("my library's.db") == "'my library'\\''s.db'")
    #expect(shellQuoted("-x") == "./-x")
    #expect(shellQuoted("") == "''")
  }

  @Test func `progress is drawn on a terminal only, and not at once`() {
    let quiet = Recorder()
    let progress = Progress("import", on: quiet.terminal(isTerminal: true))
    progress.update(1, of: 10)
    progress.finish()
    #expect(quiet.error.isEmpty)
  }
}
