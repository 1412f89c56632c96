import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Fetches by the value of a property while many objects are unsaved.
@Suite(.fewAtOnce) struct UnsavedValueTests {
  static let titles = ["", "a", "b", "e\u{301}", "é", "c"]

  /// Random edits, here and elsewhere, of more objects than are asked one by one: fetches by value equal what the objects
  /// of a fetch of all have.
  @Test(arguments: DifferentialTests.seeds) func `a fetch by a value finds what has it`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let store = try store(["Lem": (1...12).map { "\(titles($0))" }, "Le Guin": ["a", "b"]])
    let context = ModelContext(store)
    context.autosaveEnabled = false
    var writers = [try context.writer("Lem"), try context.writer("Le Guin")]
    var kept: [Volume] = []
    for number in 1...24 { context.insert(Volume(titles(number), year: number % 4)) }
    for step in 0..<90 {
      let all = try context.all(Volume.self)
      kept += all.randomElement(using: &random).map { [$0] } ?? []
      let chosen = kept.randomElement(using: &random)
      let volume = chosen.flatMap { $0.isDeleted ? nil : $0 }
      let title = Self.titles.randomElement(using: &random) ?? ""
      let number = Int.random(in: 0..<4, using: &random)
      let someone = writers.randomElement(using: &random)
      let author = someone.flatMap { $0.isDeleted ? nil : $0 }
      let operation = Int.random(in: 0..<26, using: &random)
      switch operation {
      case 0...2: context.insert(Volume(title, year: number, writer: Bool.random(using: &random) ? author : nil))
      case 3...5: volume?.title = title
      case 6: volume?.year = Bool.random(using: &random) ? number : nil
      case 7: volume?.price = Double(number)
      case 8: if let volume { context.delete(volume) }
      case 9: if let chosen { context.insert(chosen) }
      case 10: if number == 0 { try context.save() }
      case 11: if number == 0 { context.rollback() }
      case 12:
        let key = Int.random(in: 1...20, using: &random)
        try store.execute("UPDATE volume SET title = \(title), year = \(number) WHERE id = \(key)")
        try context.refresh()
      case 13:
        try? context.transaction {
          volume?.title = title
          context.insert(Volume(title))
          _ = try context.fetchCount(FetchDescriptor(predicate: #Predicate<Volume> { $0.title == title }))
          if number > 0 { throw CancellationError() }
        }
      case 14:
        // Observers that look before the value is there.
        if let volume {
          func look() {
            _ = try? context.fetch(FetchDescriptor(predicate: #Predicate<Volume> { $0.title == "a" }))
          }
          nonisolated(unsafe) let seen = look
          withObservationTracking {
            _ = volume.title
          } onChange: {
            seen()
          }
          let token = volume.onWillChange { _ in look() }
          volume.title = title
          token.cancel()
        }
      case 15: if let volume { try? volume.set(\.title, to: title) }
      case 16: if let volume, let author, number == 0 { author.volumes.append(volume) }
      case 17: volume?.title += ""
      case 18, 19: volume?.writer = author
      case 20:
        writers.append(Writer(name: title))
        context.insert(writers[writers.count - 1])
      case 21: if let author, number < 2 { context.delete(author) }
      case 22: if let someone { context.insert(someone) }
      case 23: author?.volumes.append(Volume(title, year: number))
      case 24: author?.volumes.removeAll { $0.year == number }
      default: context.insert(Volume(title, year: number))
      }
      let seen = author.flatMap { $0.isDeleted || $0.modelContext == nil ? nil : $0 }
      try check(context, seen, "seed \(seed), step \(step), after \(operation)", &random)
    }
    try context.save()
    try check(ModelContext(store), nil, "seed \(seed), saved", &random)
  }

  @Test func `an object that is edited, deleted, inserted again and edited is there once`() throws {
    let context = ModelContext(try store(["Lem": ["a", "b"]]))
    let volume = try context.volume("a")
    volume.title = "c"
    context.delete(volume)
    context.insert(volume)
    volume.year = 1961
    #expect(try context.all(Volume.self).map(\.title).sorted() == ["b", "c"])
    context.delete(volume)
    volume.modelContext?.insert(volume)
    #expect(try context.all(Volume.self).count == 2)
    #expect(context.changedModelsArray.count == 1)
  }

  @Test func `what refers to an unsaved object is found after that was deleted and inserted again`() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    let context = ModelContext(try ModelContainer(for: Shop.self, Item.self, configurations: configuration))
    let shop = Shop("a")
    context.insert(shop)
    for number in 0..<20 {
      let item = Item("\(number)")
      context.insert(item)
      item.shop = shop
    }
    let items = FetchDescriptor<Item>(predicate: #Predicate { $0.shop == shop })
    #expect(try context.fetchCount(items) == 20)
    context.delete(shop)
    context.insert(shop)
    let those = try context.all(Item.self).count { $0.shop === shop }
    #expect(try context.fetchCount(FetchDescriptor<Item>(predicate: #Predicate { $0.shop == shop })) == those)
    #expect(those == 20)
  }

  private func titles(_ number: Int) -> String { Self.titles[number % Self.titles.count] }

  private func check(_ context: ModelContext, _ writer: Writer?, _ place: Comment, _ random: inout Random) throws {
    let all = try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.price), SortDescriptor(\.title)]))
    let title = Self.titles.randomElement(using: &random) ?? ""
    let year = Int.random(in: 0..<4, using: &random)
    let limit = Int.random(in: 1...6, using: &random)
    let some = [title, "c"]
    let order = [SortDescriptor(\Volume.price), SortDescriptor(\Volume.title)]
    func same(_ predicate: Predicate<Volume>, _ accepts: (Volume) -> Bool) throws {
      let expected = all.filter(accepts)
      var descriptor = FetchDescriptor(predicate: predicate, sortBy: order)
      let found = try context.fetch(descriptor)
      #expect(found.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init), place)
      #expect(try context.fetchCount(descriptor) == expected.count, place)
      let titles = try context.fetch(Volume.self, values: \.title, where: predicate, sortBy: order)
      #expect(titles == expected.map(\.title), place)
      #expect(try context.fetchIdentifiers(descriptor) == expected.map(\.persistentModelID), place)
      descriptor.fetchLimit = limit
      descriptor.fetchOffset = limit - 1
      let page = Array(expected.dropFirst(limit - 1).prefix(limit))
      #expect(try context.fetch(descriptor).map(ObjectIdentifier.init) == page.map(ObjectIdentifier.init), place)
      #expect(try context.fetchCount(descriptor) == page.count, place)
    }
    func has(_ volume: Volume, _ title: String) -> Bool { volume.title.utf8.elementsEqual(title.utf8) }
    if let writer {
      let identifier = writer.persistentModelID
      try same(#Predicate { $0.writer == writer }) { $0.writer === writer }
      try same(#Predicate { $0.writer?.persistentModelID == identifier && $0.title == title }) {
        $0.writer === writer && has($0, title)
      }
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: try same(#Predicate { $0.title == title }) { has($0, title) }
    case 2: try same(#Predicate { $0.year == year && $0.title == title }) { has($0, title) && $0.year == year }
    case 3: try same(#Predicate { some.contains($0.title) }) { volume in some.contains { has(volume, $0) } }
    case 4: try same(#Predicate { $0.price == 1 && $0.isIn }) { $0.price == 1 && $0.isIn }
    default: try same(#Predicate { $0.price < 2 }) { $0.price < 2 }
    }
  }
}
