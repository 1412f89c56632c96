import QuireRow
import QuireSQLite

/// How a fetch finds its objects: the SQL statement, and what is evaluated on objects afterwards.
public struct FetchExplanation: Hashable, Sendable {
  /// The statement, with `?` for its values.
  public let sql: String
  /// The lines of EXPLAIN QUERY PLAN.
  public let plan: [String]
  /// The parts of the predicate without SQL, as Swift source, and key paths of the order that lead to no column: evaluated
  /// for each object that the statement finds.
  public let computed: [String]
}

extension FetchExplanation: CustomStringConvertible {
  public var description: String {
    ([sql] + plan.map { "  " + $0 } + computed.map { "then asks each object ‘\($0)’" }).joined(separator: "\n")
  }
}

extension ModelContext {
  /// How a fetch would find its objects, without fetching them: prepares the statement and reads its plan.
  ///
  /// - Throws: As ``fetch(_:)`` does.
  public func explain<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> FetchExplanation {
    try owner.following.catchUp()
    let query = try ResolvedQuery(
      descriptor, in: try owner.requireStore(), evaluating: descriptor.fullText == nil, asking: owner)
    let sql = try (query.remaining == nil ? query.select : query.candidates).statement()
    let plan = try owner.read { connection in
      try connection.query("EXPLAIN QUERY PLAN " + sql.text, sql.bindings).rows.compactMap { row in
        if case .text(let line)? = row.last { line } else { nil }
      }
    }
    return FetchExplanation(sql: sql.text, plan: plan, computed: query.computedParts)
  }
}

extension ResolvedQuery {
  /// The source of each part that Swift computes: of the condition, then of the order.
  fileprivate var computedParts: [String] {
    (remaining?.condition.computedParts ?? []) + select.order.flatMap(\.expression.computedParts)
  }
}

extension RowExpression {
  /// The source of each part that Swift computes, without duplicates.
  fileprivate var computedParts: [String] {
    if case .computed(let value) = self { return [value.words] }
    return operands.flatMap(\.computedParts).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
