import Catalog
import Foundation
import Testing

@Suite struct CSVReaderTests {
  let fixture: CSVFixture
  init() throws { fixture = try CSVFixture() }

  private func read(_ file: String, delimiter: UInt8? = nil, limitInBytes: Int = 1 << 20) throws
    -> (header: [String], records: [[String]], lines: [Int])
  {
    var reader = try CSVReader(file: file, delimiter: delimiter, limitInBytes: limitInBytes)
    var records: [[String]] = []
    var lines: [Int] = []
    while let record = try reader.next() {
      records.append((0..<record.count).map { record.text($0) ?? "?" })
      lines.append(record.line)
    }
    #expect(reader.bytesRead == reader.byteCount)
    return (reader.header, records, lines)
  }

  @Test func `records, quotes, doubled quotes and line breaks in quotes`() throws {
    let file = try fixture.write("a,b\n1,\"x, \"\"y\"\"\"\n\"two\nlines\",\n\"\",\"\"\n")
    let read = try read(file)
    #expect(read.header == ["a", "b"])
    #expect(read.records == [["1", "x, \"y\""], ["two\nlines", ""], ["", ""]])
    #expect(read.lines == [2, 3, 5])
  }

  @Test(arguments: ["\n", "\r\n"], ["", "\u{FEFF}"])
  func `both line endings, with or without mark and last line break`(end: String, mark: String) throws {
    for last in ["", end] {
      let read = try read(try fixture.write("\(mark)a,b\(end)1,2\(end)\"3\",\"4\"\(last)"))
      #expect(read.header == ["a", "b"])
      #expect(read.records == [["1", "2"], ["3", "4"]])
      #expect(read.lines == [2, 3])
    }
  }

  @Test func `the delimiter is the most frequent in the first line`() throws {
    #expect(try read(try fixture.write("a;b,c;d\n1;2;3\n")).records == [["1", "2", "3"]])
    #expect(try read(try fixture.write("a\tb\n1,5\t2\n")).records == [["1,5", "2"]])
    #expect(try read(try fixture.write("a;b,c\n1;2,3\n"), delimiter: 44).records == [["1;2", "3"]])
    #expect(try read(try fixture.write("a\n1,2\n")).records == [["1", "2"]])
  }

  @Test func `a blank line is a record of one empty field`() throws {
    let read = try read(try fixture.write("a\n\nx\n\"\"\n\n"))
    #expect(read.records == [[""], ["x"], [""], [""]])
  }

  @Test func `fields may cross chunks anywhere`() throws {
    // One record is 7 bytes, so chunk borders fall into every place of one.
    let count = 200_000
    var text = "a,b\n"
    for _ in 0..<count { text += "\"\"\"\",\r\n" }
    let file = try fixture.write(text)
    var reader = try CSVReader(file: file)
    var good = 0
    while let record = try reader.next() { good += record.count == 2 && record[0] == [34] && record[1].isEmpty ? 1 : 0 }
    #expect(good == count)
  }

  @Test(arguments: [
    ("a,b\n1,x\"y\n", 2, "quote inside a field"),
    ("a,b\n1,\"x\"y\n", 2, "text after a field's closing quote"),
    ("a,b\n1,\"x\" ,2\n", 2, "text after a field's closing quote"),
    ("a,b\n1,2\n\"x\n\n\n3,4\n", 3, "the quote opened here is never closed"),
    ("a,b\n\"1\n2\",x\n3,\"", 4, "the quote opened here is never closed"),
    ("a,b\n1,2\r3,4\n", 2, "carriage return"),
    ("a,b\n1,2\r", 2, "carriage return"),
    ("\"a\n1,2\n", 1, "the quote opened here is never closed"),
  ])
  func `broken quotes are an error with file and line`(text: String, line: Int, reason: String) throws {
    let file = try fixture.write(text)
    let error = #expect(throws: CSVError.self) { try read(file) }
    #expect(error?.description.hasPrefix("\(file):\(line): ") == true, "\(String(describing: error))")
    #expect(error?.description.contains(reason) == true)
  }

  @Test func `a huge field ends at the limit instead of filling memory`() throws {
    let file = try fixture.write("a,b\n1,2\n3,\"" + String(repeating: "x", count: 1_000_000) + "\n")
    #expect(throws: CSVError.recordTooLong(file: file, line: 3, limitInBytes: 100_000)) {
      try read(file, limitInBytes: 100_000)
    }
    let whole = try fixture.write("a\n" + String(repeating: "x", count: 1_000_000) + "\n")
    #expect(try read(whole).records[0][0].utf8.count == 1_000_000)
  }

  @Test func `bytes that are not UTF-8 give no text, and the line is known`() throws {
    var reader = try CSVReader(
      file: try fixture.write(bytes: Array("a,b\n1,\"x\n".utf8) + [0xFF] + Array("\",2\n".utf8)))
    let record = try #require(try reader.next())
    #expect(record.text(0) == "1")
    #expect(record.text(1) == nil)
    #expect(record.line(ofField: 2) == 3)
  }

  @Test func `missing, empty, folder and unreadable files are told apart`() throws {
    #expect(throws: CSVError.missing(file: "/no/such.csv")) { try read("/no/such.csv") }
    #expect(throws: CSVError.isDirectory(file: fixture.path)) { try read(fixture.path) }
    for (name, text) in [("none", ""), ("mark", "\u{FEFF}"), ("blank", "\n\n")] {
      let file = try fixture.write(text, as: name)
      #expect(throws: CSVError.empty(file: file)) { try read(file) }
    }
    let binary = try fixture.write(bytes: [0xFF, 0xFE, 0x61, 0x00], as: "utf16")
    #expect(throws: CSVError.headerNotUTF8(file: binary)) { try read(binary) }
    let secret = try fixture.write("a\n", as: "secret")
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: secret)
    // Permissions do not bind root.
    if !FileManager.default.isReadableFile(atPath: secret) {
      #expect(throws: CSVError.unreadable(file: secret, reason: "Permission denied")) { try read(secret) }
    }
  }

  @Test(arguments: 0..<40)
  func `whatever is written by the rules is read back`(seed: UInt64) throws {
    var generator = Generator(state: seed)
    let alphabet = ["a", "é", "\"", ",", ";", "\n", "\r\n", " ", "\0", "本", ""]
    let rows = (0..<20).map { _ in
      (0..<3).map { _ in
        (0..<Int.random(in: 0...6, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? "" }
          .joined()
      }
    }
    var text = "a,b,c\n"
    for row in rows {
      text += row.map { field in
        let special = field.utf8.contains { [34, 44, 10, 13].contains($0) }
        return special || Bool.random(using: &generator) ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
      }.joined(separator: ",")
      text += Bool.random(using: &generator) ? "\n" : "\r\n"
    }
    #expect(try read(try fixture.write(text)).records == rows, "seed \(seed)")
  }

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 31)
    }
  }
}
