import Quire

/// `watched-import`: models made, inserted and written by one save, until quiet, into a copy of the table that is
/// fresh for every round, with ten live results watched or none.
///
/// The ten are what an app might show at once: a limited list, a list of a year, one of an author, a projection with the
/// author's name, a count, a count by the author's name, an average, a sum, a maximum, and groups.
@MainActor final class QuireImport: Variant {
  static let most = 100_000

  private let stage: Stage
  private let isWatched: Bool
  private let rows: [BookRow]

  init(_ stage: Stage, isWatched: Bool) {
    self.stage = stage
    self.isWatched = isWatched
    var workload = Workload(seed: 23, firstID: Int64(stage.rows + 1))
    rows = workload.books(min(stage.rows, Self.most))
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let file = try stage.file()
    defer { stage.workspace.remove(file) }
    let container = try openContainer(file)
    let context = ModelContext(container)
    let authors = try context.authors()
    let watched = isWatched ? try Watched(context, author: authors[6]) : nil
    try await meter.measureUntilQuiet(rows.count) {
      for row in rows { context.insert(Book(row, by: authors[Int(row.authorID) - 1])) }
      try context.save()
    }
    try watched?.check(after: rows.count)
    try container.close()
    var checksum = Checksum()
    checksum.add(Int64(rows.count))
    return checksum
  }

  /// Ten live results and their observers.
  @MainActor private final class Watched {
    private let list: LiveQuery<Book>
    private let ofYear: LiveQuery<Book>
    private let ofAuthor: LiveQuery<Book>
    private let signed: LiveRows<BookSigned>
    private let available: LiveValue<Int>
    private let byName: LiveValue<Int>
    private let average: LiveValue<Double?>
    private let sum: LiveValue<Int>
    private let latest: LiveValue<Int?>
    private let years: LiveGroups<Int, (Int, Double?)>
    private let countBefore: Int
    private let heard = Heard()
    private var tokens: [Any] = []

    private final class Heard {
      var differences = 0
      var readings = 0
    }

    init(_ context: ModelContext, author: Author) throws {
      let name = author.name
      let authorID = author.persistentModelID
      list = try context.live(
        Book.self, where: #Predicate { $0.isAvailable && $0.year > 1990 }, sortBy: [SortDescriptor(\.title)], limit: 100
      )
      ofYear = try context.live(
        Book.self, where: #Predicate { $0.year == 2001 }, sortBy: [SortDescriptor(\.rating, order: .reverse)])
      ofAuthor = try context.live(
        Book.self, where: #Predicate { $0.author.persistentModelID == authorID }, sortBy: [SortDescriptor(\.title)])
      signed = try context.live(
        BookSigned.self, where: #Predicate { $0.rating > 4 }, sortBy: [SortDescriptor(\.title)], limit: 100)
      available = try context.liveCount(Book.self, where: #Predicate { $0.isAvailable })
      byName = try context.liveCount(Book.self, where: #Predicate { $0.author.name == name })
      average = try context.liveAverage(\Book.rating, where: #Predicate { $0.isAvailable })
      sum = try context.liveSum(\Book.year)
      latest = try context.liveMax(\Book.year)
      years = try context.liveGroups(Book.self, by: \.year, .count, .average(\.rating))
      countBefore = years.reduce(0) { $0 + $1.values.0 }
      let heard = heard
      for list in [list, ofYear, ofAuthor] { tokens.append(list.onDifference { _ in heard.differences += 1 }) }
      tokens.append(signed.onDifference { _ in heard.differences += 1 })
      tokens.append(years.onDifference { _ in heard.differences += 1 })
      for value in [available, byName, sum] {
        tokens.append(
          observe {
            _ = value.value
            heard.readings += 1
          })
      }
      tokens.append(
        observe { [average] in
          _ = average.value
          heard.readings += 1
        })
      tokens.append(
        observe { [latest] in
          _ = latest.value
          heard.readings += 1
        })
    }

    /// They must have followed.
    func check(after inserted: Int) throws {
      guard years.reduce(0, { $0 + $1.values.0 }) == countBefore + inserted, heard.differences == 5 else {
        throw RawError(code: 0, message: "the import was not followed: \(heard.differences) of 5 were told")
      }
    }
  }
}
