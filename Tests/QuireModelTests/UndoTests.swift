import Quire
import TestSupport
import Testing

/// Saves taken back and done again.
@Suite(.fewAtOnce) struct UndoTests {
  let store: ModelContainer
  let context: ModelContext
  let undo = UndoManager()

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Solaris", "Eden"], "Dick": ["Ubik"]])
    context = ModelContext(store)
    context.undoManager = undo
  }

  private func rows() throws -> [[[Value]]] {
    try [
      "SELECT * FROM writer ORDER BY id", "SELECT * FROM volume ORDER BY id",
      "SELECT * FROM volume_contributors ORDER BY 1, 2",
    ]
    .map { try store.query(SQL(verbatim: $0)).map(\.values) }
  }

  @Test func `each save is a group, and goes back and forth`() throws {
    let lem = try context.writer("Lem")
    let solaris = try context.volume("Solaris")
    var states = [try rows()]
    solaris.price = 9
    try context.save()
    states.append(try rows())
    let eden = try context.volume("Eden")
    eden.contributors = [lem, try context.writer("Dick")]
    context.insert(Volume("Fiasco", writer: lem))
    try context.save()
    states.append(try rows())
    context.delete(lem)  // and by a cascade what is his
    try context.save()
    states.append(try rows())
    #expect(Set(states).count == 4)
    for round in 0..<2 {
      for place in (0..<3).reversed() {
        try context.undo()
        #expect(try rows() == states[place], "\(round)")
      }
      #expect(!undo.canUndo && undo.canRedo)
      for place in 1...3 {
        try context.redo()
        #expect(try rows() == states[place], "\(round)")
      }
      #expect(undo.canUndo && !undo.canRedo)
    }
    #expect(try ModelContext(store).fetchCount(FetchDescriptor<Volume>()) == 1)
  }

  @Test func `objects and lists follow, in this context and in others`() throws {
    let other = ModelContext(store)
    let theirs = try other.writer("Lem")
    let lem = try context.writer("Lem")
    #expect(lem.volumes.count == 2 && theirs.volumes.count == 2)
    context.insert(Volume("Fiasco", writer: lem))
    lem.name = "Stanisław Lem"
    try context.save()
    try context.undo()
    #expect(lem.name == "Lem" && lem.volumes.map(\.title) == ["Solaris", "Eden"])
    try other.refresh()
    #expect(theirs.name == "Lem" && theirs.volumes.count == 2)
  }

  @Test func `what is unsaved is the latest group`() throws {
    let lem = try context.writer("Lem")
    lem.name = "L."
    #expect(undo.canUndo)
    try context.undo()
    #expect(lem.name == "Lem" && !context.hasChanges)
    try context.redo()
    #expect(lem.name == "L.")
  }

  @Test func `a row that was changed since is named, and nothing is taken back`() throws {
    let lem = try context.writer("Lem")
    let dick = try context.writer("Dick")
    lem.name = "L."
    dick.name = "D."
    try context.save()
    try store.execute("UPDATE writer SET name = 'Lemmy' WHERE name = 'L.'")
    let error = #expect(throws: ModelError.self) { try context.undo() }
    #expect(error?.description.hasPrefix("Writer 1 has been changed since (name): nothing was changed. ") == true)
    #expect(lem.name == "Lemmy" && dick.name == "D.")
    try store.execute("UPDATE writer SET name = 'L.' WHERE name = 'Lemmy'")
    undo.undo()
    #expect(undo.lastError == nil && dick.name == "Dick")
  }

  @Test func `only the values that a save changed count, and others keep what they have set since`() throws {
    let solaris = try context.volume("Solaris")
    let key = solaris.persistentModelID.rowKey ?? 0
    solaris.price = 9
    try context.save()
    try store.execute("UPDATE volume SET title = 'Solyaris' WHERE id = \(key)")
    try context.undo()
    #expect(solaris.title == "Solyaris" && solaris.price == 0)
    try store.execute("UPDATE volume SET writer_id = NULL WHERE id = \(key)")
    try context.redo()
    #expect(solaris.title == "Solyaris" && solaris.price == 9 && solaris.writer == nil)
    // A row that was deleted since is still one that cannot be taken back.
    try store.execute("DELETE FROM volume WHERE id = \(key)")
    let error = #expect(throws: ModelError.self) { try context.undo() }
    #expect(error?.description.hasPrefix("Volume \(key) has been deleted since: ") == true)
  }

  @Test func `an insertion whose row others have changed since stays, and one that they have repeated is named`() throws
  {
    let capek = Writer(name: "Capek")
    context.insert(capek)
    try context.save()
    let key = capek.persistentModelID.rowKey ?? 0
    try store.execute("UPDATE writer SET name = 'Čapek' WHERE id = \(key)")
    let changed = #expect(throws: ModelError.self) { try context.undo() }
    #expect(changed?.description.hasPrefix("Writer \(key) has been changed since (name): ") == true)
    #expect(capek.name == "Čapek" && !capek.isDeleted)
    context.delete(capek)
    try context.save()
    try store.execute("INSERT INTO writer (id, name) VALUES (\(key), 'another')")
    let repeated = #expect(throws: ModelError.self) { try context.undo() }
    #expect(repeated?.description.hasPrefix("Writer \(key) is there again: ") == true)
  }

  @Test func `a value that others have made what it should become is one that they have changed`() throws {
    let eden = try context.volume("Eden")
    eden.price += 1
    try context.save()
    try context.undo()
    try store.execute("UPDATE volume SET price = price + 1 WHERE title = 'Eden'")
    let counted = #expect(throws: ModelError.self) { try context.redo() }
    #expect(counted?.description.contains(" has been changed since (price): ") == true)
    #expect(eden.price == 1 && undo.canRedo)
    try store.execute("UPDATE volume SET price = price - 1 WHERE title = 'Eden'")
    try context.redo()
    #expect(eden.price == 1)
    // A part of a group that others have undone does not let the rest be undone alone.
    let capek = Writer(name: "Capek")
    context.insert(capek)
    eden.price += 1
    try context.save()
    let key = capek.persistentModelID.rowKey ?? 0
    try store.execute("DELETE FROM writer WHERE id = \(key)")
    let gone = #expect(throws: ModelError.self) { try context.undo() }
    #expect(gone?.description.hasPrefix("Writer \(key) has been deleted since: ") == true)
    #expect(eden.price == 2 && undo.canUndo)
  }

  @Test func `in a transaction nothing is taken back, and what can be stays so`() throws {
    let eden = try context.volume("Eden")
    eden.price = 1
    try context.save()
    eden.price = 2
    try context.save()
    try context.undo()
    try context.transaction {
      #expect(throws: DatabaseError.nestedWrite) { try context.undo() }
      #expect(throws: DatabaseError.nestedWrite) { try context.redo() }
      undo.undo()
      #expect(undo.lastError as? DatabaseError == .nestedWrite)
    }
    #expect(eden.price == 1 && undo.canUndo && undo.canRedo)
    try context.redo()
    #expect(eden.price == 2)
    try context.undo()
    try context.undo()
    #expect(eden.price == 0)
    // A transaction that throws leaves it as it was, too.
    try? context.transaction {
      eden.price = 7
      throw Stopped()
    }
    try context.redo()
    #expect(eden.price == 1)
  }
  private struct Stopped: Error {}

  @Test func `an insertion that others refer to by now stays`() throws {
    let new = Writer(name: "Capek")
    context.insert(new)
    try context.save()
    try store.execute("UPDATE volume SET writer_id = \(new.persistentModelID.rowKey ?? 0) WHERE title = 'Ubik'")
    #expect(throws: ModelError.self) { try context.undo() }
    #expect(try context.volume("Ubik").writer === new)
  }

  @Test func `something saved after an undo ends what could be done again, and levels are kept`() throws {
    let lem = try context.writer("Lem")
    undo.levelsOfUndo = 2
    for name in ["a", "b", "c"] {
      lem.name = name
      try context.save()
    }
    try context.undo()
    try context.undo()
    try context.undo()
    #expect(lem.name == "a" && undo.canRedo)
    lem.name = "d"
    try context.save()
    #expect(!undo.canRedo)
    try context.delete(model: Volume.self)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 0)
    try context.undo()
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 3)
  }

  @Test func `random saves go back one by one to where they began`() throws {
    let seed = extraSeed
    let states = try statesOfRandomSaves(seed)
    for state in states.dropLast().reversed() {
      try context.undo()
      #expect(try rows() == state, "seed \(seed)")
    }
    for state in states.dropFirst() {
      try context.redo()
      #expect(try rows() == state, "seed \(seed)")
    }
  }

  @Test func `random saves go back beside what others write in other columns`() throws {
    let seed = extraSeed
    var random = Random(seed: seed)
    let other = ModelContext(store)
    func volumes() throws -> [Int64: [Value]] {
      let rows = try store.query("SELECT id, price, year, title FROM volume").map(\.values)
      return Dictionary(uniqueKeysWithValues: rows.map { row in (row[0].key, Array(row[1...])) })
    }
    let first = try volumes()
    var titles = first.mapValues { $0[2] }
    for step in 0..<30 {
      for volume in try context.all(Volume.self).shuffled(using: &random).prefix(2) {
        if Bool.random(using: &random) { volume.price = Double(step) } else { volume.year = step }
      }
      try context.save()
      if let theirs = try other.all(Volume.self).randomElement(using: &random) {
        theirs.title = "t\(step)"
        try other.save()
        titles[theirs.persistentModelID.rowKey ?? 0] = .text("t\(step)")
      }
    }
    while undo.canUndo { try context.undo() }
    #expect(try volumes().mapValues { Array($0.prefix(2)) } == first.mapValues { Array($0.prefix(2)) }, "seed \(seed)")
    #expect(try volumes().mapValues { $0[2] } == titles, "seed \(seed)")
    for volume in try context.all(Volume.self) {
      #expect(.text(volume.title) == titles[volume.persistentModelID.rowKey ?? 0], "seed \(seed)")
    }
  }

  @Test func `the control: a save that is not taken back is noticed`() throws {
    let seed = extraSeed
    var states = try statesOfRandomSaves(seed)
    context.insert(Writer(name: "unseen"))
    try context.save()
    undo.forgetLatest()
    states.append(try rows())
    var noticed = 0
    for state in states.dropLast(2).reversed() {
      try context.undo()
      if try rows() != state { noticed += 1 }
    }
    #expect(noticed == states.count - 2 && noticed > 0, "seed \(seed)")
  }

  /// The rows before and after each of some random saves.
  private func statesOfRandomSaves(_ seed: UInt64) throws -> [[[[Value]]]] {
    var random = Random(seed: seed)
    var states = [try rows()]
    for step in 0..<40 {
      let writers = try context.all(Writer.self)
      let volumes = try context.all(Volume.self)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: context.insert(Volume("v\(step)", writer: writers.randomElement(using: &random)))
        case 1: volumes.randomElement(using: &random)?.price += 1
        case 2: volumes.randomElement(using: &random)?.writer = writers.randomElement(using: &random)
        case 3: if let volume = volumes.randomElement(using: &random) { context.delete(volume) }
        case 4:
          volumes.filter { !$0.isDeleted }.randomElement(using: &random)?.contributors = Array(
            writers.shuffled(using: &random).prefix(2)
          ).filter { !$0.isDeleted }
        default:
          if step % 7 == 0, let writer = writers.randomElement(using: &random) { context.delete(writer) }
          context.insert(Writer(name: "w\(step)"))
        }
      }
      let before = undo.undoable.count
      do { try context.save() } catch ModelError.ignoredAssignments { try context.save() }
      if undo.undoable.count > before { states.append(try rows()) }
    }
    return states
  }
}

extension Value {
  /// Of a key; 0 for anything else.
  fileprivate var key: Int64 { if case .integer(let key) = self { key } else { 0 } }
}
