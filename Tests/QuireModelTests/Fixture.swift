import Quire
import Testing

@Model final class Writer {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Volume.writer) var volumes: [Volume] = []
  var contributed: [Volume] = []
  init(name: String) { self.name = name }
}

@Model final class Volume {
  var title: String
  var year: Int?
  var price: Double = 0
  var isIn = true
  var writer: Writer?
  @Relationship(inverse: \Writer.contributed) var contributors: [Writer] = []
  init(_ title: String, year: Int? = nil, writer: Writer? = nil) {
    self.title = title
    self.year = year
    self.writer = writer
  }
}

func store() throws -> ModelContainer {
  try ModelContainer(for: Writer.self, Volume.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

/// A store with these writers, each with these volumes.
func store(_ shelf: KeyValuePairs<String, [String]>) throws -> ModelContainer {
  let store = try store()
  let context = ModelContext(store)
  for (name, titles) in shelf {
    let writer = Writer(name: name)
    context.insert(writer)
    for title in titles { context.insert(Volume(title, writer: writer)) }
  }
  try context.save()
  return store
}

extension ModelContext {
  func writer(_ name: String) throws -> Writer {
    try #require(try fetch(FetchDescriptor<Writer>(predicate: #Predicate { $0.name == name })).first)
  }

  func volume(_ title: String) throws -> Volume {
    try #require(try fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.title == title })).first)
  }

  func all<Model: PersistentModel>(_: Model.Type) throws -> [Model] { try fetch(FetchDescriptor<Model>()) }
}

extension ModelContainer {
  /// The first column of the first row.
  func value(_ sql: SQL) throws -> Value { try query(sql).first?[0] ?? .null }
}

/// A file of its own, removed with this object.
final class TemporaryFile {
  let url: URL
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-models-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appending(path: "test.db")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}

/// Lets what is waiting on this isolation run.
func turn() async {
  for _ in 0..<10 { await Task.yield() }
  try? await Task.sleep(for: .milliseconds(2))
}

/// Counts calls from wherever.
final class Tally: Sendable {
  private let number = Locked(0)
  var count: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}

/// Runs `read` tracked; the tally counts whether what it read has changed since.
func tracking(_ read: () -> Void) -> Tally {
  let tally = Tally()
  withObservationTracking(read) { tally.add() }
  return tally
}
