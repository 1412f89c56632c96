/// Whether a text of the model language could be run as it is: brackets and quotes closed, and no word at its end that
/// wants another one. Without that it is run by Enter, also where it is wrong.
enum ModelCompleteness {
  static func isComplete(_ text: String) -> Bool {
    var depth = 0
    var last: Token?
    for token in Tokenizer.tokens(of: text) {
      switch token.kind {
      case .sign("("), .sign("{"): depth += 1
      case .sign(")"), .sign("}"): depth -= 1
      case .wrong(let reason) where reason.hasSuffix("not closed"): return false
      case .end: continue
      default: break
      }
      last = token
    }
    if depth > 0 { return false }
    guard let last else { return true }
    if [",", "=", "<", ">", "<=", ">=", "<>", "!=", "+", "||"].contains(where: last.isSign) { return false }
    return !["where", "and", "or", "not", "select", "by", "set", "like", "in", "between"].contains(where: last.isWord)
  }
}
