import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Unsaved references to objects that are deleted here, by others too, or in a save that fails.
@MainActor @Suite(.fewOnMainActor) final class RuleReferenceTests: RuleFixture {
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

  @Test(arguments: [true, false], [true, false])
  func `a reference to a row that others delete and bring back leads to the object that the row has then`(
    isNew: Bool, isSaved: Bool
  ) async throws {
    let (job, id) = (isNew ? RuleJob() : job, person.persistentModelID)
    if isNew { context.insert(job) }
    if isSaved { job.witness = person } else { job.helper = person }
    if isSaved { try context.save() }
    var target: RulePerson? { isSaved ? job.witness : job.helper }
    var shown: [String?] = []
    let token = observe { [job] in
      let target = isSaved ? job.witness : job.helper
      shown.append(target?.isDeleted == false ? target?.name : nil)
    }
    try others("DELETE FROM rule_person")
    #expect(person.isDeleted && target?.isDeleted != false)
    try others("INSERT INTO rule_person (id, name) VALUES (\(id), 'ann')")
    let back = try #require(try context.fetch(FetchDescriptor<RulePerson>()).first)
    #expect(back !== person && target === back)
    for _ in 0..<1000 where shown.last != "ann" { await Task.yield() }
    #expect(shown.last == "ann")
    #expect(isSaved ? back.seen == [job] : back.helped == [job])
    try context.save()
    #expect(target === back && !back.isDeleted && !context.hasChanges)
    context.delete(back)
    try context.save()
    #expect(target?.isDeleted != false)
    _ = token
  }

  @Test(arguments: [true, false])
  func `so it is for what another container deletes and brings back`(isNew: Bool) throws {
    let scratch = try Scratch()
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: RuleTeam.self, RulePerson.self, RuleJob.self, RuleTag.self, RuleCard.self,
        configurations: ModelConfiguration(url: URL(filePath: scratch.file())))
    }
    let (store, other) = (try open(), try open())
    let (context, person, saved) = (ModelContext(store), RulePerson(), RuleJob())
    context.insert(person)
    context.insert(saved)
    try context.save()
    let job = isNew ? RuleJob() : saved
    if isNew { context.insert(job) }
    job.helper = person
    try other.execute("DELETE FROM rule_person")
    try context.refresh()
    #expect(person.isDeleted && job.helper?.isDeleted != false)
    try other.execute("INSERT INTO rule_person (id, name) VALUES (1, 'ann')")
    try context.save()
    #expect(job.helper?.name == "ann" && job.helper?.isDeleted == false && job.helper?.helped == [job])
    #expect(try other.query("SELECT 1 FROM rule_job WHERE helper_id = 1").count == 1)
  }

  @Test func `an observer's assignment is kept where the row of the old target comes back`() throws {
    let (second, id) = (RulePerson(), person.persistentModelID)
    second.name = "bob"
    context.insert(second)
    try context.save()
    job.helper = person
    try others("DELETE FROM rule_person WHERE id = \(id)")
    var isFirst = true
    let token = observe { [job] in
      job.helper
    } willChange: { [job] _ in
      if isFirst { (isFirst, job.helper) = (false, second) }
    }
    try others("INSERT INTO rule_person (id, name) VALUES (\(id), 'ann')")
    #expect(job.helper === second && second.helped == [job])
    try context.save()
    #expect(try jobs() == [["", .null, .null, .integer(2)]])
    _ = token
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
