import Quire
import TestSupport
import Testing

/// Random edits, then a transaction of random edits, saves, deletions and inner transactions that throws: everything is
/// as it was. What is saved after it is what would have been saved without it.
@Suite(.fewAtOnce) struct RandomTransactionTests {
  static let seeds: [UInt64] = {
    let count = ProcessInfo.processInfo.environment["QUIRE_SEEDS"].flatMap(UInt64.init) ?? 60
    return [extraSeed] + Array(1...count) + failed.filter { $0 > count }
  }()
  /// Seeds that have failed once.
  private static let failed: [UInt64] = [192, 202, 223]

  @Test(arguments: seeds) func `a transaction that throws leaves everything as it was`(seed: UInt64) throws {
    let tried = try Play(seed)
    let plain = try Play(seed)
    for _ in 0..<3 {
      try tried.edit(steps: 6)
      try plain.edit(steps: 6)
      let before = try tried.state()
      _ = try plain.state()
      tried.fail(seed)
      let after = try tried.state()
      #expect(zip(before, after).filter { $0 != $1 }.map { "\($0) → \($1)" } == [], "seed \(seed)")
      tried.catchUp(plain)
    }
    for play in [tried, plain] {
      do { try play.context.save() } catch ModelError.ignoredAssignments { try play.context.save() }
    }
    #expect(try tried.rows() == plain.rows(), "seed \(seed)")
  }
}

final class Play {
  struct Thrown: Error {}

  let store: ModelContainer
  let context: ModelContext
  var random: Random
  var writers: [Writer] = []
  var volumes: [Volume] = []
  var count = 0
  /// Whether no object is given a writer that is deleted.
  var avoidsDeleted = false
  var keepsWriters = false

  init(_ seed: UInt64) throws {
    random = Random(seed: seed)
    store = try QuireModelTests.store(["A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": []])
    context = ModelContext(store)
    writers = try context.fetch(FetchDescriptor<Writer>(sortBy: [SortDescriptor(\.name)]))
    volumes = try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
  }

  /// Goes on with the random numbers of one that has not run the transaction.
  func catchUp(_ other: Play) {
    random = other.random
    count = other.count
  }

  func edit(steps: Int) throws {
    for _ in 0..<steps { try step(isInside: false, depth: 0) }
  }

  /// Runs a transaction that throws in the end, on random numbers of its own.
  func fail(_ seed: UInt64) {
    random = Random(seed: seed &* 31 &+ UInt64(count))
    let (known, written) = (volumes.count, writers.count)
    defer {
      volumes.removeLast(volumes.count - known)
      writers.removeLast(writers.count - written)
    }
    do {
      try context.transaction {
        for _ in 0..<8 { try step(isInside: true, depth: 0) }
        throw Thrown()
      }
    } catch {}
  }

  private func step(isInside: Bool, depth: Int) throws {
    count += 1
    let volume = volumes.randomElement(using: &random)
    let writer = writers.randomElement(using: &random).flatMap { avoidsDeleted && $0.isDeleted ? nil : $0 }
    switch Int.random(in: 0..<(isInside ? 16 : 11), using: &random) {
    case 0, 1: volume?.title = "title \(count)"
    case 2: volume?.year = count
    case 3: volume?.writer = Bool.random(using: &random) ? writer : nil
    case 4:
      let new = Volume("new \(count)", writer: Bool.random(using: &random) ? writer : nil)
      context.insert(new)
      volumes.append(new)
    case 5:
      let new = Writer(name: "new \(count)")
      context.insert(new)
      writers.append(new)
    case 6: if let volume { context.delete(volume) }
    case 7: if let writer, count % 3 == 0, !keepsWriters { context.delete(writer) }
    case 8: if let volume, let writer, !writer.isDeleted, !volume.isDeleted { volume.contributors.append(writer) }
    case 9: if let volume, !volume.isDeleted, !volume.contributors.isEmpty { volume.contributors.removeFirst() }
    case 10: if let writer, !writer.isDeleted { _ = writer.volumes.count }
    case 11, 12: try? context.save()
    case 13: try context.delete(model: Volume.self, where: #Predicate { $0.price == 0 && $0.year == nil })
    case 14 where depth < 2:
      let (known, written) = (volumes.count, writers.count)
      do {
        try context.transaction {
          for _ in 0..<4 { try step(isInside: true, depth: depth + 1) }
          if Bool.random(using: &random) { throw Thrown() }
        }
      } catch {
        volumes.removeLast(volumes.count - known)
        writers.removeLast(writers.count - written)
      }
    default: _ = try context.fetch(FetchDescriptor<Volume>())
    }
  }

  /// What a program can see of its objects, in words.
  func state() throws -> [String] {
    func name(_ model: (any PersistentModel)?) -> String {
      guard let model else { return "nil" }
      if let index = volumes.firstIndex(where: { $0 === model }) { return "v\(index)" }
      if let index = writers.firstIndex(where: { $0 === model }) { return "w\(index)" }
      return "unknown \(model.persistentModelID)"
    }
    func flags(_ model: some PersistentModel) -> String {
      "\(name(model)) \(model.persistentModelID) \(model.isDeleted) \(model.hasChanges) \(model.modelContext != nil)"
    }
    // First: a fetch deletes what goes with unsaved deletes.
    let fetched = try context.fetch(FetchDescriptor<Volume>())
    let others = try context.fetch(FetchDescriptor<Writer>())
    var lines = volumes.map { volume in
      "\(flags(volume)) \(volume.title) \(volume.year ?? -1) \(name(volume.writer)) "
        + "\(volume.isDeleted ? [] : volume.contributors.map(name).sorted())"
    }
    lines += writers.map { writer in
      "\(flags(writer)) \(writer.name) \(writer.isDeleted ? [] : writer.volumes.map(name).sorted()) "
        + "\(writer.isDeleted ? [] : writer.contributed.map(name).sorted())"
    }
    lines.append("inserted \(context.insertedModelsArray.map(name))")
    lines.append("changed \(context.changedModelsArray.map(name))")
    lines.append("deleted \(context.deletedModelsArray.map(name)) \(context.hasChanges)")
    lines.append("volumes \(fetched.map(name).sorted())")
    lines.append("writers \(others.map(name).sorted())")
    lines.append("file \(try rows()) \(context.drainDeferredErrors())")
    return lines
  }

  func rows() throws -> [[Value]] {
    try store.query(
      """
      SELECT title, year, (SELECT name FROM writer WHERE id = writer_id) FROM volume UNION ALL
      SELECT v.title, -1, w.name FROM volume_contributors AS j
      JOIN volume AS v ON v.id = j.volume_id JOIN writer AS w ON w.id = j.writer_id ORDER BY 1, 2, 3
      """
    ).map(\.values)
  }
}
