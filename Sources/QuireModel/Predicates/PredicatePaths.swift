import Foundation
package import QuireRow

extension PredicateExpressions.Variable: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    if translation.isOuter(key) {
      throw UntranslatablePredicate(
        part: words(in: translation), reason: "a closure over related rows looks at those alone",
        advice: "Compare with captured values inside it, and with the outer row outside it.")
    }
    if let known = translation[key] { return known.term }
    throw UntranslatablePredicate(
      part: "a closure's parameter", reason: "it belongs to another predicate", advice: "Use this closure's own.")
  }

  func words(in translation: Translation) -> String { translation[key]?.name ?? "$?" }
}

extension PredicateExpressions.Value: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    .captured(translation.standIns?.value(for: value) ?? value)
  }

  func words(in translation: Translation) -> String {
    switch value {
    case is Bool, is Int: "\(value)"
    default: "a \(Output.self)"
    }
  }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term { .captured(Output.none as Any) }
  func words(in translation: Translation) -> String { "nil" }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
    switch try translation.term(of: root) {
    case .captured(let value):
      guard let base = value as? Root.Output else {
        throw translation.refusal(self, "a captured value is nil here", "Unwrap it before the predicate.")
      }
      return .captured(base[keyPath: keyPath])
    case .row(let row): return try property(of: row, in: translation)
    case .expression(let value): return try property(of: value, in: translation)
    case .toMany(let rows, _):
      if let asked = translation.property(kind, of: rows) { return .expression(asked) }
      if Root.Output.self is any PersistentModel.Type {
        throw translation.refusal(
          self, "of a one-to-one relationship whose column is in the other table only nil is translated",
          "Compare the relationship with nil, or fetch the other model.")
      }
      throw translation.toManyRefusal(self)
    case .range: throw translation.refusal(self, "it depends on the row", "Compare with the bounds instead.")
    }
  }

  func words(in translation: Translation) -> String {
    let base = translation.words(root)
    switch kind {
    case .collectionCount: return base + ".count"
    case .collectionIsEmpty: return base + ".isEmpty"
    case .collectionFirst: return base + ".first"
    case .bidirectionalCollectionLast: return base + ".last"
    default:
      if let name = translation.resolver.name(of: keyPath, from: Root.Output.self) { return "\(base).\(name)" }
      let described = "\(keyPath)".split(separator: ".", maxSplits: 1).last.map(String.init) ?? ""
      return described.isEmpty || described.contains("<") ? "\(base).(a \(Output.self))" : "\(base).\(described)"
    }
  }

  private func property(of row: Row, in translation: Translation) throws(UntranslatablePredicate) -> Term {
    if let term = row.property(keyPath, resolving: translation.resolver, takesPaths: false) { return term }
    throw translation.refusal(
      self, "it is not a stored property of \(row.type)", "Write the condition with stored properties.")
  }

  private func property(of value: RowExpression, in translation: Translation) throws(UntranslatablePredicate) -> Term {
    let (isText, isBlob) = (Columns.isText(Root.Output.self), Root.Output.self == Data.self)
    // `Data` has its own `count` and `isEmpty`, which Foundation does not recognize.
    if (isText && kind == .collectionCount) || (isBlob && keyPath == \Data.count) {
      return .expression(.count(value).folded)
    }
    if (isText && kind == .collectionIsEmpty) || (isBlob && keyPath == \Data.isEmpty) {
      return .expression(.compare(.equalOrAbsent, value, .literal(isText ? "" : .blob(Data()))).folded)
    }
    if kind == nil {
      if case .sameValue = translation.resolver.resolve(keyPath, from: Root.Output.self) { return .expression(value) }
      if Columns.isRawValue(keyPath, of: Root.Output.self) { return .expression(value) }
    }
    let type = Root.Output.self
    throw translation.refusal(
      self, "a column of \(type) is compared whole",
      type is any RawRepresentable.Type
        ? "Compare with a captured \(type), or make it CaseIterable so that its rawValue is known."
        : "Store what you want to ask for as a property of its own.")
  }
}

extension Row {
  /// The property of the row's model that a key path names; nil if it is not stored.
  ///
  /// - Parameter takesPaths: Whether the key path may have several steps. Pass false for a key path that may be a
  ///   computed property, because that reads other properties just as a path does.
  func property(_ keyPath: AnyKeyPath, resolving resolver: any PathResolver, takesPaths: Bool) -> Term? {
    let single = resolver.resolve(keyPath, from: type)
    let path = single.map { [$0] } ?? (takesPaths ? resolver.resolvePath(keyPath, from: type) : nil)
    guard let found = path else { return nil }
    var row = self
    for (index, resolution) in found.enumerated() {
      let isLast = index == found.count - 1
      switch resolution {
      case .column(let name) where isLast: return .expression(.column(ColumnPath(row.steps, name)))
      case .key(let name) where isLast:
        // The reference holds the key, even if the row is gone: no join is needed.
        if let reference = row.reference, row.steps.last?.key == name { return .expression(.column(reference)) }
        return .expression(.column(ColumnPath(row.steps, name)))
      case .expression(let value) where isLast: return .expression(value)
      case .toOne(let step, let target): row = Row(steps: row.steps + [step], type: target)
      case .toMany(let relation, let target) where isLast:
        return .toMany(RelatedRows(relation, behind: row.steps), target)
      default: return nil
      }
    }
    return found.isEmpty ? nil : .row(row)
  }
}

/// The column that a key path from a model names, through to-one relationships; sort descriptors use it.
///
/// Nil if it is not stored, or is a to-many relationship.
package func columnPath(of keyPath: AnyKeyPath, from type: Any.Type, resolving resolver: some PathResolver)
  -> ColumnPath?
{
  switch Row(steps: [], type: type).property(keyPath, resolving: resolver, takesPaths: true) {
  case .expression(.column(let path)): path
  case .row(let row): row.reference
  default: nil
  }
}

/// How Swift types map to columns.
package enum Columns {
  static func isText(_ type: Any.Type) -> Bool { type is any StringProtocol.Type }

  /// Whether SQL can compare values of the type.
  static func isStorable(_ type: Any.Type) -> Bool {
    func payload<T: AnyOptional>(_: T.Type) -> Any.Type { T.wrapped }
    func raw<R: RawRepresentable>(_: R.Type) -> Any.Type { R.RawValue.self }
    if let optional = type as? any AnyOptional.Type { return isStorable(payload(optional)) }
    if type is any StoredValue.Type || isText(type) || type == PersistentIdentifier.self { return true }
    guard let wrapper = type as? any RawRepresentable.Type else { return false }
    return isStorable(raw(wrapper))
  }

  /// What SQLite compares and sorts a value of the type by: the value itself, except for decimals, which are text.
  static func ordered(_ value: RowExpression, as type: Any.Type) -> RowExpression {
    isDecimal(type) ? RowExpression.decimalOrder(value).folded : value
  }

  package static func isDecimal(_ type: Any.Type) -> Bool { type == Decimal.self || type == Decimal?.self }

  /// Whether SQLite orders the column as Swift orders the type, by what ``ordered(_:as:)`` makes of it.
  static func ordersAlike(_ type: Any.Type) -> Bool {
    if type == PersistentIdentifier.self { return true }  // of one model, by key
    if type is any StoredValue.Type, !(type is any RawRepresentable.Type) { return true }
    if type is any StringProtocol.Type { return true }
    guard let listed = type as? any (CaseIterable & RawRepresentable & Comparable).Type else { return false }
    return ordersByRawValue(listed)
  }

  private static func ordersByRawValue<T: CaseIterable & RawRepresentable & Comparable>(_: T.Type) -> Bool {
    let values = T.allCases.sorted().map { ($0.rawValue as? any StoredValue).flatMap { try? Value(storing: $0) } }
    return zip(values, values.dropFirst()).allSatisfy { a, b in
      guard let a, let b else { return false }
      return a.precedes(b)
    }
  }

  /// Whether the path is `\T.rawValue`, determined by trying it on all cases: key paths through a protocol do not equal
  /// literal ones, and a computed property of the same type must not be mistaken for it.
  static func isRawValue(_ keyPath: AnyKeyPath, of type: Any.Type) -> Bool {
    guard let listed = type as? any (CaseIterable & RawRepresentable).Type else { return false }
    return isRawValue(keyPath, in: listed)
  }

  private static func isRawValue<T: CaseIterable & RawRepresentable>(_ keyPath: AnyKeyPath, in _: T.Type) -> Bool {
    guard let path = keyPath as? KeyPath<T, T.RawValue> else { return false }
    return !T.allCases.isEmpty && T.allCases.allSatisfy { isEqual($0[keyPath: path], $0.rawValue) }
  }

  private static func isEqual(_ a: Any, _ b: Any) -> Bool {
    guard let a = a as? any Equatable else { return false }
    return equals(a, b)
  }

  private static func equals<E: Equatable>(_ a: E, _ b: Any) -> Bool { a == b as? E }
}
