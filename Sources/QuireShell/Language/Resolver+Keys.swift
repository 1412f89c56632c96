import QuireRow

// Keys after a model's name:  Book 12   Shelf ("north", 1)   Book :id

extension Resolver {
  /// Values for a model's key, in its order.
  func key(_ values: [Syntax], of place: Int, _ range: Range<Int>) throws(ShellFailure) -> [Resolved] {
    let model = models[place]
    let columns = model.keyColumns
    if columns.isEmpty { throw ShellFailure("\(model.name) has no key: its rows are found by where", at: range) }
    if columns.count != values.count {
      throw ShellFailure(
        "a \(model.name) is known by \(columns.joined(separator: ", ")), and \(values.count) \(values.count == 1 ? "value is" : "values are") given",
        at: range)
    }
    var result: [Resolved] = []
    for (column, value) in zip(columns, values) {
      var value = value
      if case .spelled(let text, let number) = value.kind {
        if model.columns.first(where: { $0.column == column })?.affinity == .text {
          result.append(.value(.text(text)))
          continue
        }
        value = number
      }
      switch value.kind {
      case .literal(let literal):
        try check(literal, for: column, of: model, at: value.range)
        result.append(.value(literal))
      case .parameter(let name):
        if let known = parameters[String(name.dropFirst())] {
          try check(known, for: column, of: model, at: value.range)
        }
        result.append(.parameter(name))
      case .unary("-", let inner):
        guard case .literal(let literal) = inner.kind else { fallthrough }
        try check(literal, for: column, of: model, at: value.range)
        result.append(.prefix("-", .value(literal)))
      default: throw ShellFailure("a key is a number, a text or a parameter", at: value.range)
      }
    }
    return result
  }

  /// Refuses a value that no row can have as its key.
  private func check(
    _ value: Value, for column: String, of model: FileModel, at range: Range<Int>
  ) throws(ShellFailure) {
    guard model.holdsOnlyIntegers(in: column), let kind = Self.kindIfNoInteger(value) else { return }
    var hint: String?
    if case .text(let text) = value, let label = model.label, label.column != column {
      let shown = text.contains("\"") ? "…" : "\"\(printable(text))\""
      hint = "\(model.name) where \(label.name) = \(shown) finds it by its \(label.name)"
    }
    throw ShellFailure(
      "the key of \(model.name), \(column), is an integer, not \(kind)", at: range, hint: hint)
  }

  /// What a value is that SQLite does not take for an integer in a comparison with one; nil if it does.
  private static func kindIfNoInteger(_ value: Value) -> String? {
    switch value {
    case .integer: nil
    case .real(let number): number == number.rounded() ? nil : "a fraction"
    case .text(let text):
      // SQLite compares text that reads as a number as that number.
      text.utf8.allSatisfy { (48...57).contains($0) || " +-.eE".utf8.contains($0) }
        && text.utf8.contains { (48...57).contains($0) } ? nil : "a text"
    case .malformedText: "a text"
    case .blob: "bytes"
    case .null: "null"
    }
  }
}
