import Quire
import TestSupport
import Testing

@MainActor @Suite(.fewOnMainActor) struct SpineTests {
  @Test func `a saved object is found by another context`() throws {
    let store = try store()
    let context = store.mainContext
    let lem = Writer(name: "Stanisław Lem")
    context.insert(lem)
    let solaris = Volume("Solaris", year: 1961, writer: lem)
    context.insert(solaris)
    #expect(lem.volumes.map(\.title) == ["Solaris"])
    try context.save()
    #expect(!context.hasChanges)

    let other = ModelContext(store)
    let found = try other.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.writer?.name == "Stanisław Lem" }))
    #expect(found.map(\.title) == ["Solaris"])
    #expect(found.first?.writer?.name == "Stanisław Lem")
    #expect(found.first?.writer?.volumes.first === found.first)
    #expect(try context.fetch(FetchDescriptor<Volume>()).first === solaris)
  }

  @Test func `a live list follows a model, raw SQL and a cascade`() throws {
    let store = try store()
    let context = store.mainContext
    let lem = Writer(name: "Lem")
    for (title, year) in [("Eden", 1959), ("Solaris", 1961), ("Fiasko", 1986)] {
      context.insert(Volume(title, year: year, writer: lem))
    }
    try context.save()
    let list = try context.live(
      Volume.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 10)
    let count = try context.liveCount(Volume.self, where: #Predicate { $0.isIn })
    #expect(list.map(\.title) == ["Eden", "Fiasko", "Solaris"])
    #expect(count.value == 3)
    list[1].isIn = false
    try context.save()
    #expect(list.map(\.title) == ["Eden", "Solaris"])
    #expect(count.value == 2)
    try store.execute("UPDATE volume SET title = 'A' WHERE title = 'Solaris'")
    try context.refresh()
    #expect(list.map(\.title) == ["A", "Eden"])
    context.delete(lem)
    try context.save()
    #expect(list.isEmpty)
    #expect(count.value == 0)
    #expect(list.queriesRun == 1)
  }
}
