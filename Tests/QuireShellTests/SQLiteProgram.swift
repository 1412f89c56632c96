import Foundation
import TestSupport

@testable import QuireShell

/// What the sqlite3 program answers, and how its answers are compared with ours.
enum SQLiteProgram {
  struct Failure: Error { let said: String }

  /// Runs a text, given on standard input as the shell reads scripts, and returns what was printed.
  ///
  /// - Throws: ``Failure`` where it ends with another status than 0.
  static func answer(_ text: String, of file: URL, _ words: [String]) throws -> Data {
    guard let path = SQLiteShell.path else { throw Failure(said: "the sqlite3 program is not installed") }
    let process = Process()
    process.executableURL = URL(filePath: path)
    // EXPLAIN is a query like others here, and nothing is read from the home folder.
    process.arguments =
      ["-init", "/dev/null", "-batch", "-bail", "-readonly", "-cmd", ".explain off"] + words + [file.path]
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
    try process.run()
    // More than a pipe holds would wait for a reader.
    DispatchQueue.global().async {
      try? input.fileHandleForWriting.write(contentsOf: Data((text + "\n").utf8))
      try? input.fileHandleForWriting.close()
    }
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    let error = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw Failure(said: String(decoding: error, as: UTF8.self)) }
    return said
  }

  // MARK: Comparing

  /// Whether two texts are the same byte for byte, but that a real number may have more digits here: the program stops
  /// at 15, which are not always the number.
  static func isSame(_ own: Data, _ other: Data) -> Bool {
    if own == other { return true }
    var (a, b) = (own[...], other[...])
    while let first = a.first, let second = b.first {
      let (x, y) = (number(a), number(b))
      if x.isEmpty || y.isEmpty || x == y {
        if x.isEmpty, first != second { return false }
        if !x.isEmpty, y.isEmpty { return false }
        let count = max(1, x.count)
        (a, b) = (a.dropFirst(count), b.dropFirst(count))
      } else {
        guard isSameReal(String(decoding: x, as: UTF8.self), String(decoding: y, as: UTF8.self)) else { return false }
        (a, b) = (a.dropFirst(x.count), b.dropFirst(y.count))
      }
    }
    return a.isEmpty && b.isEmpty
  }

  private static func number(_ bytes: Data.SubSequence) -> Data.SubSequence {
    guard let first = bytes.first, first == 45 || (48...57).contains(first) else { return bytes.prefix(0) }
    return bytes.prefix { (48...57).contains($0) || [43, 45, 46, 101].contains($0) }
  }

  static func isSameReal(_ own: String, _ other: String) -> Bool {
    if own == other { return true }
    guard let x = Double(own), let y = Double(other), own.contains(where: { ".e".contains($0) }) else { return false }
    // The largest number with 15 digits is beyond all numbers.
    return x == y || abs(x - y) <= abs(x) * 1e-14 || y.isInfinite && abs(x) > 1.79e308
  }

  /// The records of a text in CSV, as their fields.
  static func records(_ csv: Data) throws -> [[String]] {
    var reader = SeparatedReader(FileBytes(csv), UInt8(ascii: ","))
    var result: [[String]] = []
    while let fields = try reader.next() { result.append(fields.map(\.text)) }
    return result
  }

  /// Names and values of the rows of a text in the line format, where no value has a line end in it.
  ///
  /// - Parameter separator: What stands between a name and its value: `"  "`, or `" = "`.
  static func lines(_ text: Data, _ separator: String) -> [[String]] {
    String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard let range = line.range(of: separator) else { return [String(line)] }
      let value = line[range.upperBound...]
      return [
        String(line[..<range.lowerBound].drop { $0 == " " }),
        String(separator == "  " ? value.drop { $0 == " " } : value),
      ]
    }
  }
}
