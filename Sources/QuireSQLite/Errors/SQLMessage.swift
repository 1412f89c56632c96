internal import CSQLite

/// Information extracted from SQLite's messages, for errors without an offset.
package enum SQLMessage {
  /// The name in messages such as `no such column: book.autor` and `table book has no column named autor`.
  package static func name(in message: String) -> String? {
    for start in ["no such column: ", "no such table: ", "no such index: ", "no such view: ", "no column named "] {
      guard let range = message.firstRange(of: start) else { continue }
      let name = message[range.upperBound...].split(separator: ".").last.map(String.init)
      // A name that is not in quotes here goes on behind its blanks: `no such table: main.old one`.
      return name.map { name in name.first.map { "\"'`[".contains($0) } == true ? SQLTokens.name(name) : name }
    }
    if let range = message.firstRange(of: "unknown column \"") {
      return String(message[range.upperBound...].prefix { $0 != "\"" })
    }
    return nil
  }
}

extension SQLMessage {
  /// For a function that a later version of SQLite has.
  package static func hint(
    ofNewerFunction message: String, version: Int = Int(sqlite3_libversion_number())
  ) -> String? {
    let start = "no such function: "
    guard message.hasPrefix(start), let first = newerFunctions[message.dropFirst(start.count).lowercased()],
      first > version
    else { return nil }
    return "SQLite has it from \(number(first)) on, and here it is \(number(version))"
  }

  private static func number(_ version: Int) -> String {
    let (major, minor, patch) = (version / 1_000_000, version / 1_000 % 1_000, version % 1_000)
    return "\(major).\(minor)" + (patch == 0 ? "" : ".\(patch)")
  }

  /// With the version that brought each, from <https://sqlite.org/changes.html>.
  private static let newerFunctions: [String: Int] = [
    "unhex": 3_041_000, "json_error_position": 3_042_000, "octet_length": 3_043_000, "timediff": 3_043_000,
    "concat": 3_044_000, "concat_ws": 3_044_000, "string_agg": 3_044_000, "jsonb": 3_045_000,
    "jsonb_array": 3_045_000, "jsonb_extract": 3_045_000, "jsonb_group_array": 3_045_000,
    "jsonb_group_object": 3_045_000, "jsonb_insert": 3_045_000, "jsonb_object": 3_045_000, "jsonb_patch": 3_045_000,
    "jsonb_remove": 3_045_000, "jsonb_replace": 3_045_000, "jsonb_set": 3_045_000, "json_pretty": 3_046_000,
    "if": 3_048_000, "unistr": 3_050_000, "unistr_quote": 3_050_000,
  ]
}
