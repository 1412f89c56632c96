import Foundation
import Quire

/// Live results that are kept from the beginning, each with the same query made again.
@MainActor final class RuleLive {
  private var probes: [(name: String, isRight: (ModelContext) throws -> String?)] = []

  init(_ context: ModelContext) throws {
    let word = "p"
    try list("jobs by note", context, FetchDescriptor<RuleJob>(sortBy: [SortDescriptor(\.note)]))
    try list(
      "three jobs in a room", context,
      FetchDescriptor<RuleJob>(
        predicate: #Predicate { $0.room != nil }, sortBy: [SortDescriptor(\.slot), SortDescriptor(\.note)],
        fetchLimit: 3))
    try list(
      "jobs by their team's code", context,
      FetchDescriptor<RuleJob>(
        predicate: #Predicate { $0.owner != nil }, sortBy: [SortDescriptor(\.team?.code)], fetchLimit: 4, fetchOffset: 1
      ))
    try list(
      "tagged", context, FetchDescriptor<RuleJob>(predicate: #Predicate { $0.tags.contains { $0.word == word } }))
    try list(
      "parents", context, FetchDescriptor<RuleJob>(predicate: #Predicate { !$0.children.isEmpty || $0.card != nil }))
    try list(
      "witnessed by ann", context, FetchDescriptor<RuleJob>(predicate: #Predicate { $0.witness?.name == "ann" }))
    try list(
      "similar", context, FetchDescriptor<RuleTag>(predicate: #Predicate { $0.similar.contains { $0.word == word } }))
    let count = try context.liveCount(RuleJob.self, where: #Predicate { $0.helper != nil })
    probes.append(
      (
        "helped",
        { fresh in
          let expected = try fresh.fetchCount(FetchDescriptor<RuleJob>(predicate: #Predicate { $0.helper != nil }))
          return count.value == expected ? nil : "\(count.value), expected \(expected)"
        }
      ))
    let sum = try context.liveSum(\RuleJob.price)
    probes.append(
      (
        "sum",
        { fresh in
          let expected = try fresh.fetchSum(\RuleJob.price)
          return sum.value == expected ? nil : "\(sum.value), expected \(expected)"
        }
      ))
    let sql: SQL =
      "SELECT j.id, t.title, count(c.id) FROM rule_job j LEFT JOIN rule_team t ON t.id = j.team_id LEFT JOIN rule_card c ON c.job_id = j.id GROUP BY 1 ORDER BY 1"
    let records = try context.live(sql: sql, key: "id")
    probes.append(
      (
        "sql",
        { fresh in
          let (found, expected) = (records.map(\.values), try fresh.container.query(sql).map(\.values))
          return found == expected ? nil : "\(found), expected \(expected)"
        }
      ))
  }

  private func list<Model: PersistentModel>(
    _ name: String, _ context: ModelContext, _ descriptor: FetchDescriptor<Model>
  ) throws {
    let live = try context.live(descriptor)
    probes.append(
      (
        name,
        { fresh in
          let found = live.map { $0.persistentModelID.rowKey ?? -1 }
          let expected = try fresh.fetchIdentifiers(descriptor).compactMap(\.rowKey)
          if let error = live.error { return "\(error)" }
          return found == expected ? nil : "\(found), expected \(expected)"
        }
      ))
  }

  func check(_ store: ModelContainer, _ side: String) throws {
    let fresh = ModelContext(store, isolation: nil)
    for probe in probes {
      if let problem = try probe.isRight(fresh) {
        throw RuleRun.Difference(description: "\(side): live \(probe.name): \(problem)")
      }
    }
  }
}
