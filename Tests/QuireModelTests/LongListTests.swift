import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Lists of more than a few objects, which hold what was read of them last.
@Suite(.fewAtOnce) struct LongListTests {
  /// Random edits of two writers' lists, here and elsewhere: after each, both show the volumes that refer to them.
  @Test(arguments: DifferentialTests.seeds) func `a list shows who refers to its object, whatever was read before`(
    seed: UInt64
  ) throws {
    var random = Random(seed: seed)
    let store = try store([
      "Lem": (1...12).map { "a\($0)" }, "Le Guin": (1...12).map { "b\($0)" },
    ])
    let (context, other) = (ModelContext(store), ModelContext(store))
    let writers = [try context.writer("Lem"), try context.writer("Le Guin")]
    for step in 0..<120 {
      let writer = writers[Int.random(in: 0..<2, using: &random)]
      let all = try context.all(Volume.self)
      let volume = all.randomElement(using: &random)
      let operation = Int.random(in: 0..<14, using: &random)
      switch operation {
      case 0: writer.volumes.append(Volume("new \(step)"))
      case 1: context.insert(Volume("new \(step)", writer: writer))
      case 2: if let volume { writer.volumes.append(volume) }
      case 3: volume?.writer = writer
      case 4: volume?.writer = nil
      case 5: if !writer.volumes.isEmpty { writer.volumes.removeLast() }
      case 6: if !writer.volumes.isEmpty { writer.volumes.removeFirst() }
      case 7: writer.volumes.removeAll { $0 === volume }
      case 8: if let volume { context.delete(volume) }
      case 9: if let volume { writer.contributed.append(volume) }
      case 10: try context.save()
      case 11: if Bool.random(using: &random) { context.rollback() }
      case 12: writer.volumes.insert(Volume("first \(step)"), at: 0)
      default:
        let key = Int.random(in: 1...30, using: &random)
        try store.execute("UPDATE volume SET writer_id = 3 - writer_id WHERE id = \(key)")
        try context.refresh()
      }
      let volumes = try context.all(Volume.self).filter { !$0.isDeleted }
      let place: Comment = "seed \(seed), step \(step), after \(operation)"
      for writer in writers {
        let shown = writer.volumes
        #expect(Set(shown.map(\.title)) == Set(volumes.filter { $0.writer === writer }.map(\.title)), place)
        #expect(Set(shown.map(ObjectIdentifier.init)).count == shown.count, place)
        let linked = writer.contributed
        #expect(
          Set(linked.map(\.title))
            == Set(volumes.filter { $0.contributors.contains { $0 === writer } }.map(\.title)), place)
      }
    }
    try context.save()
    for writer in try other.all(Writer.self) {
      let mine = writers.first { $0.name == writer.name }
      #expect(writer.volumes.map(\.title) == mine?.volumes.map(\.title), "seed \(seed)")
    }
  }

  @Test func `what is read of a list is not kept for ever, and nothing keeps its context`() throws {
    weak var first: Volume?
    weak var core: ContextCore?
    try { () throws -> Void in
      let context = ModelContext(try store(["Lem": (1...20).map { "a\($0)" }]))
      core = context.owner
      let lem = try context.writer("Lem")
      first = lem.volumes.first
      #expect(first != nil && lem.volumes.count == 20)
      context.owner.sweeper.sweep()
      #expect(first != nil)  // it was read since the last sweep
      context.owner.sweeper.sweep()
      #expect(first == nil)
      #expect(lem.volumes.count == 20)
    }()
    #expect(core == nil)
  }

  @Test func `a loop that appends and saves reads no list again`() throws {
    let context = ModelContext(try store(["Lem": (1...20).map { "a\($0)" }]))
    let lem = try context.writer("Lem")
    var reads: [Int] = []
    for number in 0..<12 {
      let before = context.owner.queriesRun.value
      lem.volumes.append(Volume("\(number)"))
      #expect(lem.volumes.count == 21 + number && lem.volumes.last?.title == "\(number)")
      try context.save()
      reads.append(context.owner.queriesRun.value - before)
    }
    #expect(Set(reads.dropFirst()).count == 1 && (reads.last ?? 9) < reads[0], "\(reads)")
  }

  @Test func `a loop that moves from one list to another and saves reads neither again`() throws {
    let context = ModelContext(try store(["Lem": (1...40).map { "a\($0)" }, "Le Guin": (1...20).map { "b\($0)" }]))
    let (lem, guin) = (try context.writer("Lem"), try context.writer("Le Guin"))
    var reads: [Int] = []
    for number in 0..<12 {
      let before = context.owner.queriesRun.value
      let moved = try #require(lem.volumes.last)
      moved.writer = guin
      #expect(lem.volumes.count == 39 - number && guin.volumes.count == 21 + number)
      #expect(guin.volumes.contains { $0 === moved })
      try context.save()
      reads.append(context.owner.queriesRun.value - before)
    }
    #expect(Set(reads.dropFirst()).count == 1 && (reads.last ?? 9) < reads[0], "\(reads)")
  }

  // Its objects have the same keys, at the same places.
  @Test(arguments: [3, 20]) func `the same list of another context is refused`(count: Int) throws {
    let store = try store(["Lem": (1...count).map { "a\($0)" }])
    let (context, other) = (ModelContext(store), ModelContext(store))
    let (mine, theirs) = (try context.writer("Lem"), try other.writer("Lem"))
    let before = mine.volumes
    mine.volumes = theirs.volumes
    #expect(mine.volumes == before && !mine.hasChanges)
    let error = #expect(throws: ModelError.self) { try context.save() }
    guard case .ignoredAssignments(let reasons)? = error else { throw error! }
    #expect(reasons == ["Writer.volumes was given an object of another context"])
  }

  @Test func `a list assigned to objects of no context reads as it was assigned`() throws {
    let writer = Writer(name: "Lem")
    for index in 0..<20 { writer.volumes.append(Volume("\(index)")) }
    writer.volumes.remove(at: 3)
    #expect(writer.volumes.count == 19)
    let context = ModelContext(try store())
    context.insert(writer)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 19)
  }
}
