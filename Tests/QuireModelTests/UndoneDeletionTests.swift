import Observation
import Quire
import Synchronization
import TestSupport
import Testing

/// Objects that are held while their deletion is saved and undone: they are those of their rows again.
@Suite(.fewAtOnce) struct UndoneDeletionTests {
  let store: ModelContainer
  let context: ModelContext
  let undo = UndoManager()

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Solaris", "Eden"], "Dick": ["Ubik"]])
    context = ModelContext(store)
    context.undoManager = undo
  }

  @Test func `a deleted object is there again, and its edits are saved`() throws {
    let ubik = try context.volume("Ubik")
    context.delete(ubik)
    try context.save()
    #expect(ubik.isDeleted && ubik.modelContext == nil)
    try context.undo()
    #expect(!ubik.isDeleted && ubik.modelContext === context)
    #expect(try context.volume("Ubik") === ubik)
    #expect(ubik.writer?.volumes.map(\.title) == ["Ubik"])
    ubik.price = 3
    try context.save()
    #expect(try ModelContext(store).volume("Ubik").price == 3)
    try context.undo()
    try context.redo()
    #expect(ubik.price == 3)
    try context.undo()
    #expect(ubik.price == 0)
  }

  @Test func `an insertion that is undone and redone has its object`() throws {
    let fiasco = Volume("Fiasco", writer: try context.writer("Lem"))
    context.insert(fiasco)
    try context.save()
    for _ in 0..<2 {
      try context.undo()
      #expect(fiasco.isDeleted)
      try context.redo()
      #expect(!fiasco.isDeleted)
      #expect(try context.volume("Fiasco") === fiasco)
      #expect(fiasco.writer?.volumes.last === fiasco)
    }
  }

  @Test func `what went with it by a cascade is there again, and the lists on both sides are`() throws {
    let lem = try context.writer("Lem")
    let dick = try context.writer("Dick")
    let volumes = lem.volumes
    volumes[0].contributors = [dick]
    #expect(dick.contributed.count == 1)
    try context.save()
    context.delete(lem)
    try context.save()
    #expect(volumes.allSatisfy(\.isDeleted) && dick.contributed.isEmpty)
    try context.undo()
    #expect(!lem.isDeleted && !volumes.contains(where: \.isDeleted))
    #expect(areSame(lem.volumes, volumes))
    #expect(areSame(volumes[0].contributors, [dick]))
    #expect(areSame(dick.contributed, [volumes[0]]))
    #expect(volumes.allSatisfy { $0.writer === lem })
  }

  private func areSame<Model: AnyObject>(_ some: [Model], _ others: [Model]) -> Bool {
    some.map(ObjectIdentifier.init) == others.map(ObjectIdentifier.init)
  }

  @Test func `a deletion by predicate gives its objects back, and a live result has them`() throws {
    let eden = try context.volume("Eden")
    let result = try context.live(FetchDescriptor<Volume>(predicate: #Predicate { $0.title == "Eden" }))
    #expect(result.first === eden)
    try context.delete(model: Volume.self, where: #Predicate { $0.title == "Eden" })
    #expect(eden.isDeleted && result.isEmpty)
    try context.undo()
    #expect(!eden.isDeleted && result.first === eden)
  }

  @Test func `what was edited before the deletion is as in the row`() throws {
    let ubik = try context.volume("Ubik")
    ubik.price = 8
    context.delete(ubik)
    try context.save()
    #expect(ubik.price == 8)
    let changes = Locked(0)
    _ = withObservationTracking {
      ubik.price
    } onChange: {
      changes.withLock { $0 += 1 }
    }
    try context.undo()
    #expect(ubik.price == 0 && changes.withLock { $0 } == 1 && !ubik.hasChanges)
  }

  @Test(arguments: [true, false])
  func `what was linked and never saved before the deletion is not in its lists`(isRead: Bool) throws {
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let (eden, ubik) = (try context.volume("Eden"), try context.volume("Ubik"))
    ubik.contributors = [lem]
    try context.save()
    if isRead { #expect(lem.volumes.count == 2 && lem.contributed.count == 1) }
    eden.contributors = [lem, dick]
    ubik.writer = lem
    ubik.contributors = []
    context.delete(lem)
    try context.save()
    try context.undo()
    #expect(!lem.isDeleted && lem.contributed.map(\.title) == ["Ubik"] && ubik.contributors.map(\.name) == ["Lem"])
    #expect(eden.contributors.isEmpty && dick.contributed.isEmpty)
    #expect(lem.volumes.map(\.title).sorted() == ["Eden", "Solaris"] && dick.volumes.map(\.title) == ["Ubik"])
    #expect(ubik.writer === dick && !context.hasChanges)
  }

  @Test(arguments: [true, false])
  func `what was linked to it, and lost with its row, does not come back to the lists of others`(bySQL: Bool) throws {
    let (lem, dick) = (try context.writer("Lem"), try context.writer("Dick"))
    let (eden, ubik) = (try context.volume("Eden"), try context.volume("Ubik"))
    #expect(dick.volumes.count == 1 && dick.contributed.isEmpty && lem.volumes.count == 2)
    eden.contributors = [dick]
    eden.writer = dick
    let told = Mutex(false)
    withObservationTracking {
      _ = dick.contributed
    } onChange: {
      told.withLock { $0 = true }
    }
    if bySQL {
      try context.execute("DELETE FROM volume WHERE title = 'Eden'")
    } else {
      try context.delete(model: Volume.self, where: #Predicate { $0.title == "Eden" })
    }
    #expect(eden.isDeleted && dick.volumes.count == 1 && dick.contributed.isEmpty && told.withLock { $0 })
    context.rollback()
    _ = context.drainDeferredErrors()
    try context.undo()
    #expect(!eden.isDeleted && dick.volumes.map(\.title) == ["Ubik"] && dick.contributed.isEmpty)
    #expect(lem.volumes.count == 2 && eden.writer === lem && eden.contributors.isEmpty && ubik.writer === dick)
  }

  @Test func `an object that was inserted again stays that of its new row`() throws {
    let ubik = try context.volume("Ubik")
    let key = ubik.persistentModelID
    context.delete(ubik)
    try context.save()
    context.insert(ubik)
    ubik.title = "Ubik again"
    try context.save()
    let newKey = ubik.persistentModelID
    try context.undo()
    #expect(ubik.isDeleted)
    try context.undo()
    #expect(try context.volume("Ubik") !== ubik)
    #expect(try context.volume("Ubik").persistentModelID == key)
    #expect(ubik.isDeleted && newKey != key)
    try context.redo()
    try context.redo()
    #expect(try context.volume("Ubik again") === ubik && ubik.persistentModelID == newKey)
  }

  @Test func `its reference leads to the object of the row, if that is another one by now`() throws {
    let eden = try context.volume("Eden")
    let lem = try #require(eden.writer)
    let key = lem.persistentModelID.rowKey ?? 0
    try context.delete(model: Volume.self)
    try store.execute("DELETE FROM writer WHERE id = \(key)")
    try context.refresh()
    #expect(lem.isDeleted)
    try store.execute("INSERT INTO writer (id, name) VALUES (\(key), 'Another')")
    let another = try context.writer("Another")
    try context.undo()
    #expect(!eden.isDeleted && eden.writer === another && another.volumes.contains { $0 === eden })
  }

  @Test func `an object that nothing holds is not kept`() throws {
    weak var held: Volume?
    do {
      let ubik = try context.volume("Ubik")
      held = ubik
      context.delete(ubik)
      try context.save()
    }
    #expect(held == nil)
    try context.undo()
    #expect(try context.volume("Ubik").price == 0)
  }

  @Test(arguments: 0..<12) func `random saves, undone and redone, leave each row its object`(_ number: Int) throws {
    let seed = extraSeed &+ UInt64(number)
    var random = Random(seed: seed)
    var objects: [PersistentIdentifier: any PersistentModel] = [:]
    func note(_ model: some PersistentModel) {
      let known = objects[model.persistentModelID]
      #expect(known == nil || known === model, "seed \(seed)")
      objects[model.persistentModelID] = model
    }
    for step in 0..<60 {
      let writers = try context.all(Writer.self)
      let volumes = try context.all(Volume.self)
      for writer in writers { note(writer) }
      for volume in volumes { note(volume) }
      if Bool.random(using: &random) { for writer in writers { _ = (writer.volumes, writer.contributed) } }
      switch Int.random(in: 0..<9, using: &random) {
      case 0: context.insert(Volume("v\(step)", writer: writers.randomElement(using: &random)))
      case 1: volumes.randomElement(using: &random)?.price += 1
      case 2: volumes.randomElement(using: &random)?.writer = writers.randomElement(using: &random)
      case 3:
        guard let volume = volumes.randomElement(using: &random) else { break }
        if Bool.random(using: &random) { volume.price = -1 }
        context.delete(volume)
      case 4: if let writer = writers.randomElement(using: &random), writers.count > 1 { context.delete(writer) }
      case 5: volumes.randomElement(using: &random)?.contributors = Array(writers.shuffled(using: &random).prefix(2))
      case 6: context.insert(Writer(name: "w\(step)"))
      case 7: try context.undo()
      default: if Bool.random(using: &random) { try context.redo() } else { try context.undo() }
      }
      try context.save()
      try compare(seed, step)
    }
    while undo.canUndo { try context.undo() }
    try compare(seed, -1)
    #expect(try context.all(Volume.self).map(\.title).sorted() == ["Eden", "Solaris", "Ubik"], "seed \(seed)")
  }

  /// Values and lists of this context with those of a new one.
  private func compare(_ seed: UInt64, _ step: Int) throws {
    let fresh = ModelContext(store)
    func texts(_ context: ModelContext) throws -> [String] {
      try context.all(Volume.self).map { volume in
        let contributors = volume.contributors.map(\.name).sorted()
        return "\(volume.title) \(volume.price) \(volume.writer?.name ?? "-") \(contributors) \(volume.isDeleted)"
      }
        + context.all(Writer.self).map { writer in
          "\(writer.name) \(writer.volumes.map(\.title).sorted()) \(writer.contributed.map(\.title).sorted()) \(writer.isDeleted)"
        }
    }
    #expect(try texts(context) == texts(fresh), "seed \(seed), step \(step)")
  }
}
