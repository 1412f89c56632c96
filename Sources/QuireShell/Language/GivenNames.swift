extension Syntax {
  /// With what names stand for in their place.
  func replacing(_ names: [String: Syntax]) -> Syntax {
    if names.isEmpty { return self }
    func all(_ list: [Syntax]) -> [Syntax] { list.map { $0.replacing(names) } }
    let replaced: Kind =
      switch kind {
      case .literal, .parameter, .everything, .row: kind
      case .path(let path): path.count == 1 ? names[path[0].text]?.kind ?? kind : kind
      case .unary(let sign, let a): .unary(sign, a.replacing(names))
      case .binary(let sign, let a, let b): .binary(sign, a.replacing(names), b.replacing(names))
      case .isNull(let a, let isNegated): .isNull(a.replacing(names), isNegated: isNegated)
      case .oneOf(let a, let values, let isNegated): .oneOf(a.replacing(names), all(values), isNegated: isNegated)
      case .between(let a, let low, let high, let isNegated):
        .between(a.replacing(names), low.replacing(names), high.replacing(names), isNegated: isNegated)
      case .match(let word, let a, let b, let isNegated):
        .match(word, a.replacing(names), b.replacing(names), isNegated: isNegated)
      // What stands in a question about a list is looked up there.
      case .call(let name, let arguments, let condition, let isDistinct):
        condition == nil ? .call(name, all(arguments), where: nil, isDistinct: isDistinct) : kind
      case .choice(let branches, let otherwise):
        .choice(
          branches.map { Branch(when: $0.when.replacing(names), then: $0.then.replacing(names)) },
          otherwise: otherwise?.replacing(names))
      }
    return Syntax(kind: replaced, range: range)
  }
}
