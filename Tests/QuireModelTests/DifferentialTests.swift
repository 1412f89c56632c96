import Quire
import TestSupport
import Testing

/// A context under random edits, beside plain values of the same: every fetch, list and reference must agree.
@Suite(.fewAtOnce) struct DifferentialTests {
  /// The first twenty, and those that once failed; `QUIRE_SEEDS` runs so many more.
  static var seeds: [UInt64] {
    let more = ProcessInfo.processInfo.environment["QUIRE_SEEDS"].flatMap(UInt64.init) ?? 20
    return Array(1...more) + [48, 120, 133, 399].filter { $0 > more }
  }

  @Test(arguments: seeds) func `a context equals plain values under the same edits`(seed: UInt64) throws {
    let run = try RandomEdits(seed: seed)
    for step in 1...60 {
      let operation = try run.step()
      try run.check("seed \(seed), step \(step), after \(operation)")
    }
  }
}

final class RandomEdits {
  struct PlainVolume: Equatable {
    var title: String
    var year: Int?
    var price: Double
    var isIn: Bool
    var writer: Int?
    var contributors: Set<Int>
  }
  struct PlainWriter: Equatable { var name: String }
  /// By number of arrival; the objects are beside.
  struct Plain {
    var volumes: [Int: PlainVolume] = [:]
    var writers: [Int: PlainWriter] = [:]
  }

  let store: ModelContainer
  let context: ModelContext
  var random: Random
  var now = Plain()
  var saved = Plain()
  var volumes: [Int: Volume] = [:]
  var writers: [Int: Writer] = [:]
  var edited: Set<String> = []
  var arrivals = 0

  static let words = ["", "a", "B", "é", "e\u{301}", "z", "Ω", "\u{FF5E}", "🏴", "a b", "Z", "\0x"]

  init(seed: UInt64) throws {
    store = try QuireModelTests.store()
    context = ModelContext(store)
    random = Random(seed: seed)
  }

  func any<C: Collection>(_ choices: C) -> C.Element? { choices.randomElement(using: &random) }
  func word() -> String { any(Self.words) ?? "" }
  func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  func key(_ model: any PersistentModel) -> Int64 { model.persistentModelID.rowKey ?? 0 }
  var volumeKeys: [Int] { now.volumes.keys.sorted() }
  var writerKeys: [Int] { now.writers.keys.sorted() }

  func step() throws -> String {
    switch Int.random(in: 0..<100, using: &random) {
    case ..<15: return insertVolume()
    case ..<22: return insertWriter()
    case ..<55: return edit()
    case ..<63: return relate()
    case ..<70: return deleteVolume()
    case ..<73: return try deleteWriter()
    case ..<80: return try rawSQL()
    case ..<92: return try save()
    case ..<96: return rollback()
    default:
      try context.refresh()
      return "refresh"
    }
  }

  private func insertVolume() -> String {
    arrivals += 1
    let writer = chance(60) ? any(writerKeys) : nil
    let plain = PlainVolume(
      title: word(), year: chance(70) ? Int.random(in: 0..<5, using: &random) : nil, price: 0, isIn: chance(50),
      writer: writer, contributors: [])
    let volume = Volume(plain.title, year: plain.year, writer: writer.flatMap { writers[$0] })
    volume.isIn = plain.isIn
    context.insert(volume)
    volumes[arrivals] = volume
    now.volumes[arrivals] = plain
    return "insert volume \(arrivals)"
  }

  private func insertWriter() -> String {
    arrivals += 1
    let plain = PlainWriter(name: word())
    let writer = Writer(name: plain.name)
    context.insert(writer)
    writers[arrivals] = writer
    now.writers[arrivals] = plain
    return "insert writer \(arrivals)"
  }

  private func edit() -> String {
    if chance(25), let number = any(writerKeys), let writer = writers[number] {
      let name = word()
      if !name.utf8.elementsEqual(writer.name.utf8) {
        edited.insert("w\(number).name")
        now.writers[number]?.name = name
      }
      writer.name = name
      return "rename writer \(number)"
    }
    guard let number = any(volumeKeys), let volume = volumes[number], var plain = now.volumes[number] else {
      return "nothing"
    }
    let before = plain
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let title = word()
      plain.title = title
      volume.title = title
    case 1: plain.year = chance(30) ? nil : Int.random(in: 0..<5, using: &random); volume.year = plain.year
    case 2: plain.price = Double(Int.random(in: 0..<3, using: &random)); volume.price = plain.price
    default: plain.isIn.toggle(); volume.isIn.toggle()
    }
    note(number, before, plain)
    now.volumes[number] = plain
    return "edit volume \(number)"
  }

  private func note(_ number: Int, _ a: PlainVolume, _ b: PlainVolume) {
    if !a.title.utf8.elementsEqual(b.title.utf8) { edited.insert("v\(number).title") }
    if a.price != b.price { edited.insert("v\(number).price") }
    if a.writer != b.writer { edited.insert("v\(number).writer") }
  }

  private func relate() -> String {
    guard let number = any(volumeKeys), let volume = volumes[number], var plain = now.volumes[number] else {
      return "nothing"
    }
    let before = plain
    defer {
      note(number, before, plain)
      now.volumes[number] = plain
    }
    if chance(40) {
      let chosen = writerKeys.filter { _ in chance(40) }
      plain.contributors = Set(chosen)
      if chance(50) {
        volume.contributors = chosen.compactMap { writers[$0] }
      } else {  // from the other side
        for key in writerKeys {
          guard let writer = writers[key] else { continue }
          let isIn = writer.contributed.contains { $0 === volume }
          if isIn && !chosen.contains(key) { writer.contributed.removeAll { $0 === volume } }
          if !isIn && chosen.contains(key) { writer.contributed.append(volume) }
        }
      }
      return "contributors of \(number)"
    }
    plain.writer = chance(25) ? nil : any(writerKeys)
    if let key = plain.writer, chance(50), let writer = writers[key] {
      writer.volumes.append(volume)
    } else {
      volume.writer = plain.writer.flatMap { writers[$0] }
    }
    return "writer of \(number)"
  }

  private func deleteVolume() -> String {
    guard let number = any(volumeKeys), let volume = volumes[number] else { return "nothing" }
    context.delete(volume)
    now.volumes[number] = nil
    return "delete volume \(number)"
  }

  /// With the save that its cascade waits for.
  private func deleteWriter() throws -> String {
    guard let number = any(writerKeys), let writer = writers[number] else { return "nothing" }
    context.delete(writer)
    now.writers[number] = nil
    for (key, volume) in now.volumes {
      if volume.writer == number { now.volumes[key] = nil }
      now.volumes[key]?.contributors.remove(number)
    }
    _ = try save()
    return "delete writer \(number) and save"
  }

  private func rawSQL() throws -> String {
    let number = saved.volumes.keys.sorted().randomElement(using: &random)
    guard let number, let volume = volumes[number] else { return "nothing" }
    let price = Double(Int.random(in: 10..<13, using: &random))
    if chance(70) {
      try store.execute("UPDATE volume SET price = \(price) WHERE id = \(key(volume))")
      saved.volumes[number]?.price = price
      if !edited.contains("v\(number).price") { now.volumes[number]?.price = price }
    } else {
      let writer = saved.writers.keys.sorted().randomElement(using: &random)
      // Only to writers that are still there for the context: a reference to one it has deleted is another story.
      guard let writer, now.writers[writer] != nil, let target = writers[writer] else { return "nothing" }
      try store.execute("UPDATE volume SET writer_id = \(key(target)) WHERE id = \(key(volume))")
      saved.volumes[number]?.writer = writer
      if !edited.contains("v\(number).writer") { now.volumes[number]?.writer = writer }
    }
    try context.refresh()
    return "SQL on volume \(number)"
  }

  private func save() throws -> String {
    try context.save()
    saved = now
    edited = []
    return "save"
  }

  private func rollback() -> String {
    context.rollback()
    now = saved
    edited = []
    return "rollback"
  }

  // MARK: Checking

  /// Saved ones by key, then unsaved ones by arrival.
  private func rank(_ number: Int) -> (Int64, Int) { (volumes[number]?.persistentModelID.rowKey ?? .max, number) }

  private func sorted(_ numbers: [Int], by precedes: (Int, Int) -> Bool?, ascending: Bool = true) -> [Int] {
    numbers.sorted { a, b in precedes(a, b) ?? (ascending ? rank(a) < rank(b) : rank(b) < rank(a)) }
  }

  private static func less(_ a: String?, _ b: String?) -> Bool? {
    guard let a else { return b == nil ? nil : true }
    guard let b else { return false }
    if a.utf8.elementsEqual(b.utf8) { return nil }
    return a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  func check(_ place: String) throws {
    let all = volumeKeys
    func plain(_ number: Int) -> PlainVolume { now.volumes[number]! }
    func name(_ number: Int) -> String? { plain(number).writer.flatMap { now.writers[$0]?.name } }
    func compare(
      _ descriptor: FetchDescriptor<Volume>, _ expected: [Int], _ what: String
    ) throws {
      let found = try context.fetch(descriptor).map { ObjectIdentifier($0) }
      let wanted = expected.map { ObjectIdentifier(volumes[$0]!) }
      if found != wanted {
        let numbers = found.map { id in volumes.first { ObjectIdentifier($0.value) == id }?.key ?? -1 }
        Issue.record("\(place): \(what): found \(numbers), expected \(expected)")
      }
      #expect(try context.fetchCount(descriptor) == expected.count, "\(place): \(what)")
    }
    try compare(FetchDescriptor(), sorted(all, by: { _, _ in nil }), "all")
    let some = Self.words[Int(random.next() % UInt64(Self.words.count))]
    try compare(
      FetchDescriptor(predicate: #Predicate { $0.title > some }, sortBy: [SortDescriptor(\.title)]),
      sorted(
        all.filter { Self.less(some, plain($0).title) == true }, by: { Self.less(plain($0).title, plain($1).title) }),
      "title > \(some)")
    try compare(
      FetchDescriptor(
        predicate: #Predicate { $0.isIn && $0.year != nil },
        sortBy: [SortDescriptor(\.year, order: .reverse)], fetchLimit: 3, fetchOffset: 1),
      Array(
        sorted(
          all.filter { plain($0).isIn && plain($0).year != nil },
          by: { plain($0).year == plain($1).year ? nil : plain($0).year! > plain($1).year! }, ascending: false
        ).dropFirst().prefix(3)), "year, limited")
    try compare(
      FetchDescriptor(sortBy: [SortDescriptor(\.writer?.name), SortDescriptor(\.title)], fetchLimit: 5),
      Array(
        sorted(all, by: { Self.less(name($0), name($1)) ?? Self.less(plain($0).title, plain($1).title) }).prefix(5)),
      "by the writer's name")
    try compare(
      FetchDescriptor(predicate: #Predicate { $0.writer?.name == some }),
      sorted(all.filter { name($0).map { $0.utf8.elementsEqual(some.utf8) } ?? false }, by: { _, _ in nil }),
      "writer named \(some)")
    try checkToMany(place, some)
    for number in all {
      let (volume, plain) = (volumes[number]!, plain(number))
      #expect(
        volume.title.utf8.elementsEqual(plain.title.utf8) && volume.year == plain.year && volume.price == plain.price
          && volume.isIn == plain.isIn, "\(place): volume \(number)")
      #expect(volume.writer === plain.writer.flatMap { writers[$0] }, "\(place): writer of \(number)")
      let contributors = Set(volume.contributors.map { ObjectIdentifier($0) })
      #expect(contributors == Set(plain.contributors.map { ObjectIdentifier(writers[$0]!) }), "\(place): \(number)")
    }
    for number in writerKeys {
      let writer = writers[number]!
      #expect(writer.name == now.writers[number]?.name, "\(place): writer \(number)")
      let expected = sorted(all.filter { plain($0).writer == number }, by: { _, _ in nil }).map { volumes[$0]!.title }
      #expect(writer.volumes.map(\.title) == expected, "\(place): volumes of \(number)")
      let contributed = sorted(all.filter { plain($0).contributors.contains(number) }, by: { _, _ in nil })
      #expect(writer.contributed.map(\.title) == contributed.map { volumes[$0]!.title }, "\(place): by \(number)")
    }
    if !context.hasChanges {
      #expect(now.volumes == saved.volumes && now.writers == saved.writers, "\(place): no changes, they say")
      #expect(try store.value("SELECT count(*) FROM volume") == .integer(Int64(saved.volumes.count)), "\(place)")
    }
    #expect(context.drainDeferredErrors().isEmpty, "\(place)")
  }
}
