import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Unsaved edits and references of objects that are deleted here, while others commit what concerns them.
@MainActor @Suite(.fewOnMainActor) struct RuleDeletionTests {
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

  private func insert<Model: PersistentModel>(_ model: Model) { context.insert(model) }

  private func others(_ sql: SQL) throws {
    try store.execute(sql)
    try context.refresh()
  }

  private func jobs() throws -> [[SQLValue]] {
    try store.query("SELECT note, rank, team_id, helper_id FROM rule_job ORDER BY id").map(\.values)
  }

  // MARK: Edits of what is deleted and inserted again

  @Test(arguments: [true, false])
  func `an edit survives a deletion that is canceled, whatever others commit meanwhile`(isSameValue: Bool) throws {
    job.note = "mine"
    context.delete(job)
    try others(isSameValue ? "UPDATE rule_job SET note = 'theirs', rank = 3" : "UPDATE rule_job SET rank = 3")
    #expect(job.isDeleted)
    context.insert(job)
    #expect(job.note == "mine" && job.rank == 3 && context.hasChanges && job.hasChanges)
    try context.save()
    #expect(try jobs() == [["mine", 3, .null, .null]] && !context.hasChanges)
  }

  @Test func `an edited reference survives it, in the list of its target too`() throws {
    #expect(team.jobs.isEmpty)
    job.team = team
    context.delete(job)
    #expect(team.jobs.isEmpty)
    try others("UPDATE rule_job SET rank = 3")
    context.insert(job)
    #expect(job.team === team && team.jobs == [job] && job.rank == 3)
    context.delete(job)
    try others("UPDATE rule_job SET rank = 4")
    context.rollback()
    #expect(job.team == nil && team.jobs.isEmpty && job.rank == 4 && !context.hasChanges)
  }

  @Test func `an edit is gone when the deletion is rolled back or saved`() throws {
    job.note = "mine"
    context.delete(job)
    try others("UPDATE rule_job SET rank = 3")
    context.rollback()
    #expect(job.note == "" && job.rank == 3 && !context.hasChanges)
    job.note = "mine"
    context.delete(job)
    try context.save()
    #expect(!context.hasChanges && job.isDeleted && job.note == "mine")
    context.insert(job)
    try context.save()
    #expect(try jobs() == [["mine", 3, .null, .null]])
  }

  @Test func `an edit survives a transaction that is thrown out of between the deletion and its end`() throws {
    job.note = "mine"
    context.delete(job)
    #expect(throws: CancellationError.self) {
      try context.transaction {
        context.insert(job)
        job.rank = 2
        throw CancellationError()
      }
    }
    #expect(job.isDeleted)
    try others("UPDATE rule_job SET price = NULL, rank = 3")
    context.insert(job)
    #expect(job.note == "mine" && job.rank == 3)
  }

  @Test func `an edit of what a cascade has deleted here survives it`() throws {
    job.team = team
    try context.save()
    job.note = "mine"
    context.delete(team)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0 && job.isDeleted)
    try others("UPDATE rule_job SET rank = 3")
    context.insert(team)
    #expect(job.note == "mine" && job.rank == 3 && job.team === team && !job.isDeleted)
  }

  @Test func `a refusing save compares a deletion that was canceled with what the object showed then`() throws {
    context.onConflict = .refuse
    context.delete(job)
    try others("UPDATE rule_job SET note = 'theirs'")
    context.insert(job)
    #expect(job.note == "theirs" && !context.hasChanges)
    job.note += ", mine"
    try context.save()
    #expect(try jobs() == [["theirs, mine", .null, .null, .null]])
  }

  @Test(arguments: [true, false])
  func `a refusing save compares an edit that a canceled deletion has kept with its own base`(isSameValue: Bool) throws
  {
    context.onConflict = .refuse
    job.note = "mine"
    context.delete(job)
    try others(isSameValue ? "UPDATE rule_job SET note = 'theirs'" : "UPDATE rule_job SET rank = 3")
    context.insert(job)
    #expect(job.note == "mine")
    if isSameValue {
      #expect(throws: ModelError.self) { try context.save() }
      try context.save(onConflict: .merge)
    } else {
      job.rank? += 1
      try context.save()
    }
    #expect(try jobs() == [["mine", isSameValue ? .null : 4, .null, .null]])
  }

  @Test func `a refusing save compares a deletion that was made while another save waited with what that has written`()
    async throws
  {
    context.onConflict = .refuse
    job.note = "mine"
    let (context, store) = (context, store)
    let (begun, end) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
    let other = Task.detached {
      try await store.write { _ in
        begun.continuation.finish()
        end.wait()
      }
    }
    for await _ in begun.stream {}
    let save = Task { try await context.saveWhenReady() }
    while context.owner.saver.underWay == nil { await Task.yield() }
    context.delete(job)
    end.signal()
    try await other.value
    try await save.value
    try others("UPDATE rule_job SET rank = 3")
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .conflict(let conflicts)? = error else { throw CancellationError() }
    #expect(conflicts.flatMap(\.properties).map(\.name) == ["rank"])
    context.rollback()
    context.delete(job)
    try context.save()
    #expect(try jobs().isEmpty)
  }

  // MARK: What goes with it, and comes back

  @Test(arguments: [true, false])
  func `what a rule has taken along comes back, what is new too`(isNew: Bool) throws {
    let (team, new, card) = (isNew ? RuleTeam() : team, RuleJob(), RuleCard())
    context.insert(team)
    (new.team, new.card) = (team, card)
    job.team = team
    #expect(Set(team.jobs.map(\.persistentModelID)) == [new.persistentModelID, job.persistentModelID])
    context.delete(team)
    #expect(new.isDeleted && card.isDeleted && job.isDeleted == isNew)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0)
    context.insert(team)
    #expect(!new.isDeleted && !job.isDeleted && !card.isDeleted && !team.isDeleted)
    #expect(new.team === team && job.team === team && team.jobs.count == 2 && card.job === new && new.card === card)
    try context.save()
    #expect(
      try store.query("SELECT team_id FROM rule_job").map(\.values) == [[.integer(key(team))], [.integer(key(team))]])
    #expect(try store.query("SELECT 1 FROM rule_card").count == 1)
  }

  private func key(_ model: any PersistentModel) -> Int64 { model.persistentModelID.rowKey ?? -1 }

  @Test(arguments: [true, false])
  func `an object that was never saved comes back with its links`(isAlone: Bool) throws {
    let (new, tag, other) = (RuleJob(), RuleTag(), RuleTag())
    context.insert(tag)
    try context.save()
    context.insert(other)
    new.team = team
    new.tags = [tag]
    tag.similar = [other]
    other.similar = [other, tag]
    context.delete(other)
    if isAlone { context.delete(new) } else { context.delete(team) }
    #expect(tag.jobs.isEmpty && tag.similar.isEmpty && new.isDeleted)
    if isAlone { context.insert(new) } else { context.insert(team) }
    context.insert(other)
    #expect(new.tags == [tag] && tag.jobs == [new] && tag.similar == [other] && other.similar.count == 2)
    try context.save()
    #expect(try store.query("SELECT 1 FROM rule_job_tags").count == 1)
    #expect(try store.query("SELECT 1 FROM rule_tag_similar").count == 3)
  }

  @Test(arguments: [true, false], [true, false])
  func `links of several objects come back, each with its own`(isRead: Bool, isCommitted: Bool) throws {
    let (new, tag) = (RuleJob(), RuleTag())
    context.insert(tag)
    try context.save()
    context.insert(new)
    new.team = team
    job.tags = [tag]
    if isRead { #expect(tag.jobs.count == 1) }
    new.tags = [tag]
    context.delete(team)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 1)
    if isCommitted { try others("UPDATE rule_job SET rank = 3") }
    context.insert(team)
    if isRead { #expect(tag.jobs.count == 2) }
    context.delete(job)
    if isRead { #expect(tag.jobs.count == 1) }
    context.insert(job)
    #expect(tag.jobs.count == 2 && job.tags == [tag] && new.tags == [tag])
  }

  @Test func `a deletion that is canceled is so in the lists of new objects, too`() throws {
    let (team, tag) = (RuleTeam(), RuleTag())
    context.insert(team)
    context.insert(tag)
    (job.team, job.tags) = (team, [tag])
    context.delete(job)
    #expect(team.jobs.isEmpty && tag.jobs.isEmpty)
    context.insert(job)
    #expect(team.jobs == [job] && tag.jobs == [job] && job.team === team && job.tags == [tag])
    try context.save()
    #expect(team.jobs == [job] && tag.jobs == [job])
  }

  @Test func `a deletion behind one that was canceled takes along what it does`() throws {
    job.team = team
    try context.save()
    context.delete(person)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 1)
    context.insert(person)
    context.delete(team)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0)
  }

  @Test func `what has gone with a deletion that was saved stays deleted`() throws {
    let (team, new) = (RuleTeam(), RuleJob())
    context.insert(team)
    new.team = team
    context.delete(team)
    job.rank = 1
    try context.save()
    context.insert(team)
    #expect(new.isDeleted && team.jobs.isEmpty)
    try context.save()
    #expect(try jobs().count == 1)
  }

  @Test func `what a cascade has taken along, and others have not, comes back with an object that is new`() throws {
    job.team = team
    context.delete(team)
    try others("DELETE FROM rule_team")
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0)
    context.insert(team)
    #expect(!job.isDeleted && job.team === team && team.jobs == [job])
    try context.save()
    #expect(try jobs() == [["", .null, 2, .null]])
  }

  // MARK: References to what is deleted here and by others

  @Test(arguments: [true, false], [true, false])
  func `a reference to an object that is deleted here and by others is nil after the save`(
    isNew: Bool, isRefreshed: Bool
  ) throws {
    let job = isNew ? RuleJob() : job
    if isNew {
      context.delete(self.job)
      context.insert(job)
    }
    job.helper = person
    context.delete(person)
    try store.execute("DELETE FROM rule_person")
    if isRefreshed { try context.refresh() }
    try context.save()
    #expect(job.helper == nil && !context.hasChanges)
    #expect(try jobs() == [["", .null, .null, .null]])
  }

  @Test func `a reference to a row that is deleted here and by others and comes back is nil, too`() throws {
    job.helper = person
    context.delete(person)
    let id = person.persistentModelID
    try others("DELETE FROM rule_person")
    try others("INSERT INTO rule_person (id, name) VALUES (\(id), 'ann')")
    #expect(job.helper?.isDeleted != false)
    try context.save()
    #expect(try job.helper == nil && jobs() == [["", .null, .null, .null]])
  }

  @Test func `an object that is deleted here and by others and inserted again keeps the references to it`() throws {
    job.helper = person
    context.delete(person)
    try others("DELETE FROM rule_person")
    context.insert(person)
    #expect(job.helper === person && person.helped == [job])
    try context.save()
    #expect(try job.helper === person && person.helped == [job] && jobs() == [["", .null, .null, 2]])
  }

  @Test(arguments: [true, false])
  func `what an unsaved edit has given to an object that is deleted here and by others goes with it`(isFetched: Bool)
    throws
  {
    job.team = team
    context.delete(team)
    if isFetched { #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0) }
    try others("DELETE FROM rule_team")
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 0)
    try context.save()
    #expect(try job.isDeleted && jobs().isEmpty && !context.hasChanges)
  }

  @Test func `a reference whose rule denies the deletion, or that others alone have taken the target of, is refused`()
    throws
  {
    job.owner = person
    context.delete(person)
    try others("DELETE FROM rule_person")
    #expect(throws: ModelError.self) { try context.save() }
    context.rollback()
    job.team = team
    try others("DELETE FROM rule_team")
    #expect(throws: ModelError.self) { try context.save() }
  }

  // MARK: Saves that fail

  @Test(arguments: [true, false], [true, false])
  func `a save that fails leaves the references to what is deleted`(waits: Bool, isSaved: Bool) async throws {
    let (new, target, first, second) = (RuleJob(), isSaved ? person : RulePerson(), RuleTeam(), RuleTeam())
    for model in [first, second] { context.insert(model) }
    context.insert(new)
    target.name = "bob"
    new.helper = target
    if isSaved { try context.save() }
    (first.code, second.code) = ("a", "a")
    let other = RuleJob()
    context.insert(other)
    other.helper = target
    job.helper = target
    context.delete(target)
    let error = await #expect(throws: ModelError.self) {
      if waits { try await context.saveWhenReady() } else { try context.save() }
    }
    guard case .notUnique? = error else { throw try #require(error) }
    context.insert(target)  // cancels the deletion
    #expect(other.helper === target && job.helper === target && new.helper === target && target.helped.count == 3)
    second.code = "b"
    if waits { try await context.saveWhenReady() } else { try context.save() }
    #expect(try store.query("SELECT count(*) FROM rule_job WHERE helper_id IS NOT NULL").map(\.values) == [[3]])
  }

  @Test func `an autosave that fails beside such a reference is tried again after an edit, and not by itself`()
    async throws
  {
    context.autosaveEnabled = true
    let (first, second, new, target) = (RuleTeam(), RuleTeam(), RuleJob(), RulePerson())
    for model in [first, second, new, target] as [any PersistentModel] { insert(model) }
    (first.code, second.code) = ("a", "a")
    new.helper = target
    context.delete(target)
    for number in 1...3 {
      job.note = "\(number)"
      while context.autosaveError == nil { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }  // turns of others
      context.autosaveError = nil
      for _ in 0..<20 { await Task.yield() }
      #expect(context.autosaveError == nil, "attempt \(number)")
    }
    second.code = "b"
    while context.hasChanges { await Task.yield() }
    #expect(try context.autosaveError == nil && jobs() == [["3", .null, .null, .null], ["", .null, .null, .null]])
  }

  @Test func `so does a save in a transaction, which goes on`() throws {
    let (first, second, new) = (RuleTeam(), RuleTeam(), RuleJob())
    try context.transaction {
      for model in [first, second] { context.insert(model) }
      context.insert(new)
      (first.code, second.code) = ("a", "a")
      new.helper = person
      context.delete(person)
      #expect(throws: ModelError.self) { try context.save() }
      context.insert(person)
      #expect(new.helper === person)
      second.code = "b"
    }
    #expect(try new.helper === person && jobs().last == ["", .null, .null, 1])
  }
}
