import Foundation
import Quire

/// A statement a row, that puts it into a table of these columns.
struct InsertWriter: RowWriter {
  private let start: String
  private let terminal: Terminal

  /// - Throws: where a name cannot stand in SQL, such as that of a column without one.
  init(_ columns: [String], into table: String, _ terminal: Terminal) throws {
    let names = try distinct(columns).map { try quoted(identifier: $0) }.joined(separator: ", ")
    start = "INSERT INTO \(try quoted(identifier: table)) (\(names)) VALUES ("
    self.terminal = terminal
  }

  mutating func write(_ row: [Value]) {
    terminal.print(start + row.map(\.literal).joined(separator: ", ") + ");")
  }
}

extension Value {
  /// As SQL writes it, so that it is read back as the same value.
  ///
  /// Text with characters that SQL or a terminal would take for something else goes as its bytes.
  fileprivate var literal: String {
    switch self {
    case .real(let number) where !number.isFinite: number < 0 ? "-9e999" : "9e999"
    case .text(let text) where text.unicodeScalars.contains { isControl($0) && $0 != "\n" && $0 != "\t" }:
      "CAST(\(Value.blob(Data(text.utf8))) AS TEXT)"
    case .malformedText: "CAST(\(self) AS TEXT)"
    default: "\(self)"
    }
  }
}
