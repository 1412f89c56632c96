import QuireRow
import QuireSQLite

// .dump [TABLE …]

extension ShellSession {
  /// Writes the statements that make the file again, or some of its tables.
  func dump(_ argument: String, _ run: Run) async throws {
    begin(.reading)
    let names = try dumped(argument)
    guard let output = run.output, !output.style.isTerminal, output.format != .json, output.format != .jsonl else {
      // Lines are shown when all are there.
      var text: [UInt8] = []
      _ = try dump(names) { bytes in
        text += bytes
        if text.count > Self.shownSizeInBytes {
          throw ShellFailure("it is too much to be shown", hint: ".save FILE.sql .dump writes it into a file", .usage)
        }
      }
      // An empty line may be a part of a text; behind the last statement there is none.
      let lines = text.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      return try await run.each(.lines(lines.map { String(decoding: $0, as: UTF8.self) }))
    }
    let clock = ContinuousClock()
    let begin = clock.now
    let rows = try dump(names, to: output.write)
    try await run.each(.streamed(rows: rows, isCut: false, elapsed: clock.now - begin))
  }

  /// `.save FILE .dump`.
  func saveDump(_ argument: String, in file: String, _ run: Run) async throws {
    if let format = AnswerFormat(ofFile: file), format != .insert {
      throw ShellFailure("\(printable(file)) is the name of another format: a dump has statements, as in .sql", .usage)
    }
    begin(.reading)
    let clock = ContinuousClock()
    let begin = clock.now
    let target = try AnswerFile(file, besides: source.path)
    let rows = try dump(try dumped(argument)) { try target.write($0) }
    try target.end()
    try await run.each(
      .written("\(rows.grouped) \(rows == 1 ? "row" : "rows") in \(printable(file)) · \((clock.now - begin).spoken)"))
  }

  private static let shownSizeInBytes = 1 << 20

  /// The tables and views that an argument names; nil for all.
  private func dumped(_ argument: String) throws -> Set<SQLName>? {
    var names: Set<SQLName> = []
    var rest = argument
    while let first = rest.first {
      // In quotes as in SQL, or up to a space.
      var tokens = SQLTokens(rest)
      let quoted = "\"'[`".contains(first) ? tokens.next() : nil
      let name = quoted.map { tokens.name(of: $0) } ?? String(rest.prefix { !$0.isWhitespace })
      let isObject = try SchemaReader(source.connection).objects(named: name).contains { $0.name == $0.table }
      names.insert(SQLName(isObject ? name : try find(name).table))
      let next = quoted.map { rest.utf8Suffix(from: $0.range.upperBound) } ?? String(rest.dropFirst(name.count))
      rest = next[...].trimmed
    }
    return names.isEmpty ? nil : names
  }

  /// - Returns: How many rows were written.
  private func dump(_ names: Set<SQLName>?, to write: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Int {
    try source.atOnce {
      var dump = Dump(source.connection, ByteBuffer(write))
      try dump.write(names)
      try checkNotPassed()
      try dump.bytes.flush()
      return dump.rowCount
    }
  }
}
