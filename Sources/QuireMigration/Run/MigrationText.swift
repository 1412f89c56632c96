import QuireSQLite

/// SQL of a migration to be run: one of a file's two parts, or one stored in a database.
struct MigrationText: Hashable, Sendable {
  /// Its name in messages: a file's path, or `undo of 20261120143005 add isbn`.
  let name: String
  let sql: String
  /// The line of the file that `sql` begins on.
  var firstLine = 1

  enum Piece: Hashable {
    /// SQL, and where it begins in the text.
    case sql(String, start: Int)
    case step(String)
  }

  /// The SQL between the steps, and the steps in their places.
  ///
  /// - Throws: ``MigrationError/directive(_:file:line:hint:)`` for a text kept in a database that has an unknown one.
  func pieces() throws(MigrationError) -> [Piece] {
    let tokens = SQLTokens(sql)
    var pieces: [Piece] = []
    var start = 0
    func add(until end: Int) {
      let text = String(decoding: tokens.bytes[start..<end], as: UTF8.self)
      if !SQLTokens.isEmpty(text) { pieces.append(.sql(text, start: start)) }
    }
    for token in tokens where token.kind == .lineComment {
      let comment = MigrationFile.content(of: tokens.text(of: token))
      guard case .step(let step)? = try MigrationDirective(comment: comment, file: name, line: firstLine) else {
        continue
      }
      add(until: token.range.lowerBound)
      pieces.append(.step(step))
      start = token.range.upperBound
    }
    add(until: tokens.bytes.count)
    return pieces
  }

  /// The directives of a text stored in a database; unknown ones are ignored.
  var directives: [MigrationDirective] {
    let tokens = SQLTokens(sql)
    return tokens.compactMap { token in
      guard token.kind == .lineComment else { return nil }
      let comment = MigrationFile.content(of: tokens.text(of: token))
      return (try? MigrationDirective(comment: comment, file: name, line: firstLine)) ?? nil
    }
  }

  /// Refuses a parameter such as `:name`: nothing gives it a value, and SQLite would take NULL.
  ///
  /// - Throws: ``MigrationError/failed(_:)``.
  func checkParameters() throws(MigrationError) {
    let tokens = SQLTokens(sql)
    guard let parameter = tokens.first(where: { $0.kind == .parameter }) else { return }
    // In a template it may be one of another database, which is left out there.
    if let brace = tokens.first(where: { tokens.isMark($0, "{") }), brace.range.lowerBound < parameter.range.lowerBound
    {
      throw .failed(
        MigrationFailure(
          code: 1, message: "unrecognized token: \"{\"", place: place(of: brace.range.lowerBound, withColumn: true),
          length: 1, suggestion: nil))
    }
    let name = tokens.text(of: parameter)
    throw .failed(
      MigrationFailure(
        code: 1, message: "\(name) is a parameter, and a migration has no value for it: write the value itself",
        place: place(of: parameter.range.lowerBound, withColumn: true), length: name.count, suggestion: nil))
  }

  /// The place of byte `offset`.
  func place(of offset: Int, withColumn: Bool) -> SourcePlace {
    let bytes = Array(sql.utf8)
    let offset = min(max(0, offset), bytes.count)
    let lineStart = bytes[..<offset].lastIndex(of: 10).map { $0 + 1 } ?? 0
    let lineEnd = bytes[offset...].firstIndex(of: 10) ?? bytes.count
    return SourcePlace(
      file: name, line: bytes[..<offset].count { $0 == 10 } + firstLine,
      column: withColumn ? String(decoding: bytes[lineStart..<offset], as: UTF8.self).count + 1 : nil,
      text: String(decoding: bytes[lineStart..<lineEnd], as: UTF8.self))
  }
}

extension MigrationFile {
  /// In a file that no line calls Quire's, BEGIN and COMMIT are ignored.
  var upText: MigrationText {
    MigrationText(name: path, sql: isOwn ? up : SQLStatements(up).withoutTransactions(keepingPragmas: true))
  }
}

extension AppliedMigration {
  /// Its recorded undo; with places in `file` if that has the same text.
  func undoText(in file: MigrationFile?) -> MigrationText? {
    guard let undo else { return nil }
    if let file, file.undo == undo { return MigrationText(name: file.undoPath, sql: undo, firstLine: file.undoLine) }
    return MigrationText(name: "undo of \(version) \(title)", sql: undo)
  }
}
