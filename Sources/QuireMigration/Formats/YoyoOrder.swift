import QuireSQLite

/// The order of yoyo's files, which say in a comment at their beginning behind which others they run: `-- depends: 0001.init`.
struct YoyoOrder {
  private let files: [(path: String, text: String)]

  init(_ files: [(path: String, text: String)]) { self.files = files }

  /// Refuses a file whose number has it run before one that it depends on.
  ///
  /// - Parameter unread: As of ``ToolFolder/migrations(_:)``.
  func check(_ unread: (MigrationError) throws(MigrationError) -> Void) throws(MigrationError) {
    let needed = files.map { (path: $0.path, names: Self.needed(by: $0.text)) }.filter { !$0.names.isEmpty }
    if needed.isEmpty { return }
    let paths = Dictionary(files.map { (Self.stem($0.path), $0.path) }) { first, _ in first }
    for file in needed {
      let own = Self.place(file.path)
      for (name, line) in file.names {
        guard let other = paths[name], own <= Self.place(other) else { continue }
        try unread(
          .malformed(
            file: file.path, line: line,
            reason: """
              it depends on \(name), so yoyo runs it after that, and its number has it run before.
              Nothing was run. Give it a number behind that one's, in a copy of the folder if yoyo needs the names.
              """))
      }
    }
  }

  private static func stem(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return String(name.hasSuffix(".sql") ? name.dropLast(4) : name)
  }

  private static func place(_ path: String) -> (number: Int64, path: String) {
    (MigrationName(stem(path) + ".sql").version?.number ?? 0, path)
  }

  /// The names behind `depends:` in the comments before the first statement, each with its line.
  private static func needed(by text: String) -> [(name: String, line: Int)] {
    var names: [(name: String, line: Int)] = []
    var rest = text.utf8[...]
    var number = 0
    // Line by line, because nearly every file ends this at its first statement.
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 10 }
      rest = rest[line.endIndex...].dropFirst()
      number += 1
      let words = String(decoding: line.prefix(4096), as: UTF8.self).split { $0.isWhitespace || $0 == "\u{FEFF}" }
      guard let first = words.first else { continue }
      guard first.hasPrefix("--") else { break }
      let content = first == "--" ? words.dropFirst() : [first.dropFirst(2)] + words.dropFirst()
      if content.first == "depends:" { names += content.dropFirst().map { (String($0), number) } }
    }
    return names
  }
}
