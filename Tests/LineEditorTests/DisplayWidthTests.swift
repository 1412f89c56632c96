import Foundation
import LineEditor
import Testing

@Suite struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("三島由紀夫", 10), ("한글", 4), ("ｶﾅ", 2), ("Ａ", 2), ("…", 1),
    ("👨‍👩‍👧", 2), ("👍🏽", 2), ("❤️", 2), ("❤", 1), ("🇫🇷", 2), ("🇫🇷🇩🇪", 4), ("1️⃣", 2), ("1", 1), ("\u{200C}", 0),
    ("\u{301}", 0), ("\u{1B}", 0), ("\u{85}", 0), ("a\u{AD}b", 3), ("क्षि", 3), ("각", 2), ("〇", 2), ("Ω", 1),
  ])
  func `characters take their cells`(text: String, width: Int) {
    #expect(displayWidth(text) == width)
  }

  static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Scripts/width-table")
  static let hasData = FileManager.default.fileExists(atPath: "/usr/share/unicode/EastAsianWidth.txt")

  @Test(.enabled(if: hasData, "Debian's unicode-data is not installed"))
  func `the table is the one that Unicode's data gives`() throws {
    let data = try String(contentsOfFile: "/usr/share/unicode/EastAsianWidth.txt", encoding: .utf8)
    // Another Unicode version gives another table, and that is no mistake.
    guard data.hasPrefix("# EastAsianWidth-\(displayWidthUnicodeVersion).txt") else { return }
    let folder = Self.script.deletingLastPathComponent().deletingLastPathComponent().path
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "cd '\(folder)' && Scripts/width-table | cmp - Sources/LineEditor/Width/WidthTable.swift",
    ]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
