import Foundation

/// The file `.env` that many tools keep their settings in: `NAME=value` on each line.
///
/// `export` before the name, quotes around the value and comments are understood; nothing is expanded. What is not
/// understood is passed over, because the file is other programs' too.
struct DotEnv {
  private(set) var values: [String: String] = [:]

  /// Nothing where there is no such file, or none that can be read.
  init(file: String) {
    let data = FileManager.default.contents(atPath: file) ?? Data()
    self.init(text: data.count < 1 << 20 ? String(decoding: data, as: UTF8.self) : "")
  }

  init(text: String) {
    for line in text.drop(while: { $0 == "\u{FEFF}" }).split(whereSeparator: \.isNewline) {
      var line = line.drop { $0 == " " || $0 == "\t" }
      if line.hasPrefix("export ") { line = line.dropFirst(7).drop { $0 == " " } }
      guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
      let name = line[..<equals].filter { $0 != " " }
      let rest = line[line.index(after: equals)...].drop { $0 == " " || $0 == "\t" }
      values[String(name)] = Self.value(rest)
    }
  }

  private static func value(_ text: Substring) -> String {
    if let quote = text.first, quote == "\"" || quote == "'" {
      let rest = text.dropFirst()
      return String(rest.prefix { $0 != quote })
    }
    // A comment begins behind a blank only: a path may have the mark in it.
    let end = text.firstRange(of: " #")?.lowerBound ?? text.endIndex
    return text[..<end].trimmingCharacters(in: .whitespaces)
  }
}

/// The path in a URL such as `sqlite:library.db`, `sqlite://library.db` or `sqlite:///var/lib/library.db`; nil for the
/// URL of another kind of database, or of one in memory, which would be gone with the command.
func databasePath(url: String) -> String? {
  guard let colon = url.firstIndex(of: ":"), ["sqlite", "sqlite3"].contains(url[..<colon].lowercased()) else {
    return nil
  }
  var path = url[url.index(after: colon)...].prefix { $0 != "?" }
  if path.hasPrefix("//") { path = path.dropFirst(2) }
  return path.isEmpty || path == ":memory:" ? nil : path.removingPercentEncoding ?? String(path)
}
