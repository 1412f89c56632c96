/// How tables and columns are called as models and relations.
///
/// English plurals by their commonest rules: a wrong guess is a name that reads oddly, and the table's own name is
/// always understood beside it.
enum ModelNames {
  /// `library_books` and `LIBRARY_BOOKS` → `LibraryBook`, `order-lines` → `OrderLine`; a name that has no letters stays as
  /// it is, and so does a single word in capitals, such as `ISBN`.
  static func model(ofTable table: String) -> String {
    var words = table.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    if words.count > 1, table == table.uppercased() { words = words.map { $0.lowercased() } }
    guard let last = words.last, table.contains(where: \.isLetter) else { return table }
    let parts = words.dropLast() + [singular(last)]
    return parts.reduce(into: "") { $0 += $1.prefix(1).uppercased() + String($1.dropFirst()) }
  }

  /// `books` → `book`.
  static func singular(_ word: String) -> String {
    let lower = word.lowercased()
    if word.count < 4 || ["ss", "us", "is", "news", "series", "species"].contains(where: lower.hasSuffix) {
      return word
    }
    if lower.hasSuffix("ies") { return String(word.dropLast(3)) + (word == word.uppercased() ? "Y" : "y") }
    if ["xes", "ches", "shes", "sses", "zes"].contains(where: lower.hasSuffix) { return String(word.dropLast(2)) }
    return lower.hasSuffix("s") ? String(word.dropLast()) : word
  }

  /// `book` → `books`.
  static func plural(_ word: String) -> String {
    let lower = word.lowercased()
    // Scripts without cases are of languages without these plurals.
    guard let last = word.last, last.isCased || last.isNumber || last == "_" else { return word }
    if lower.hasSuffix("y"), let before = lower.dropLast().last, !"aeiou".contains(before) {
      return String(word.dropLast()) + "ies"
    }
    if lower.hasSuffix("lf") { return String(word.dropLast()) + "ves" }
    if ["s", "x", "ch", "sh", "z"].contains(where: lower.hasSuffix) {
      return singular(word) == word ? word + "es" : word
    }
    return word + "s"
  }

  /// `author_id`, `AUTHOR_ID`, `authorId` and `AuthorID` → `author`; nil for a name that does not end so.
  static func relation(ofColumn column: String) -> String? {
    let lower = column.lowercased()
    let ending =
      ["_id", "_fk", "_key", "_ref"].first(where: lower.hasSuffix)
      // Not of a word in capitals, such as `PAID`.
      ?? ["Id", "ID"].first { column.hasSuffix($0) && column.dropLast(2).last?.isUppercase != true }
    guard let ending, column.count > ending.count else { return nil }
    return lowered(String(column.dropLast(ending.count)))
  }

  /// A model's name as a property: `LibraryBook` → `libraryBook`, `ISBN` → `isbn`.
  static func lowered(_ name: String) -> String {
    if name == name.uppercased() { return name.lowercased() }
    return name.prefix(1).lowercased() + String(name.dropFirst())
  }
}
