import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

// The contract's library in a store of ours, and where changes to it come from.

@Model final class Novelist {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Novel.writer) var volumes: [Novel] = []
  init(_ name: String) { self.name = name }

  var availableCount: Int { volumes.count { $0.isIn } }
}

extension Novelist: ContractNovelist {
  var novels: [any ContractNovel] { volumes }
}

@Model final class Novel {
  var title: String
  var isIn = true
  var edition = Imprint()
  var writer: Novelist?
  @Transient var draft = ""
  @Transient var box: Box? = nil
  @ObservationIgnored var cache = 0
  init(_ title: String, writer: Novelist? = nil) {
    self.title = title
    self.writer = writer
  }
}

extension Novel: ContractNovel {
  var author: (any ContractNovelist)? { writer }
}

extension LiveQuery<Novel>: ContractList {
  func first(_ count: Int) -> [any ContractNovel] { Array(prefix(count)) }
}

/// Announces every tenth change.
@Model final class Visits: ChangeNotificationFiltering {
  var count = 0
  @ObservationIgnored var changes = 0
  init() {}

  func announces(_ change: ObjectChange<Visits>) -> Bool {
    changes += 1
    return changes % 10 == 0
  }
}

/// Announces when it passes a hundred, up or down.
@Model final class Temperature: ChangeNotificationFiltering {
  var degrees = 0
  init() {}

  func announces(_ change: ObjectChange<Temperature>) -> Bool {
    guard let old = change.old(\.degrees), let new = change.new(\.degrees) else { return false }
    return (old < 100) != (new < 100)
  }
}

extension ContractChange {
  var sql: String {
    switch self {
    case .title(let key, let title): "UPDATE novel SET title = '\(title)' WHERE id = \(key)"
    case .isIn(let key, let isIn): "UPDATE novel SET is_in = \(isIn ? 1 : 0) WHERE id = \(key)"
    case .edition(let key, let edition):
      "UPDATE novel SET edition = '{\"number\":\(edition.number),\"year\":\(edition.year)}' WHERE id = \(key)"
    case .writer(let key, let writer):
      "UPDATE novel SET writer_id = \(writer.map { "\($0)" } ?? "NULL") WHERE id = \(key)"
    case .name(let key, let name): "UPDATE novelist SET name = '\(name)' WHERE id = \(key)"
    case .insert(let title, let writer):
      "INSERT INTO novel (title, is_in, edition, writer_id) VALUES ('\(title)', 1, '{\"number\":1,\"year\":1961}', \(writer.map { "\($0)" } ?? "NULL"))"
    case .insertMany(let count):
      """
      INSERT INTO novel (title, is_in, edition) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      SELECT 'v', 1, '{"number":1,"year":1961}' FROM n
      """
    case .delete(let key): "DELETE FROM novel WHERE id = \(key)"
    case .deleteWriter(let key): "DELETE FROM novelist WHERE id = \(key)"
    case .visits(let count): "UPDATE visits SET count = \(count) WHERE id = 1"
    case .degrees(let degrees): "UPDATE temperature SET degrees = \(degrees) WHERE id = 1"
    case .kept(let name, let value):
      "INSERT INTO kept_value VALUES ('\(name)', '\(value)') ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    }
  }

  func make(in context: ModelContext) throws {
    func volume(_ key: Int64) throws -> Novel { try #require(context.model(Novel.self, key: key)) }
    func writer(_ key: Int64) throws -> Novelist { try #require(context.model(Novelist.self, key: key)) }
    switch self {
    case .title(let key, let title): try volume(key).title = title
    case .isIn(let key, let isIn): try volume(key).isIn = isIn
    case .edition(let key, let edition): try volume(key).edition = edition
    case .writer(let key, let target): try volume(key).writer = target.map(writer)
    case .name(let key, let name): try writer(key).name = name
    case .insert(let title, let target): context.insert(Novel(title, writer: try target.map(writer)))
    case .insertMany(let count): for _ in 0..<count { context.insert(Novel("v")) }
    case .delete(let key): context.delete(try volume(key))
    case .deleteWriter(let key): context.delete(try writer(key))
    case .visits(let count): try #require(context.model(Visits.self, key: 1)).count = count
    case .degrees(let degrees): try #require(context.model(Temperature.self, key: 1)).degrees = degrees
    case .kept(let name, let value): try context.setting(name, default: value + 1).set(value)
    }
  }
}

/// Where changes come from: a reader must not be able to tell.
protocol ChangeSource: Sendable, CustomTestStringConvertible {
  /// Makes the changes, as one commit.
  @MainActor func make(_ changes: [ContractChange], in library: QuireLibrary) throws
}

/// Every source that the contract's lines are to hold for.
let allSources: [any ChangeSource] = [SetHere(), OtherContext(), RawSQL(), Trigger(), OtherProcess()]

struct SetHere: ChangeSource {
  let testDescription = "set here"
  func make(_ changes: [ContractChange], in library: QuireLibrary) throws {
    for change in changes { try change.make(in: library.context) }
    try library.context.save()
  }
}

struct OtherContext: ChangeSource {
  let testDescription = "another context's save"
  func make(_ changes: [ContractChange], in library: QuireLibrary) throws {
    let other = ModelContext(library.store, isolation: nil)
    for change in changes { try change.make(in: other) }
    try other.save()
  }
}

struct RawSQL: ChangeSource {
  let testDescription = "raw SQL"
  func make(_ changes: [ContractChange], in library: QuireLibrary) throws {
    try library.store.writeSQL { transaction in
      for change in changes { try transaction.connection.execute(change.sql) }
    }
  }
}

struct Trigger: ChangeSource {
  let testDescription = "a trigger"
  func make(_ changes: [ContractChange], in library: QuireLibrary) throws {
    try library.store.writeSQL { transaction in
      let connection = transaction.connection
      try connection.execute("CREATE TABLE IF NOT EXISTS bell (rung INTEGER)")
      try connection.execute("DROP TRIGGER IF EXISTS ring")
      let body = changes.map { $0.sql + "; " }.joined()
      try connection.execute("CREATE TRIGGER ring AFTER INSERT ON bell BEGIN \(body)END")
      try connection.execute("INSERT INTO bell VALUES (1)")
    }
  }
}

/// The sqlite3 program with the file open; where the file has a change log, and where that program is not installed, a
/// program that uses Quire, whose commits the log tells apart.
struct OtherProcess: ChangeSource {
  let testDescription = "another process"
  func make(_ changes: [ContractChange], in library: QuireLibrary) throws {
    let sql = changes.map { $0.sql + ";\n" }.joined()
    try library.inOtherProcess("BEGIN IMMEDIATE;\n\(sql)COMMIT;")
  }
}

/// A library in a file: "Eden" (1) and "Solaris" (2) by Lem (1), "The Dispossessed" (3) by Le Guin (2).
@MainActor final class QuireLibrary: ObservedLibrary {
  private let folder: URL
  let store: ModelContainer
  let context: ModelContext
  let file: URL
  private let source: any ChangeSource
  private let hasLog: Bool

  init(_ source: any ChangeSource = SetHere(), changeLog: ChangeLog = .asInFile) throws {
    self.source = source
    if case .on = changeLog { hasLog = true } else { hasLog = false }
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    file = folder.appending(path: "library.db")
    store = try QuireLibrary.open(file, changeLog)
    context = ModelContext(store)
    let (lem, guin) = (Novelist("Lem"), Novelist("Le Guin"))
    context.insert(lem)
    context.insert(guin)
    for volume in [
      Novel("Eden", writer: lem), Novel("Solaris", writer: lem), Novel("The Dispossessed", writer: guin),
    ] { context.insert(volume) }
    context.insert(Visits())
    context.insert(Temperature())
    try context.save()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  static func open(_ file: URL, _ changeLog: ChangeLog = .asInFile) throws -> ModelContainer {
    var configuration = ModelConfiguration(url: file, changeLog: changeLog)
    configuration.synchronous = .off
    return try ModelContainer(
      for: Schema(Novelist.self, Novel.self, Visits.self, Temperature.self), configurations: configuration)
  }

  /// The program that is the other process.
  private var other: OtherProgram?

  func inOtherProcess(_ sql: String) throws {
    if let other {
      try other.run(sql)
    } else if SQLiteShell.path != nil, !hasLog {
      let shell = try SQLiteShell(file.path)
      other = shell
      try shell.run("PRAGMA foreign_keys = ON;\n\(sql)")
    } else {
      let quire = try QuireProgram(file.path)
      other = quire
      try quire.run(sql)
    }
  }

  // MARK: What the contract asks for

  func novel(_ key: Int64) -> any ContractNovel { volume(key) }
  func novelist(_ key: Int64) -> any ContractNovelist { writer(key) }
  func all() throws -> any ContractList { try context.live(Novel.self) }
  func listOfLem() throws -> (any ContractList)? {
    try context.live(Novel.self, where: #Predicate { $0.writer?.name == "Lem" }, sortBy: [SortDescriptor(\.title)])
  }
  func commit(_ changes: [ContractChange]) throws {
    try source.make(changes, in: self)
    try context.refresh()
  }
  var latestCommit: Int64? { store.latestCommit }
  var isEdited: Bool { context.hasChanges }

  // MARK: What is ours

  var eden: Novel { volume(1) }
  func volume(_ key: Int64) -> Novel { context.model(Novel.self, key: key) ?? Novel("missing") }
  func writer(_ key: Int64) -> Novelist { context.model(Novelist.self, key: key) ?? Novelist("missing") }

  /// Makes the changes and waits until the context has them, and its readers have run.
  func make(_ source: any ChangeSource, _ changes: ContractChange...) async throws {
    try source.make(changes, in: self)
    try context.refresh()
    await turn()
  }

  /// Until what must come by itself has come.
  func settle(_ condition: () -> Bool) async throws {
    for _ in 0..<20_000 where !condition() { try await Task.sleep(for: .milliseconds(1)) }
    await turn()
  }
}
