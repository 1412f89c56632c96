import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Unsaved edits of objects that are deleted here and inserted again, while others commit what concerns them.
@MainActor @Suite(.fewOnMainActor) final class RuleDeletionTests: RuleFixture {
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

  @Test(arguments: [true, false])
  func `an edited reference survives it in a list that is read in between`(isNew: Bool) throws {
    let context = ModelContext(store)  // whose objects have no lists yet
    let team = try #require(try context.get(RuleTeam.self, key: 1))
    let job = isNew ? RuleJob() : try #require(try context.get(RuleJob.self, key: 1))
    context.insert(job)
    job.team = team
    context.delete(job)
    #expect(team.jobs.isEmpty)
    context.insert(job)
    #expect(job.team === team && team.jobs == [job])
    context.delete(job)
    #expect(team.jobs.isEmpty)
    context.rollback()
    #expect(team.jobs.isEmpty)
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
    try await saveBehindAnother { context.delete(job) }
    try others("UPDATE rule_job SET rank = 3")
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .conflict(let conflicts)? = error else { throw CancellationError() }
    #expect(conflicts.flatMap(\.properties).map(\.name) == ["rank"])
    context.rollback()
    context.delete(job)
    try context.save()
    #expect(try jobs().isEmpty)
  }

  @Test(arguments: [true, false])
  func `so it does with one of a new object that was being saved`(isChanged: Bool) async throws {
    context.onConflict = .refuse
    let new = RuleJob()
    context.insert(new)
    try await saveBehindAnother { context.delete(new) }
    #expect(try jobs().count == 2 && new.isDeleted && context.hasChanges)
    guard isChanged else {
      try context.save()
      #expect(try jobs().count == 1 && !context.hasChanges)
      return
    }
    try others("UPDATE rule_job SET rank = 3 WHERE id = 2")
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .conflict(let conflicts)? = error else { throw CancellationError() }
    #expect(conflicts.flatMap(\.properties).map(\.name) == ["rank"] && conflicts.first?.kind == .deletedHere)
    try context.save(onConflict: .merge)
    #expect(try jobs().count == 1 && !context.hasChanges)
  }

  /// Runs the body while a save of the context waits for another writer.
  private func saveBehindAnother(_ body: () -> Void) async throws {
    let (context, store) = (context, store)
    let (begun, end) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
    let other = Task.detached {
      try await store.write { _ in
        begun.continuation.finish()
        end.wait()
        end.signal()  // for another run
      }
    }
    for await _ in begun.stream {}
    let save = Task { try await context.saveWhenReady() }
    while context.owner.saver.underWay == nil { await Task.yield() }
    body()
    end.signal()
    try await other.value
    try await save.value
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

  private func teammate(isNew: Bool) throws -> RuleJob {
    let (job, parent) = (isNew ? RuleJob() : job, RuleJob())
    for model in [job, parent] { context.insert(model) }
    (job.team, job.parent) = (team, parent)
    if !isNew { try context.save() }
    context.delete(team)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == (isNew ? 2 : 1) && job.isDeleted)
    return job
  }

  @Test(arguments: [true, false], [true, false])
  func `what was deleted for itself, too, does not come back with what it went with`(isNew: Bool, isRepeated: Bool)
    throws
  {
    let job = try teammate(isNew: isNew)
    if isRepeated { context.insert(job) }
    context.delete(job)
    context.insert(team)
    #expect(!team.isDeleted && job.isDeleted && team.jobs.isEmpty)
    context.insert(job)
    #expect(!job.isDeleted && job.team === team && team.jobs == [job])
    context.delete(job)
    try context.save()
    #expect(try jobs().count == (isNew ? 2 : 1))
  }

  @Test func `nor if others move it away`() throws {
    let job = try teammate(isNew: false)
    context.delete(job)
    try others("UPDATE rule_job SET team_id = NULL")
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == 1 && job.isDeleted)
    try context.save()
    #expect(try jobs().count == 1)
  }

  @Test(arguments: [true, false])
  func `what goes with two objects comes back when neither is deleted any longer`(isNew: Bool) throws {
    let job = try teammate(isNew: isNew)
    let parent = try #require(job.parent)
    context.delete(parent)
    context.insert(team)
    #expect(job.isDeleted && team.jobs.isEmpty)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == (isNew ? 1 : 0))
    context.insert(parent)
    #expect(!job.isDeleted && team.jobs == [job] && parent.children == [job])
    (parent.team, job.rank) = (team, 1)
    context.delete(team)
    #expect(try context.fetchCount(FetchDescriptor<RuleJob>()) == (isNew ? 1 : 0))
    context.insert(team)
    #expect(!job.isDeleted && !parent.isDeleted && team.jobs.count == 2)
    try context.save()
    #expect(try jobs().count == (isNew ? 3 : 2))
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
}
