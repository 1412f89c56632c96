/// The text of a CREATE TRIGGER from `sqlite_schema`, as a statement of any connection.
enum TriggerText {
  /// Without the name of a schema before the table: SQLite keeps that of the connection that made the trigger
  /// (`AFTER INSERT ON attached.book`), and ignores it only when it reads the file.
  static func withoutSchema(_ sql: String) -> String {
    let source = SQLTokens(sql)
    var tokens = source.lazy.filter(\.isSignificant).makeIterator()
    while let token = tokens.next() {
      guard token.kind == .word, SQLName.folded(source.text(of: token)) == "on" else { continue }
      guard let schema = tokens.next(), let dot = tokens.next(), source.isMark(dot, "."), let table = tokens.next()
      else { break }
      let rest = source.bytes[..<schema.range.lowerBound] + source.bytes[table.range.lowerBound...]
      return String(decoding: rest, as: UTF8.self)
    }
    return sql
  }
}
