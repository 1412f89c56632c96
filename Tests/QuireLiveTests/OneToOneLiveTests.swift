import Foundation
import Quire
import TestSupport
import Testing

/// Whether there is an object on the other side of a one-to-one relationship, asked from the side without the column.
@MainActor @Suite(.fewOnMainActor) struct OneToOneLiveTests {
  let store: ModelContainer
  let context: ModelContext
  let eden = Folio("Eden")
  let solaris = Folio("Solaris")

  init() throws {
    store = try ModelContainer(
      for: Folio.self, Jacket.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store, isolation: nil)
    eden.jacket = Jacket("red")
    context.insert(eden)
    context.insert(solaris)
    try context.save()
  }

  private func titles(_ predicate: Predicate<Folio>) throws -> [String] {
    try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])).map(\.title)
  }

  @Test func `live lists follow it, whoever gives or takes the object`() throws {
    let bare = try context.live(Folio.self, where: #Predicate { $0.jacket == nil }, sortBy: [SortDescriptor(\.title)])
    let dressed = try context.liveCount(Folio.self, where: #Predicate { $0.jacket != nil })
    #expect(bare.map(\.title) == ["Solaris"] && dressed.value == 1)
    solaris.jacket = eden.jacket
    try context.save()
    #expect(bare.map(\.title) == ["Eden"] && dressed.value == 1)
    try store.execute("INSERT INTO jacket (color, folio_id) VALUES ('blue', \(eden))")
    try context.refresh()
    #expect(bare.isEmpty && dressed.value == 2)
    try store.execute("DELETE FROM jacket")
    try context.refresh()
    #expect(bare.map(\.title) == ["Eden", "Solaris"] && dressed.value == 0)
  }

  @Test func `fetches ask SQL, and see unsaved edits`() throws {
    #expect(try context.explain(FetchDescriptor<Folio>(predicate: #Predicate { $0.jacket == nil })).computed.isEmpty)
    #expect(try titles(#Predicate { $0.jacket == nil }) == ["Solaris"])
    #expect(try titles(#Predicate { nil != $0.jacket }) == ["Eden"])
    #expect(try titles(#Predicate { $0.jacket == nil || $0.title == "Eden" }) == ["Eden", "Solaris"])
    solaris.jacket = eden.jacket
    #expect(try titles(#Predicate { $0.jacket == nil }) == ["Eden"])
    if let jacket = solaris.jacket { context.delete(jacket) }
    #expect(try titles(#Predicate { $0.jacket == nil }) == ["Eden", "Solaris"])
    #expect(try titles(#Predicate { $0.jacket?.color == "red" }).isEmpty)
    context.rollback()
    #expect(try titles(#Predicate { $0.jacket?.color == "red" }) == ["Eden"])
  }

  @Test func `a live list that asks for more of the object says where to ask`() throws {
    let error = #expect(throws: UntranslatablePredicate.self) {
      try context.live(Folio.self, where: #Predicate { $0.jacket?.color == "red" })
    }
    #expect(error?.description.contains("‘$0.jacket?.color’") == true)
    #expect(error?.description.contains("one-to-one") == true)
  }

  @Test func `so does one that is sorted by the object, and an aggregate; a fetch sorts the objects`() throws {
    solaris.jacket = Jacket("blue")
    try context.save()
    let byColor = [SortDescriptor(\Folio.jacket?.color)]
    #expect(try context.fetch(FetchDescriptor<Folio>(sortBy: byColor)).map(\.title) == ["Solaris", "Eden"])
    let hint = "the column of ‘jacket’ is in the table of Jacket: query Jacket instead of Folio"
    let sorted = #expect(throws: ModelError.self) { try context.live(Folio.self, sortBy: byColor) }
    #expect(sorted?.description.contains(hint) == true)
    let greatest = #expect(throws: ModelError.self) { try context.liveMax(\Folio.jacket?.color) }
    #expect(greatest?.description.contains(hint) == true)
    let folios = try context.live(Jacket.self, sortBy: [SortDescriptor(\.folio?.title)])
    #expect(folios.map(\.color) == ["red", "blue"])
  }
}

@Model final class Folio {
  var title: String
  @Relationship(deleteRule: .cascade) var jacket: Jacket?
  init(_ title: String) { self.title = title }
}

@Model final class Jacket {
  var color: String
  @Relationship(inverse: \Folio.jacket) var folio: Folio?
  init(_ color: String) { self.color = color }
}
