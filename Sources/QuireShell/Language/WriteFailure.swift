import QuireRow
import QuireSQLite

/// What SQLite refuses in a write to a model, in the words of the model language and with its place.
struct WriteFailure {
  let model: FileModel
  /// The columns that are given values.
  let given: Set<String>
  /// The places of these values in the input, by column.
  private(set) var places: [String: Range<Int>] = [:]
  /// Where the values of a new row end in the input.
  private(set) var end: Range<Int>?

  /// Of values that are not in the input.
  init(model: FileModel, given: [FileModel.Column]) {
    self.model = model
    self.given = Set(given.map(\.column))
  }

  /// - Parameter end: Nil if rows that are there are written.
  init(model: FileModel, _ assignments: [ModelQuery.Assignment], end: Range<Int>? = nil) {
    self.model = model
    self.end = end
    for assignment in assignments {
      let name = assignment.name.text
      let columns = model.relation(named: name)?.ownColumns ?? model.column(named: name).map { [$0.column] } ?? []
      for column in columns { places[column] = assignment.value.range }
    }
    given = Set(places.keys)
  }

  /// Nil if a value of this model is not what is refused: a trigger may write to other tables.
  func explained(_ error: SQLiteError) -> ShellFailure? {
    if error.isNotNull { return column(behind: "failed: ", in: error.message).map(missing) }
    if let index = error.uniqueIndex {
      return ShellFailure(
        "another row of \(model.name) has the same values in the unique index \(printable(index))", at: end,
        hint: ".schema \(printable(index)) shows it")
    }
    if error.isUnique { return notUnique(error.message) }
    if error.isCheck { return broken(error.message) }
    if let column = column(behind: " column ", in: error.message) { return wrongType(error.message, column) }
    if error.message == "datatype mismatch", let key = model.columns.first(where: { $0.column == model.rowID }) {
      return ShellFailure("\(model.name).\(key.name) takes an integer", at: places[key.column])
    }
    return nil
  }

  // MARK: Refusals

  private func missing(_ column: FileModel.Column) -> ShellFailure {
    if given.contains(column.column) {
      return ShellFailure(
        "\(model.name).\(name(of: column)) needs a value, and this is null", at: places[column.column])
    }
    let missing = model.columns.filter {
      $0.isRequired && !$0.hasDefault && !$0.isGenerated && $0.column != model.rowID && !given.contains($0.column)
    }
    let names = (missing.isEmpty ? [column] : missing).map(name)
    return ShellFailure(
      "\(model.name) needs a value for \(Self.list(names)): the file has no default for \(names.count == 1 ? "it" : "them")",
      at: end, hint: "add " + names.map { "\($0): …" }.joined(separator: ", "))
  }

  private func notUnique(_ message: String) -> ShellFailure? {
    guard let start = message.firstRange(of: "failed: ") else { return nil }
    let columns = message[start.upperBound...].split(separator: ", ").compactMap { name in
      model.columns.first { name == "\(model.table).\($0.column)" }
    }
    guard !columns.isEmpty else { return nil }
    let names = columns.map(name)
    return ShellFailure(
      names.count == 1
        ? "\(model.name).\(names[0]) is unique, and another row has this value"
        : "\(Self.list(names)) of \(model.name) are unique together, and another row has these values",
      at: columns.lazy.compactMap { places[$0.column] }.first ?? end)
  }

  private func broken(_ message: String) -> ShellFailure? {
    guard let start = message.firstRange(of: "failed: ") else { return nil }
    let rule = String(message[start.upperBound...])
    let tokens = SQLTokens(rule)
    let words = Set(tokens.map { SQLName(tokens.name(of: $0)) })
    let named = Set(places.filter { words.contains(SQLName($0.key)) }.values)
    return ShellFailure("a rule of \(model.name) does not hold: \(rule)", at: named.count == 1 ? named.first : nil)
  }

  private func wrongType(_ message: String, _ column: FileModel.Column) -> ShellFailure? {
    let words = message.split(separator: " ").map(String.init)
    guard words.count > 6, words[0] == "cannot", let given = Self.kinds[words[2]], let wanted = Self.kinds[words[5]]
    else { return nil }
    let value = words[2] == "REAL" ? "a fraction" : given
    return ShellFailure(
      "\(model.name).\(name(of: column)) takes \(wanted), not \(value)", at: places[column.column])
  }

  private static let kinds = [
    "INT": "an integer", "INTEGER": "an integer", "REAL": "a number", "TEXT": "text", "BLOB": "bytes",
  ]

  // MARK: Names

  private func column(behind words: String, in message: String) -> FileModel.Column? {
    model.columns.first { message.hasSuffix("\(words)\(model.table).\($0.column)") }
  }

  /// A relation that a column is the key of is what is set in its place.
  private func name(of column: FileModel.Column) -> String {
    model.relations.first { $0.ownColumns == [column.column] }?.name ?? column.name
  }

  private static func list(_ names: [String]) -> String {
    names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
  }
}
