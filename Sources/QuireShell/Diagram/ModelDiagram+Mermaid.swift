extension ModelDiagram {
  /// An `erDiagram` of Mermaid, which GitHub, GitLab and many editors draw.
  ///
  /// Names of models are always in quotes, so that no name is taken for a word of the language. What a name of a column or
  /// a type has besides letters, digits and `_` becomes `_` there, and the name as it is stands behind it as a comment.
  var mermaid: [String] {
    var text = ["erDiagram"]
    for box in boxes {
      text.append("  \(Self.name(box.name)) {")
      for column in box.columns {
        let word = Self.word(column.name)
        let keys = [column.isKey ? "PK" : "", column.isReference ? "FK" : ""].filter { !$0.isEmpty }
        var line = "    \(Self.word(column.type.isEmpty ? "any" : column.type)) \(word)"
        if !keys.isEmpty { line += " " + keys.joined(separator: ", ") }
        if word != column.name { line += " \"\(Self.comment(column.name))\"" }
        text.append(line)
      }
      text.append("  }")
    }
    for line in lines {
      let ends: (to: String, from: String) = (
        line.toEnd == .one ? "||" : line.toEnd == .many ? "}o" : "|o", line.fromEnd == .many ? "o{" : "o|"
      )
      text.append(
        "  \(Self.name(boxes[line.to].name)) \(ends.to)\(line.isDeclared ? "--" : "..")\(ends.from) "
          + "\(Self.name(boxes[line.from].name)) : \"\(Self.escaped(line.label))\"")
    }
    return text
  }

  private static func name(_ name: String) -> String { "\"\(name.isEmpty ? "(no name)" : escaped(name))\"" }

  /// Text within quotes: signs that end it, or that Mermaid or HTML take for something else, by their numbers.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in printable(text).unicodeScalars {
      switch scalar {
      case "\"", "%", "\\", "#", ";", "<", ">", "&", "`", "{", "}": result += "#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Text of a comment, where Mermaid does not read numbers of signs: signs like them.
  private static func comment(_ text: String) -> String {
    if text.isEmpty { return "(no name)" }
    let hasNumbers = text.contains("#")
    return String(
      printable(text).map { sign -> Character in
        switch sign {
        case "\"": "'"
        case "<": "‹"
        case ">": "›"
        case "%", "\\", "`", "{", "}": "·"
        case ";" where hasNumbers: ","
        default: sign
        }
      })
  }

  /// Text as a word: a letter or `_`, then letters, digits and `_`; not a word for a kind of key.
  private static func word(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      let isPlain = scalar.properties.isAlphabetic && (0xC0...0xFFFF).contains(scalar.value)
      switch scalar {
      case "a"..."z", "A"..."Z", "_": result.unicodeScalars.append(scalar)
      case "0"..."9", "(", ")":
        if result.isEmpty { result = "_" }
        result.unicodeScalars.append(scalar)
      default: if isPlain { result.unicodeScalars.append(scalar) } else { result += "_" }
      }
    }
    // Mermaid takes `pk` for a kind of key also where a letter beyond ASCII follows.
    let isKey =
      ["pk", "fk", "uk"].contains(result.prefix(2).lowercased())
      && result.unicodeScalars.dropFirst(2).first.map { !$0.isASCII || $0 == "(" || $0 == ")" } ?? true
    return result.isEmpty || isKey ? "_" + result : result
  }
}
