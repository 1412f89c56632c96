/// The text shown when a file is opened: its content, the origin of its models' names, and a query that works on it.
struct Banner {
  let lines: [String]

  init(file: String, _ models: FileModels, _ facts: FileFacts, isWriting: Bool, isCopied: Bool = false) {
    let tables = models.all.filter { $0.kind != .view }
    let views = models.all.count - tables.count
    var parts = [FileName(file).last]
    parts.append("\(tables.count) \(tables.count == 1 ? "model" : "models")")
    if views > 0 { parts.append("\(views) \(views == 1 ? "view" : "views")") }
    if let rows = facts.rows {
      parts.append("\(rows.grouped) \(rows == 1 ? "row" : "rows")")
    } else {
      parts.append(Self.size(facts.sizeInBytes))
    }
    if let schema = facts.schema { parts.append("schema \(schema)") }
    parts.append(isWriting ? "writing is on" : isCopied ? "read-only" : "read-only (.write to change)")
    var lines = [Self.joined(parts, " · ")]
    let compiled = models.all.filter(\.isCompiled).map(\.name)
    if !compiled.isEmpty {
      let rest = tables.count - compiled.count
      lines.append(
        "\(Self.list(compiled)) as this program knows \(compiled.count == 1 ? "it" : "them")"
          + (rest > 0 ? "; the others are made from tables and keys" : ""))
    } else if !tables.isEmpty {
      lines.append("models are made from tables and keys: \(Self.list(tables.map(\.name)))")
    }
    if let example = Example.query(models) { lines.append("try:  \(example)     or  .help") }
    self.lines = lines.map { printable($0) }
  }

  /// As `joined` does, which takes a program that has just been started a hundred times as long: the standard library
  /// looks for how an array is a collection among all conformances there are.
  private static func joined(_ words: some Sequence<String>, _ separator: String) -> String {
    var text = ""
    for word in words { text += text.isEmpty ? word : separator + word }
    return text
  }

  private static func list(_ names: [String]) -> String {
    joined(names.prefix(8), ", ") + (names.count > 8 ? " and \(names.count - 8) more (.models)" : "")
  }

  private static func size(_ bytes: Int) -> String {
    let units = ["B", "KB", "MB", "GB", "TB"]
    var size = Double(bytes)
    var unit = 0
    while size >= 1000, unit < units.count - 1 {
      size /= 1000
      unit += 1
    }
    return size < 10 && unit > 0 ? "\((size * 10).rounded() / 10) \(units[unit])" : "\(Int(size)) \(units[unit])"
  }
}

/// A query that shows what the language can do with this very file.
enum Example {
  static func query(_ models: FileModels) -> String? {
    let asked = models.all.filter { $0.kind == .table && isName($0.name) }
    // A model that leads to one row of another is the best example.
    for model in asked {
      for relation in model.relations where !relation.isToMany && isName(relation.name) {
        let target = models[relation.target]
        if relation.target != models.place(of: model.name), let label = target.label, isName(label.name) {
          return "\(model.name) where \(relation.name).\(label.name) like \"a%\" limit 5"
        }
      }
    }
    for model in asked {
      if let list = model.relations.first(where: { $0.isToMany && isName($0.name) }) {
        return "\(model.name) where count(\(list.name)) > 1 limit 5"
      }
    }
    return asked.first.map { "\($0.name) limit 5" } ?? models.all.first { isName($0.name) }.map { "\($0.name) limit 5" }
  }

  /// Whether it can be typed as it is.
  static func isName(_ text: String) -> Bool {
    let tokens = Tokenizer.tokens(of: text)
    guard tokens.count == 2, case .word(let word) = tokens[0].kind else { return false }
    return !statementWords.contains(word.lowercased()) && !Parser.keywords.contains(word.lowercased())
  }
}
