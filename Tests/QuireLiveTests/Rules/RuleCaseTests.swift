import Foundation
import Quire
import TestSupport
import Testing

/// What the oracle of declared rules has found, made small.
@MainActor @Suite(.fewOnMainActor) struct RuleCaseTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: RuleTeam.self, RulePerson.self, RuleJob.self, RuleTag.self, RuleCard.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
  }

  private func others(_ sql: SQL) throws {
    try store.execute(sql)
    try context.refresh()
  }

  @Test(arguments: [true, false], [true, false])
  func `a deleted object is out of a list that has no other side, and back when that is taken back`(
    isSaved: Bool, isReloaded: Bool
  ) throws {
    let (first, second) = (RuleTag(), RuleTag())
    context.insert(first)
    context.insert(second)
    try context.save()
    first.similar = [first, second]
    if isSaved { try context.save() }
    if isReloaded { try others("UPDATE rule_tag SET word = 'x' WHERE id = 1") }
    var runs: [Int] = []
    let token = observe { runs.append(first.similar.count) }
    context.delete(second)
    #expect(first.similar.count == 1)
    context.insert(second)
    #expect(first.similar.count == 2)
    context.delete(second)
    context.rollback()
    #expect(first.similar.count == (isSaved ? 2 : 0))
    if isSaved {
      context.delete(second)
      try context.save()
      #expect(first.similar.map { $0 === first } == [true])
    }
    _ = token
  }

  @Test func `an object that was never saved, and is deleted, is out of it too`() throws {
    let (first, second) = (RuleTag(), RuleTag())
    context.insert(first)
    context.insert(second)
    first.similar = [second]
    #expect(first.similar.count == 1)
    context.delete(second)
    #expect(first.similar.isEmpty)
    try context.save()
    #expect(first.similar.isEmpty)
  }

  @Test func `what an unsaved edit has given to a deleted object goes with it, though others change the row`() throws {
    let (team, job) = (RuleTeam(), RuleJob())
    context.insert(team)
    context.insert(job)
    try context.save()
    job.team = team
    context.delete(team)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0)
    try others("UPDATE rule_job SET note = 'changed'")
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0)
    try context.save()
    #expect(try store.query("SELECT 1 FROM rule_job").isEmpty)
  }

  @Test
  func `a reference to a row that noAction has let go is not nil in fetches, whether its object is edited or not`()
    throws
  {
    let (person, job) = (RulePerson(), RuleJob())
    context.insert(person)
    context.insert(job)
    job.witness = person
    try context.save()
    let without = FetchDescriptor<RuleJob>(predicate: #Predicate { $0.witness == nil })
    context.delete(person)
    #expect(try context.fetchCount(without) == 0)
    job.note = "edited"
    #expect(try context.fetchCount(without) == 0)
    try context.save()
    #expect(try context.fetchCount(without) == 0 && job.witness?.isDeleted != false)
    job.note = "edited again"
    #expect(try context.fetchCount(without) == 0)
  }

  @Test(arguments: [true, false])
  func `a new object may refer to a deleted one whose unique value another new one takes`(waits: Bool) async throws {
    let (person, job, next) = (RulePerson(), RuleJob(), RulePerson())
    context.insert(person)
    try context.save()
    context.insert(job)
    job.helper = person
    context.delete(person)
    context.insert(next)
    if waits { try await context.saveWhenReady() } else { try context.save() }
    #expect(job.helper == nil && person.isDeleted && !context.hasChanges)
    #expect(
      try store.query("SELECT helper_id, (SELECT max(id) FROM rule_person) FROM rule_job").map(\.values) == [
        [.null, 2]
      ])
  }

  @Test(arguments: [true, false])
  func `a save that fails leaves a new object's reference to what it would have deleted`(waits: Bool) async throws {
    let (person, job) = (RulePerson(), RuleJob())
    context.insert(person)
    try context.save()
    try store.execute("CREATE TRIGGER closed BEFORE INSERT ON rule_job BEGIN SELECT RAISE(ABORT, 'closed'); END")
    context.insert(job)
    job.helper = person
    context.delete(person)
    await #expect(throws: (any Error).self) {
      if waits { try await context.saveWhenReady() } else { try context.save() }
    }
    context.insert(person)  // cancels the deletion
    #expect(job.helper === person && person.helped == [job])
    try store.execute("DROP TRIGGER closed")
    try context.save()
    #expect(try store.query("SELECT helper_id FROM rule_job").map(\.values) == [[1]])
  }

  @Test(arguments: [true, false])
  func `a one-to-one that is unique goes from an object that is deleted to one that is there`(waits: Bool) async throws
  {
    let (job, first, second) = (RuleJob(), RuleCard(), RuleCard())
    for model in [first, second] { context.insert(model) }
    context.insert(job)
    first.job = job
    try context.save()
    job.card = second
    context.delete(first)
    if waits { try await context.saveWhenReady() } else { try context.save() }
    #expect(first.isDeleted && job.card === second && !context.hasChanges)
    #expect(try store.query("SELECT id, job_id FROM rule_card").map(\.values) == [[2, 1]])
  }

  @Test func `a one-to-one that is unique refuses what two contexts have given to one object`() throws {
    let (job, first, second) = (RuleJob(), RuleCard(), RuleCard())
    for model in [first, second] { context.insert(model) }
    context.insert(job)
    try context.save()
    first.job = job
    try others("UPDATE rule_card SET job_id = \(job) WHERE id = \(second)")
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .notUnique("RuleCard", ["job"], _)? = error else { throw try #require(error) }
    context.rollback()
    #expect(job.card === second)
    job.card = first
    #expect(second.job == nil)
    try context.save()
    let rows = try store.query("SELECT id, job_id FROM rule_card ORDER BY id").map(\.values)
    #expect(rows == [[1, 1], [2, .null]])
  }
}
