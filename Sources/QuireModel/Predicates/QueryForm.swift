import Foundation
import QuireRow
import QuireSQLite

/// What a fetch is apart from the values it captures: fetches of one form have the same SQL, with other bindings.
///
/// Two fetches written at one place have one form, unless a value chooses the SQL: nil, a Bool and the case of an enum
/// are part of it.
struct QueryForm: Hashable {
  enum Answer: Hashable {
    /// With the objects of these to-one properties.
    case objects(bringing: [Int])
    case count, identifiers
  }

  let answer: Answer
  let model: ObjectIdentifier
  /// The type of the predicate's expression, which says how its parts are nested.
  var expression: ObjectIdentifier?
  /// What the type does not say: key paths by identity, operators, closure parameters, which values are nil.
  var marks: [Int] = []
  /// Values that are part of the form.
  var constants: [Value] = []
}

/// A part of a predicate that is known whole by its type and by what it notes: with the same notes it has the same SQL.
protocol FormedExpression: PredicateExpression {
  func note(in form: inout FormReader)
}

/// Which types of expressions are formed, remembered: asking a type is slow.
private enum FormedTypes {
  private static let known = Locked<[ObjectIdentifier: (any FormedExpression.Type)?]>([:])

  static func formed(_ type: Any.Type) -> (any FormedExpression.Type)? {
    known.withLock { known in
      if let type = known[ObjectIdentifier(type)] { return type }
      let formed = type as? any FormedExpression.Type
      known[ObjectIdentifier(type)] = formed
      return formed
    }
  }
}

/// Reads the form of a fetch, and the values it captures.
struct FormReader {
  private(set) var form: QueryForm
  /// In the order of the parts that have them.
  private(set) var captured: [BoundValue] = []
  /// The key paths in the form. A cache of forms must keep them alive, because forms compare them by their addresses.
  private(set) var keyPaths: [AnyKeyPath] = []
  private let store: Store
  private let page: [Value]
  private var variables: [PredicateExpressions.VariableID] = []
  /// Whether every part of the fetch is known.
  private var isWhole = true

  /// Nil if the fetch has a part whose SQL may depend on more than its form.
  init?<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, for answer: QueryForm.Answer, in store: Store) {
    self.store = store
    form = QueryForm(answer: answer, model: ObjectIdentifier(Model.self))
    let (limit, offset) = (descriptor.fetchLimit, descriptor.fetchOffset.flatMap { $0 > 0 ? $0 : nil })
    page = [limit.map { max(0, $0) }, offset].compactMap { $0.map { .integer(Int64($0)) } }
    note((limit == nil ? 0 : 1) + (offset == nil ? 0 : 2))
    if let predicate = descriptor.predicate {
      let type = type(of: predicate.expression) as Any.Type
      guard let formed = FormedTypes.formed(type) else { return nil }
      form.marks.reserveCapacity(16)
      form.expression = ObjectIdentifier(type)
      note(predicate.variable)
      note(predicate.expression, as: formed)
    }
    for descriptor in descriptor.sortBy {
      guard let keyPath = descriptor.keyPath else { return nil }
      note(keyPath)
      note(descriptor.order == .forward ? 1 : 0)
    }
    if !isWhole { return nil }
  }

  private mutating func note<E: FormedExpression>(_ expression: any PredicateExpression, as type: E.Type) {
    if let expression = expression as? E { expression.note(in: &self) } else { isWhole = false }
  }

  mutating func note(_ part: some FormedExpression) { part.note(in: &self) }

  mutating func note(_ first: some FormedExpression, _ second: some FormedExpression) {
    first.note(in: &self)
    second.note(in: &self)
  }

  mutating func note<M>(_ variable: PredicateExpressions.Variable<M>) {
    if let known = variables.firstIndex(of: variable.key) {
      note(known)
    } else {
      note(variables.count)
      variables.append(variable.key)
    }
  }

  mutating func note(_ keyPath: AnyKeyPath) {
    note(Int(bitPattern: ObjectIdentifier(keyPath)))
    keyPaths.append(keyPath)
  }

  mutating func note(_ mark: Int) { form.marks.append(mark) }

  mutating func note<Captured>(captured value: Captured) {
    let isPlain = Captured.self == String.self || Captured.self == Int.self  // the most, and quicker without a look
    guard let value = isPlain ? value : Translation.unwrapped(value) else {
      let isWhole = (value as? any AnyOptional)?.payload == nil
      return note(isWhole ? 0 : -2)  // of optionals in optionals, which of them is nil
    }
    if let captured = BoundValue(value, in: store) {
      if case .identifier(let entity) = captured.kind { note(2 + Int(entity)) } else { note(1) }
      self.captured.append(captured)
    } else if value is Bool || Self.isEnum(value), let stored = try? Translation.storedValue(value) {
      note(-1)
      form.constants.append(stored)
    } else {
      isWhole = false
    }
  }

  /// Whether it is one of few values: a struct with a raw value may have any.
  private static func isEnum(_ value: Any) -> Bool {
    value is any RawRepresentable && Mirror(reflecting: value).displayStyle == .enum
  }

  /// What a statement of this form binds, in this order: the captured values, limit and offset.
  var values: [Value] { captured.map(\.stored) + page }

  /// Whether each captured value can be told from the others by what it is.
  var hasDistinctValues: Bool { Set(captured).count == captured.count }
}
