import Quire
import TestSupport
import Testing

/// Delete rules that no foreign key expresses, and relationships of a model with itself.
@Suite(.fewAtOnce) struct DeleteRuleTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(
      for: Crate.self, Part.self, Guild.self, Member.self, Fan.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
  }

  @Test func `cascade on a to-one takes its target along, saved or not`() throws {
    let saved = Crate("saved")
    saved.lid = Part("lid")
    context.insert(saved)
    try context.save()
    let unsaved = Crate("unsaved")
    unsaved.lid = Part("new lid")
    context.insert(unsaved)
    let other = ModelContext(store)
    let theirs = try #require(try other.all(Crate.self).first)
    other.delete(theirs)  // its lid has not been read
    try other.save()
    context.delete(unsaved)
    try context.save()
    #expect(saved.isDeleted && saved.lid?.isDeleted == true)
    #expect(try store.value("SELECT count(*) FROM part") == 0)
  }

  @Test func `cascade on a many to many takes the targets along`() throws {
    let crate = Crate("crate")
    crate.parts = [Part("a"), Part("b")]
    let rest = Part("rest")
    context.insert(crate)
    context.insert(rest)
    try context.save()
    let parts = crate.parts
    context.delete(crate)
    #expect(parts.allSatisfy { $0.isDeleted } && !rest.isDeleted)
    try context.save()
    #expect(try store.query("SELECT name FROM part").map(\.values) == [["rest"]])
    #expect(try store.value("SELECT count(*) FROM crate_parts") == 0)
  }

  @Test func `deny on a many to many refuses by name while there are any`() throws {
    let guild = Guild("guild")
    guild.members = [Member("m")]
    context.insert(guild)
    try context.save()
    context.delete(guild)
    let error = #expect(throws: ModelError.self) { try context.save() }
    #expect(error?.description.hasPrefix("Guild 1 was not deleted: it has 1 Member in members, whose ") == true)
    context.rollback()
    #expect(!guild.isDeleted && guild.members.count == 1)
    guild.members = []
    context.delete(guild)
    try context.save()
    #expect(try store.value("SELECT count(*) FROM guild") == 0)
  }

  @Test func `many to many of a model with itself, both ways`() throws {
    let (a, b, c) = (Fan("a"), Fan("b"), Fan("c"))
    for fan in [a, b, c] { context.insert(fan) }
    a.follows = [b, c, a]
    c.followers.append(b)
    #expect(b.followers.map(\.name) == ["a"] && c.followers.map(\.name) == ["a", "b"])
    #expect(b.follows.map(\.name) == ["c"] && a.followers.map(\.name) == ["a"])
    try context.save()
    let other = ModelContext(store)
    let fans = try other.all(Fan.self)
    #expect(fans.map { $0.follows.map(\.name) } == [["a", "b", "c"], ["c"], []])
    #expect(fans.map { $0.followers.map(\.name) } == [["a"], ["a"], ["a", "b"]])
    b.follows = []
    context.delete(a)
    try context.save()
    try other.refresh()
    #expect(fans.dropFirst().allSatisfy { $0.follows.isEmpty && $0.followers.isEmpty })
    #expect(fans[0].isDeleted)
  }
}

@Model final class Crate {
  var name: String
  @Relationship(deleteRule: .cascade) var lid: Part?
  @Relationship(deleteRule: .cascade, inverse: \Part.crates) var parts: [Part] = []
  init(_ name: String) { self.name = name }
}

@Model final class Part {
  var name: String
  var crates: [Crate] = []
  init(_ name: String) { self.name = name }
}

@Model final class Guild {
  var name: String
  @Relationship(deleteRule: .deny) var members: [Member] = []
  init(_ name: String) { self.name = name }
}

@Model final class Member {
  var name: String
  var guilds: [Guild] = []
  init(_ name: String) { self.name = name }
}

@Model final class Fan {
  var name: String
  var follows: [Fan] = []
  @Relationship(inverse: \Fan.follows) var followers: [Fan] = []
  init(_ name: String) { self.name = name }
}
