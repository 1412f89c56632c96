/// Names that a query has given to values by `as`, and their values.
struct GivenNames {
  /// By name in lower case.
  private var values: [String: Syntax] = [:]
  /// The same without names of the model's own.
  private var foreign: [String: Syntax] = [:]

  init(_ selected: [ModelQuery.Selected], in model: FileModel) {
    values = Dictionary(
      selected.filter(\.isNamed).map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    let own = Set(model.names.map { $0.lowercased() } + model.columns.map { $0.column.lowercased() })
    foreign = values.filter { !own.contains($0.key) }
  }

  /// For `order by` and `having`: a given name takes precedence over the model's, but not inside conditions on rows:
  /// `count(books) as books order by count(books)` counts books.
  func first(in syntax: Syntax) -> Syntax { replacing(syntax, values) }

  /// For `where` and `group by`: the model's names take precedence over given ones.
  func last(in syntax: Syntax) -> Syntax { replacing(syntax, foreign) }

  private func replacing(_ syntax: Syntax, _ names: [String: Syntax]) -> Syntax {
    if names.isEmpty { return syntax }
    func one(_ part: Syntax) -> Syntax { replacing(part, names) }
    let kind: Syntax.Kind =
      switch syntax.kind {
      case .literal, .spelled, .parameter, .everything, .row: syntax.kind
      case .path(let path): path.count == 1 ? names[path[0].text.lowercased()]?.kind ?? syntax.kind : syntax.kind
      case .unary(let sign, let a): .unary(sign, one(a))
      case .binary(let sign, let a, let b): .binary(sign, one(a), one(b))
      case .chain(let first, let links):
        .chain(one(first), links.map { Syntax.Link(sign: $0.sign, value: one($0.value)) })
      case .all(let parts): .all(parts.map(one))
      case .any(let parts): .any(parts.map(one))
      case .isNull(let a, let isNegated): .isNull(one(a), isNegated: isNegated)
      case .isTruth(let a, let truth, let isNegated): .isTruth(one(a), truth, isNegated: isNegated)
      case .cast(let a, let type): .cast(one(a), to: type)
      case .oneOf(let a, let list, let isNegated): .oneOf(one(a), list.map(one), isNegated: isNegated)
      case .between(let a, let low, let high, let isNegated):
        .between(one(a), one(low), one(high), isNegated: isNegated)
      case .match(let word, let a, let b, let isNegated): .match(word, one(a), one(b), isNegated: isNegated)
      case .call(let name, let arguments, let condition, let isDistinct):
        if ListWords.contains(name.text, arguments: arguments.count) {
          // A condition in it is about the list's rows, and looked up there.
          .call(name, arguments.map { replacing($0, foreign) }, where: condition, isDistinct: isDistinct)
        } else {
          .call(name, arguments.map(one), where: condition, isDistinct: isDistinct)
        }
      case .choice(let branches, let otherwise):
        .choice(
          branches.map { Syntax.Branch(when: one($0.when), then: one($0.then)) }, otherwise: otherwise.map(one))
      }
    return Syntax(kind: kind, range: syntax.range)
  }
}
