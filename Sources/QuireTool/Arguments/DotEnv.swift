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

/// The path in what `DATABASE_URL` says, such as `sqlite:library.db`, `sqlite:///var/lib/library.db`, Prisma's
/// `file:./library.db`, SQLAlchemy's `sqlite+aiosqlite:///library.db` or Diesel's plain `library.db`; nil for the URL of
/// another kind of database, or of one in memory, which would be gone with the command.
func databasePath(url: String) -> String? {
  let url = url.hasPrefix("jdbc:") ? url.dropFirst(5) : url[...]
  let scheme = url.prefix { $0 != ":" && $0 != "/" }.lowercased()
  // Other databases have words such as `host=db user=me` without a scheme.
  if !url.dropFirst(scheme.count).hasPrefix(":") {
    return url.isEmpty || url.contains("=") || url.contains("@") ? nil : String(url)
  }
  let isAlchemys = scheme.hasPrefix("sqlite+")
  guard isAlchemys || ["sqlite", "sqlite3", "file"].contains(scheme) else { return nil }
  let parts = url.dropFirst(scheme.count + 1).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
  guard var path = parts.first, parts.count == 1 || !parts[1].contains("mode=memory") else { return nil }
  if path.hasPrefix("//") { path = path.dropFirst(2) }
  // Behind the slash that ends a host that is not there.
  if isAlchemys, path.hasPrefix("/") { path = path.dropFirst() }
  return path.isEmpty || path == ":memory:" ? nil : path.removingPercentEncoding ?? String(path)
}
