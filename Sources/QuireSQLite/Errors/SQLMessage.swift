/// Information extracted from SQLite's messages, for errors without an offset.
package enum SQLMessage {
  /// The name in messages such as `no such column: book.autor` and `table book has no column named autor`.
  package static func name(in message: String) -> String? {
    for start in ["no such column: ", "no such table: ", "no such index: ", "no such view: ", "no column named "] {
      guard let range = message.firstRange(of: start) else { continue }
      let name = message[range.upperBound...].split(separator: ".").last.map(String.init)
      return name.map { SQLTokens.name($0) }
    }
    if let range = message.firstRange(of: "unknown column \"") {
      return String(message[range.upperBound...].prefix { $0 != "\"" })
    }
    return nil
  }
}
