import Quire
import TestSupport
import Testing

/// Nothing is kept alive that nobody holds.
@Suite(.fewAtOnce) struct ReleaseTests {
  @Test func `a graph loaded both ways is freed at the end of the turn after it was let go`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]]))
    func load() throws {
      for volume in try context.all(Volume.self) {
        #expect(volume.writer?.volumes.contains { $0 === volume } == true)
        #expect(volume.contributors.isEmpty)
      }
      #expect(context.registeredCount == 5)
    }
    try load()
    try context.refresh()
    #expect(context.registeredCount == 0)
  }

  @Test func `what is held stays, with what it refers to, and nothing else`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]]))
    func load() throws -> Volume {
      for volume in try context.all(Volume.self) { _ = volume.writer?.volumes }
      return try context.volume("Eden")
    }
    let eden = try load()
    weak let lem = eden.writer
    try context.refresh()
    #expect(context.registeredCount == 2)
    #expect(lem != nil)
    #expect(eden.writer === lem)
  }

  @Test func `objects that refer to each other in a circle are freed too`() throws {
    let store = try ModelContainer(for: Ring.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    func make() throws {
      let rings = (0..<3).map { Ring("\($0)") }
      for (index, ring) in rings.enumerated() {
        context.insert(ring)
        ring.next = rings[(index + 1) % 3]
      }
      let alone = Ring("alone")
      context.insert(alone)
      alone.next = alone
      try context.save()
    }
    try make()
    try context.refresh()
    #expect(context.registeredCount == 0)

    let one = try #require(try context.all(Ring.self).first)
    func walk() { #expect(one.next?.next?.next === one) }
    walk()
    try context.refresh()
    #expect(context.registeredCount == 3)  // held through the one
  }

  @Test func `a chain of a thousand is freed in one turn`() throws {
    let store = try ModelContainer(for: Ring.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    func make() throws {
      var last: Ring?
      for index in 0..<1000 {
        let ring = Ring("\(index)")
        ring.next = last
        context.insert(ring)
        last = ring
      }
      try context.save()
    }
    try make()
    try context.refresh()
    #expect(context.registeredCount == 0)
  }

  @Test func `unsaved edits hold their objects until they are saved`() throws {
    let context = ModelContext(try store(["Lem": ["Eden"]]))
    func edit() throws { try context.volume("Eden").title = "Eden II" }
    try edit()
    try context.refresh()
    #expect(context.registeredCount == 1)
    try context.save()
    #expect(context.registeredCount == 0)
    #expect(try context.volume("Eden II").year == nil)
  }

  @Test func `a context without isolation is freed with its objects, whatever is unsaved`() throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    weak var owner: ContextCore?
    weak var writer: Writer?
    func use() throws {
      let context = ModelContext(store)
      owner = context.owner
      let lem = try context.writer("Lem")
      writer = lem
      #expect(lem.volumes.count == 2)
      lem.volumes[0].title = "edited"
      lem.volumes.removeLast()
      context.delete(lem.volumes[0])
      context.insert(Volume("new", writer: lem))
      lem.contributed.append(Volume("another"))
    }
    try use()
    #expect(writer == nil)
    #expect(owner == nil)
  }

  @Test func `an object that outlives its context keeps its values and loads nothing more`() throws {
    let store = try store(["Lem": ["Eden"]])
    weak var owner: ContextCore?
    func use() throws -> Volume {
      let context = ModelContext(store)
      owner = context.owner
      return try context.volume("Eden")
    }
    var eden: Volume? = try use()
    #expect(eden?.title == "Eden")
    #expect(eden?.modelContext == nil)
    #expect(eden?.writer == nil)
    #expect(eden?.contributors == [])
    eden?.title = "still assignable"
    #expect(eden?.title == "still assignable")
    eden = nil
    #expect(owner == nil)
  }

  @Test @MainActor func `a context of an actor is emptied on it`() async throws {
    let store = try store(["Lem": ["Eden"]])
    weak var owner: ContextCore?
    weak var volume: Volume?
    func use() throws {
      let context = ModelContext(store)
      owner = context.owner
      volume = try context.volume("Eden")
      volume?.title = "unsaved"
    }
    try use()
    for _ in 0..<10_000 where owner != nil { await turn() }
    #expect(owner == nil)
    #expect(volume == nil)
  }

  @Test @MainActor func `the main context lets go at the end of the turn, without a call`() async throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let context = store.mainContext
    func load() throws { #expect(try context.all(Volume.self).first?.writer?.volumes.count == 2) }
    try load()
    #expect(context.registeredCount == 3)
    for _ in 0..<10_000 where context.registeredCount > 0 { await turn() }
    #expect(context.registeredCount == 0)
  }
}

@Model final class Ring {
  var name: String
  var next: Ring?
  init(_ name: String) { self.name = name }
}

extension ReleaseTests {
  @Test func `elements of a list that somebody tracks stay as long as the list, and no longer`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris", "Fiasko"], "Le Guin": ["The Dispossessed"]]))
    var lem: Writer? = try context.writer("Lem")
    let titles = tracking { _ = lem?.volumes.prefix(2).map(\.title) }
    try context.refresh()
    #expect(context.registeredCount == 3)  // Lem and the two that were read
    let eden = lem?.volumes[0]
    eden?.title = "heard"
    #expect(titles.count == 1)
    try context.save()
    lem = nil
    try context.refresh()
    #expect(context.registeredCount == 1)  // the writer is gone, and with its list the other element
    withExtendedLifetime(eden) {}
  }

  @Test func `tracked objects are freed with all the rest when nothing leads to them`() throws {
    let context = ModelContext(try store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]]))
    func read() throws {
      let writers = try context.all(Writer.self)
      _ = tracking { _ = writers.map { $0.volumes.map { ($0.title, $0.writer?.name) } } }
    }
    try read()
    #expect(context.registeredCount == 5)
    try context.refresh()
    #expect(context.registeredCount == 0)
  }

  @Test func `a tracked element stays, also if an object that nothing holds refers to it`() throws {
    let store = try ModelContainer(
      for: Bough.self, Offshoot.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    let bough = Bough()
    context.insert(bough)
    func fill() throws {
      for _ in 0..<3 {
        let offshoot = Offshoot()
        bough.offshoots.append(offshoot)
        context.insert(Offshoot(on: offshoot))
      }
      try context.save()
    }
    try fill()
    let sizes = tracking { _ = bough.offshoots.map(\.size) }
    try context.refresh()
    #expect(context.registeredCount == 4)  // without those that refer to them
    let offshoots = try context.all(Offshoot.self).filter { $0.bough != nil }
    offshoots[0].size = 1
    #expect(sizes.count == 1)
  }

  @Test func `a tracked element stays, also if a circle that nothing holds has referred to it`() throws {
    let store = try ModelContainer(
      for: Grove.self, Trunk.self, Vine.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    func fill() throws {
      let context = ModelContext(store)
      let (grove, trunk) = (Grove(), Trunk())
      let vines = [Vine(on: trunk), Vine(on: trunk)]
      (vines[0].next, vines[1].next) = (vines[1], vines[0])
      grove.trunks = [trunk]
      context.insert(grove)
      for vine in vines { context.insert(vine) }
      try context.save()
    }
    try fill()
    let context = ModelContext(store)
    let grove = try #require(try context.all(Grove.self).first)
    func read() throws -> Tally {
      for vine in try context.all(Vine.self) { #expect(vine.next?.next === vine && vine.trunk?.size == 0) }
      return tracking { _ = grove.trunks.map(\.size) }
    }
    let sizes = try read()
    #expect(context.registeredCount == 4)
    try context.refresh()
    #expect(context.registeredCount == 2)  // without the circle
    try context.all(Trunk.self)[0].size = 1
    #expect(sizes.count == 1)
  }

  @Test func `a tracked element of an unsaved object's list stays`() throws {
    let context = ModelContext(try store(["Lem": ["Solaris"]]))
    let eden = Volume("Eden")
    context.insert(eden)
    func fill() throws { eden.contributors = [try context.writer("Lem")] }
    try fill()
    let names = tracking { _ = eden.contributors.map(\.name) }
    try context.refresh()
    try context.writer("Lem").name = "Stanisław Lem"
    #expect(names.count == 1)
  }
}

@Model final class Bough {
  @Relationship(inverse: \Offshoot.bough) var offshoots: [Offshoot] = []
  init() {}
}

@Model final class Offshoot {
  var size = 0
  var bough: Bough?
  var parent: Offshoot?
  init(on parent: Offshoot? = nil) { self.parent = parent }
}

@Model final class Grove {
  @Relationship(inverse: \Trunk.grove) var trunks: [Trunk] = []
  init() {}
}

@Model final class Trunk {
  var size = 0
  var grove: Grove?
  init() {}
}

@Model final class Vine {
  var trunk: Trunk?
  var next: Vine?
  init(on trunk: Trunk) { self.trunk = trunk }
}
