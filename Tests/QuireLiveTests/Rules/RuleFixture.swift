import Quire

@testable import QuireModel

/// A job, a team and a person that are saved, for suites about what becomes of them.
@MainActor class RuleFixture {
  let store: ModelContainer
  let context: ModelContext
  let job = RuleJob()
  let team = RuleTeam()
  let person = RulePerson()

  init() throws {
    store = try ModelContainer(
      for: RuleTeam.self, RulePerson.self, RuleJob.self, RuleTag.self, RuleCard.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    for model in [job, team, person] as [any PersistentModel] { insert(model) }
    try context.save()
  }

  func insert<Model: PersistentModel>(_ model: Model) { context.insert(model) }

  func others(_ sql: SQL) throws {
    try store.execute(sql)
    try context.refresh()
  }

  func jobs() throws -> [[SQLValue]] {
    try store.query("SELECT note, rank, team_id, helper_id FROM rule_job ORDER BY id").map(\.values)
  }
}
