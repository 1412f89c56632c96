import Quire
import Testing

@testable import QuireLive

/// The observation contract, and what observers may do besides. One test at a time: each has files and watchers of its own.
@Suite(.serialized, .timeLimit(.minutes(60))) enum ContractTests {}

/// What the observation contract is tried on, whoever keeps it: a library, and changes to it that come from one place.
///
/// "Eden" (1) and "Solaris" (2) by Lem (1), "The Dispossessed" (3) by Le Guin (2). Another store goes through the contract
/// by conforming to this and standing in ``Subject/stores``.
@MainActor protocol ObservedLibrary: AnyObject {
  func novel(_ key: Int64) -> any ContractNovel
  func novelist(_ key: Int64) -> any ContractNovelist
  /// A list of all novels.
  func all() throws -> any ContractList
  /// Lem's novels by title, kept in step; nil of who has nothing that does that.
  func listOfLem() throws -> (any ContractList)?
  /// Makes the changes, as one commit, and takes them in. Readers have not run yet.
  func commit(_ changes: [ContractChange]) throws
  /// The number of the latest commit; nil of who has none.
  var latestCommit: Int64? { get }
  /// Whether there is anything to save.
  var isEdited: Bool { get }
}

protocol ContractNovel: AnyObject {
  var title: String { get set }
  var isIn: Bool { get set }
  var edition: Imprint { get set }
  var author: (any ContractNovelist)? { get }
  /// Observed, and not stored.
  var draft: String { get set }
  /// An object that is no model.
  var box: Box? { get set }
  /// Not observed.
  var cache: Int { get set }
}

protocol ContractNovelist: AnyObject {
  var name: String { get set }
  var novels: [any ContractNovel] { get }
  /// How many of the novels are in.
  var availableCount: Int { get }
}

protocol ContractList: AnyObject {
  var count: Int { get }
  func first(_ count: Int) -> [any ContractNovel]
}

struct Imprint: Codable, Hashable, Sendable {
  var number = 1
  var year = 1961
}

final class Box {
  var content = 0
}

/// One change of the library, whoever makes it.
enum ContractChange: Sendable {
  case title(Int64, String)
  case isIn(Int64, Bool)
  case edition(Int64, Imprint)
  case writer(Int64, Int64?)
  case name(Int64, String)
  case insert(String, writer: Int64?)
  /// So many novels more, of nobody.
  case insertMany(Int)
  case delete(Int64)
  case deleteWriter(Int64)
  case visits(Int)
  case degrees(Int)
  /// A value kept under a name, where there is a table of them.
  case kept(String, Int)
}

extension ObservedLibrary {
  /// Makes the changes and waits until the readers have run.
  func make(_ changes: ContractChange...) async throws {
    try commit(changes)
    await turn()
  }

  /// Until the jobs that are waiting on the main actor have run, a reader's among them, and what these have set off.
  func turn() async { for _ in 0..<20 { await Task.yield() } }
}

/// Who is put through the contract, with where its changes come from.
struct Subject: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let open: @MainActor @Sendable () throws -> any ObservedLibrary

  /// The store, for each source of changes that the contract's lines are to hold for.
  static let stores = allSources.map { source in
    Subject(testDescription: source.testDescription) { try QuireLibrary(source) }
  }
  /// And, as a control, observable objects that nobody stores: a line that they break is one about the test.
  static let all = stores + [Subject(testDescription: "plain objects") { PlainLibrary() }]
}
