import Quire
import TestSupport
import Testing

/// Lists after a block that threw: they show what is pending again, also where they were loaded in the block, and take the new
/// keys of the next save.
@Suite(.fewAtOnce) struct ThrownBlockListTests {
  private struct Thrown: Error {}

  let store: ModelContainer
  let context: ModelContext
  let lem: Writer

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Solaris", "Eden"], "Dick": ["Ubik"]])
    context = ModelContext(store)
    lem = try #require(try context.all(Writer.self).first { $0.name == "Lem" })
  }

  private func throwing(in context: ModelContext? = nil, _ block: () throws -> Void) throws {
    do {
      try (context ?? self.context).transaction {
        try block()
        throw Thrown()
      }
    } catch is Thrown {}
  }

  @Test(arguments: [false, true], [false, true])
  func `one that was loaded in it has the unsaved object, before the save and after it`(
    isSaved: Bool, isNested: Bool
  ) throws {
    let solaris = try context.volume("Solaris")
    let fiasco = Volume("Fiasco", writer: lem)
    context.insert(fiasco)
    try throwing {
      solaris.year = 1
      if isSaved { try context.save() }
      if isNested {
        try throwing { #expect(lem.volumes.contains { $0 === fiasco }) }
      } else {
        #expect(lem.volumes.contains { $0 === fiasco })
      }
    }
    #expect(lem.volumes.map(\.title).sorted() == ["Eden", "Fiasco", "Solaris"])
    try context.save()
    #expect(lem.volumes.map(\.title).sorted() == ["Eden", "Fiasco", "Solaris"])
    #expect(try store.value("SELECT count(*) FROM volume WHERE writer_id = \(lem.persistentModelID.rowKey)") == 3)
  }

  @Test(arguments: [false, true])
  func `one that was loaded where the unsaved object was deleted has it again`(isSaved: Bool) throws {
    let fiasco = Volume("Fiasco", writer: lem)
    context.insert(fiasco)
    try throwing {
      if isSaved { try context.volume("Ubik").year = 1; try context.save() }
      context.delete(fiasco)
      #expect(lem.volumes.count == 2)
    }
    #expect(lem.volumes.count == 3)
    try context.save()
    #expect(lem.volumes.map(\.title).sorted() == ["Eden", "Fiasco", "Solaris"])
    context.delete(fiasco)
    context.rollback()
    #expect(lem.volumes.count == 3)
  }

  @Test(arguments: [false, true])
  func `one of many to many has what a block in a block has hidden`(deletesInside: Bool) throws {
    let solaris = try context.volume("Solaris")
    solaris.contributors = [lem]
    try context.save()
    let other = ModelContext(store)
    let same = try #require(try other.all(Writer.self).first { $0.name == "Lem" })
    let volumes = try (other.volume("Solaris"), other.volume("Ubik"))
    try throwing(in: other) {
      if !deletesInside { other.delete(volumes.0) }
      try throwing(in: other) {
        if deletesInside { other.delete(volumes.0) }
        volumes.1.contributors.append(same)
        #expect(same.contributed.map(\.title) == ["Ubik"])
      }
      #expect(same.contributed.map(\.title) == (deletesInside ? ["Solaris"] : []))
    }
    #expect(same.contributed.map(\.title) == ["Solaris"])
  }
}
