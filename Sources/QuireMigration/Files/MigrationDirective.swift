import QuireSQLite

/// A comment that says how to run a migration: `-- migrate: WORD …`.
public enum MigrationDirective: Hashable, Sendable {
  /// `undo`: the rest of the file undoes the migration.
  case undo
  /// `no-transaction`: for the one statement that cannot run in a transaction (VACUUM, journal_mode).
  case noTransaction
  /// `foreign-keys on`: keys are enforced statement by statement instead of being checked at the end.
  case foreignKeysOn
  /// `allow CODE reason…`: a finding of the checks that is intended.
  case allow(code: String, reason: String)
  /// `step NAME`: a step written in Swift, which only the application's own binary can run.
  case step(String)
  /// Not written in files: the file belongs to another tool, which leaves SQLite its default of reading double quotes
  /// as a string if there is no column of that name.
  case tool(MigrationFormat)
}

extension MigrationDirective {
  var isStep: Bool { if case .step = self { true } else { false } }

  static let words = ["undo", "no-transaction", "foreign-keys", "allow", "step"]

  /// Reads the comment `text` (without its dashes); nil if it is an ordinary comment.
  ///
  /// - Throws: ``MigrationError/directive(_:file:line:hint:)`` if it begins with `migrate:` but is not valid, or if it
  ///   consists of `migrate` and a directive's word without the colon.
  init?(comment text: String, file: String, line: Int) throws(MigrationError) {
    guard text.utf8.first.map({ $0 | 32 == UInt8(ascii: "m") }) == true else { return nil }
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let first = words.first, first.lowercased().hasPrefix("migrate") else { return nil }
    var rest = Array(words.dropFirst())
    if first.lowercased().hasPrefix("migrate:") {
      let attached = String(first.dropFirst("migrate:".count))
      if !attached.isEmpty { rest.insert(attached, at: 0) }
    } else if first.lowercased() == "migrate", let next = rest.first, next.hasPrefix(":") {
      rest[0] = String(next.dropFirst())
      if rest[0].isEmpty { rest.removeFirst() }
    } else {
      guard first.lowercased() == "migrate", rest.count == 1, Self.words.contains(rest[0]) else { return nil }
      throw .directive(text, file: file, line: line, hint: "write -- migrate: \(rest[0])")
    }
    func wrong(_ hint: String) -> MigrationError {
      .directive(rest.joined(separator: " "), file: file, line: line, hint: hint)
    }
    guard let word = rest.first else { throw wrong("one of \(Self.words.joined(separator: ", ")) must follow") }
    let operands = Array(rest.dropFirst())
    switch word {
    case "undo", "no-transaction":
      guard operands.isEmpty else { throw wrong("nothing may follow \(word)") }
      self = word == "undo" ? .undo : .noTransaction
    case "foreign-keys":
      guard operands == ["on"] else { throw wrong("write foreign-keys on") }
      self = .foreignKeysOn
    case "allow":
      guard let code = operands.first, code.count == 4, code.hasPrefix("M"), code.dropFirst().allSatisfy(\.isNumber),
        operands.count > 1
      else { throw wrong("write allow M001 and the reason") }
      self = .allow(code: code, reason: operands.dropFirst().joined(separator: " "))
    case "step":
      guard operands.count == 1 else { throw wrong("write step and the name of the step") }
      self = .step(operands[0])
    default:
      throw wrong(
        nearest(to: word, among: Self.words).map { "did you mean \($0)?" }
          ?? "the words are \(Self.words.joined(separator: ", "))")
    }
  }
}
