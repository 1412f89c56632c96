import Quire
import TestSupport
import Testing

/// Both sides of a relationship change at once, whatever those do who are notified of it.
@Suite(.fewAtOnce) struct RelationshipObserverTests {
  /// An author with two books, another one with none, and one who contributes to one of the books.
  struct Shelf {
    let store: ModelContainer
    let context: ModelContext
    let lem = Writer(name: "Lem")
    let other = Writer(name: "other")
    let helper = Writer(name: "helper")
    let eden = Volume("Eden")
    let fiasco = Volume("Fiasco")
    var writers: [Writer] { [lem, other, helper] }
    var volumes: [Volume] { [eden, fiasco] }

    init(_ store: ModelContainer, _ context: ModelContext) { (self.store, self.context) = (store, context) }

    /// New rows in that store, and a context of their own.
    init(in store: ModelContainer) throws {
      self.store = store
      context = ModelContext(store, isolation: nil)
      context.undoManager = UndoManager()
      for writer in writers { context.insert(writer) }
      lem.volumes = [eden, fiasco]
      fiasco.contributors = [helper]
      try context.save()
      eden.year = 1959
      try context.save()
      for writer in writers { _ = (writer.volumes, writer.contributed) }
      for volume in volumes { _ = volume.contributors }
    }

    /// Where an object refers to one that does not list it, or the other way round.
    var disagreements: [String] {
      let writers = writers.filter { !$0.isDeleted }
      let volumes = volumes.filter { !$0.isDeleted }
      var found: [String] = []
      for writer in writers {
        for volume in writer.volumes + writer.contributed where volume.isDeleted {
          found.append("deleted \(volume.title)")
        }
        for volume in volumes {
          if writer.volumes.contains(volume) != (volume.writer === writer) {
            found.append("\(writer.name) of \(volume.title)")
          }
          if writer.contributed.contains(volume) != volume.contributors.contains(writer) {
            found.append("\(writer.name) to \(volume.title)")
          }
        }
      }
      return found
    }

    func contents(_ find: (any PersistentModel) -> (any PersistentModel)?) -> [String] {
      writers.map { writer in
        guard let writer = find(writer) as? Writer, !writer.isDeleted else { return "\(writer.name) is gone" }
        return "\(writer.name): \(writer.volumes.map(\.title)) \(writer.contributed.map(\.title))"
      }
        + volumes.map { volume in
          guard let volume = find(volume) as? Volume, !volume.isDeleted else { return "\(volume.title) is gone" }
          return "\(volume.title): \(volume.writer?.name ?? "nobody") \(volume.contributors.map(\.name))"
        }
    }
  }

  struct Act: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (Shelf) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (Shelf) throws -> Void) {
      (testDescription, self.run) = (name, run)
    }
  }

  static let changes = [
    Act("a reference") { $0.eden.writer = $0.other },
    Act("no reference") { $0.eden.writer = nil },
    Act("a list") { $0.other.volumes = $0.lem.volumes },
    Act("an empty list") { $0.lem.volumes = [] },
    Act("a list of pairs") { $0.eden.contributors = [$0.helper, $0.other] },
    Act("its other side") { $0.helper.contributed = [$0.eden] },
    Act("a deletion") { $0.context.delete($0.fiasco) },
    Act("an insertion") { shelf in
      let new = Volume("new", writer: shelf.other)
      new.contributors = [shelf.helper]
      shelf.context.insert(new)
    },
    Act("a transaction") { shelf in try shelf.context.transaction { shelf.eden.writer = shelf.other } },
  ]

  struct Undone: Error {}

  /// What an observer does.
  static let deeds = [
    Act("looks") { _ in },
    Act("rolls back") { $0.context.rollback() },
    Act("saves") { try $0.context.save() },
    Act("undoes") { try $0.context.undo() },
    Act("assigns the same") { shelf in for volume in shelf.volumes { volume.writer = nil } },
    Act("assigns the same pairs") { shelf in for writer in shelf.writers { writer.contributed = [] } },
    Act("deletes the target") { $0.context.delete($0.other) },
    Act("deletes the object") { $0.context.delete($0.eden) },
    Act("takes in SQL") { shelf in
      try shelf.store.execute("UPDATE volume SET writer_id = \(shelf.other) WHERE id >= \(shelf.eden)")
      try shelf.context.refresh()
    },
    Act("undoes a transaction") { shelf in
      try? shelf.context.transaction {
        for volume in shelf.volumes { (volume.writer, volume.contributors) = (nil, []) }
        try shelf.context.save()
        throw Undone()
      }
    },
  ]

  @Test(arguments: changes) func `an observer sees both sides agree, and they agree after what it does`(
    change: Act
  ) throws {
    let store = try store()
    for deed in Self.deeds {
      for place in 0..<5 {
        for isBefore in [true, false] {
          let shelf = try Shelf(in: store)
          var seen: [[String]] = []
          func act() {
            if !seen.isEmpty { return }
            seen.append(shelf.disagreements)
            try? deed.run(shelf)
            seen.append(shelf.disagreements)
          }
          func listen(_ model: some PersistentModel) -> ChangeToken {
            isBefore ? model.onWillChange { _ in act() } : model.onDidChange { _ in act() }
          }
          let token = place < 3 ? listen(shelf.writers[place]) : listen(shelf.volumes[place - 3])
          withExtendedLifetime(token) { try? change.run(shelf) }
          seen.append(shelf.disagreements)
          do { try shelf.context.save() } catch { shelf.context.rollback() }
          let fresh = ModelContext(shelf.store, isolation: nil)
          // The row of a deleted object that was undone has another object.
          let file = shelf.contents { $0.isDeleted ? nil : fresh.model(for: $0.persistentModelID) }
          let words = "\(change.testDescription), \(deed.testDescription) \(isBefore ? "before" : "after") at \(place)"
          #expect(seen.joined().isEmpty, "\(words): \(seen)")
          #expect(shelf.contents { $0 } == file, "\(words)")
        }
      }
    }
  }

  static let writes = [
    Act("SQL") { try $0.context.execute("DELETE FROM volume_contributors") },
    Act("undo") { try $0.context.undo() },
    Act("a deletion by predicate") { shelf in
      try shelf.context.delete(model: Writer.self, where: #Predicate { $0.name == "helper" })
    },
  ]

  @Test(arguments: writes) func `what is first read before a context's own write changes it is as of before`(
    write: Act
  ) throws {
    let store = try store(["Lem": ["Eden"], "helper": []])
    let context = ModelContext(store, isolation: nil)
    context.undoManager = UndoManager()
    func link() throws -> Volume {
      let eden = try context.volume("Eden")
      eden.contributors = [try context.writer("helper")]
      try context.save()
      return eden
    }
    let eden = try link()
    try context.refresh()  // the helper is not in memory any more
    var seen: [[String]?] = []
    let tokens = [
      eden.onWillChange { change in
        seen.append(eden.contributors.map(\.name))
        seen.append(change.old(\.contributors)?.map(\.name))
      },
      eden.onDidChange { _ in seen.append(eden.contributors.map(\.name)) },
    ]
    try withExtendedLifetime(tokens) { try write.run(Shelf(store, context)) }
    #expect(seen == [["helper"], ["helper"], []])
  }

  static let endings: [Act] = [
    Act("rollback") { shelf in
      shelf.context.insert(Volume("new", writer: try shelf.context.writer("Lem")))
      shelf.context.rollback()
    },
    Act("a transaction that throws") { shelf in
      try? shelf.context.transaction {
        shelf.context.insert(Volume("new", writer: try shelf.context.writer("Lem")))
        throw CancellationError()
      }
    },
    Act("a transaction that throws after a save") { shelf in
      try? shelf.context.transaction {
        shelf.context.insert(Volume("new", writer: try shelf.context.writer("Lem")))
        try shelf.context.save()
        throw CancellationError()
      }
    },
  ]

  @Test(arguments: endings) func `a new object that leaves a list is in its old value`(ending: Act) throws {
    let store = try store(["Lem": ["Eden"]])
    let context = ModelContext(store, isolation: nil)
    let lem = try context.writer("Lem")
    #expect(lem.volumes.map(\.title) == ["Eden"])
    var seen: [[String]?] = []
    let tokens = [
      lem.onWillChange { change in
        seen.append(lem.volumes.map(\.title))
        seen.append(change.old(\.volumes)?.map(\.title))
      },
      lem.onDidChange { change in
        seen.append(change.old(\.volumes)?.map(\.title))
        seen.append(lem.volumes.map(\.title))
      },
    ]
    try withExtendedLifetime(tokens) { try ending.run(Shelf(store, context)) }
    #expect(seen.suffix(4) == [["Eden", "new"], ["Eden", "new"], ["Eden", "new"], ["Eden"]])
  }
}
