import Observation

/// The contract's library as plain `@Observable` objects: in memory, nobody's.
@MainActor final class PlainLibrary: ObservedLibrary {
  private var novels: [Int64: PlainNovel] = [:]
  private let lem = PlainNovelist("Lem")
  private let guin = PlainNovelist("Le Guin")
  private let shelf = PlainShelf()

  init() {
    for (title, author) in [("Eden", lem), ("Solaris", lem), ("The Dispossessed", guin)] { insert(title, author) }
  }

  func novel(_ key: Int64) -> any ContractNovel { novels[key] ?? PlainNovel("missing") }
  func novelist(_ key: Int64) -> any ContractNovelist { writer(key) }
  func all() -> any ContractList { shelf }
  func listOfLem() -> (any ContractList)? { nil }
  var latestCommit: Int64? { nil }
  var isEdited: Bool { false }

  private func writer(_ key: Int64) -> PlainNovelist { key == 1 ? lem : guin }

  private func insert(_ title: String, _ author: PlainNovelist?) {
    let novel = PlainNovel(title)
    novels[Int64(novels.count) + 1] = novel
    shelf.novels.append(novel)
    put(novel, author)
  }

  private func put(_ novel: PlainNovel, _ author: PlainNovelist?) {
    if novel.plainAuthor === author { return }
    novel.plainAuthor?.plainNovels.removeAll { $0 === novel }
    novel.plainAuthor = author
    author?.plainNovels.append(novel)
  }

  func commit(_ changes: [ContractChange]) {
    for change in changes {
      switch change {
      case .title(let key, let title): novels[key]?.title = title
      case .isIn(let key, let isIn): novels[key]?.isIn = isIn
      case .edition(let key, let edition): novels[key]?.edition = edition
      case .writer(let key, let author): novels[key].map { put($0, author.map(writer)) }
      case .name(let key, let name): writer(key).name = name
      case .insert(let title, let author): insert(title, author.map(writer))
      case .insertMany(let count): for _ in 0..<count { insert("v", nil) }
      case .delete(let key):
        guard let novel = novels[key] else { continue }
        put(novel, nil)
        shelf.novels.removeAll { $0 === novel }
      case .deleteWriter, .visits, .degrees, .kept: break
      }
    }
  }
}

@Observable private final class PlainShelf: ContractList {
  var novels: [PlainNovel] = []
  var count: Int { novels.count }
  func first(_ count: Int) -> [any ContractNovel] { Array(novels.prefix(count)) }
}

@Observable private final class PlainNovelist: ContractNovelist {
  var name: String
  var plainNovels: [PlainNovel] = []
  var novels: [any ContractNovel] { plainNovels }
  var availableCount: Int { plainNovels.count { $0.isIn } }
  init(_ name: String) { self.name = name }
}

@Observable private final class PlainNovel: ContractNovel {
  var title: String
  var isIn = true
  var edition = Imprint()
  var plainAuthor: PlainNovelist?
  var author: (any ContractNovelist)? { plainAuthor }
  var draft = ""
  var box: Box?
  @ObservationIgnored var cache = 0
  init(_ title: String) { self.title = title }
}
