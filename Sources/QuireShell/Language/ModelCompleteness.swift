/// Whether text of the model language is complete: brackets and quotes are closed, and its last word needs no other
/// after it. Complete input is run by Enter, even if it is wrong.
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
    if [",", "=", "<", ">", "<=", ">=", "<>", "!=", "+", "||", "->", "->>"].contains(where: last.isSign) {
      return false
    }
    return !["where", "and", "or", "not", "select", "by", "set", "like", "regexp", "in", "between"].contains(
      where: last.isWord)
  }
}
