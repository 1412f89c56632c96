/// A one-row write of `live-join`.
enum JoinWrite {
  case book(id: Int64, BookWrite)
  case author(id: Int64, name: String)
}

/// Chooses the writes of `live-join`: those of ``WritePlan``, but where that sets a rating, which the list does not show,
/// an author is renamed. So two thirds of the writes are at books and a third at authors; half aim at rows of the list
/// or at their authors, half at any row.
struct JoinPlan {
  private var books: WritePlan
  private var random = SplitMix(seed: 17)
  private var count = 0

  init(rows: Int) { books = WritePlan(rows: rows) }

  /// The next write, given the list as it is now.
  mutating func next(count listed: Int, row: (Int) -> (id: Int64, title: String, author: Int64)) -> JoinWrite {
    count += 1
    var aimed: Int64?
    let (id, write) = books.next(count: listed) { place in
      let row = row(place)
      aimed = row.author
      return (row.id, row.title)
    }
    guard case .rating = write else { return .book(id: id, write) }
    let author = aimed ?? Int64.random(in: 1...Int64(Workload.authorCount), using: &random)
    return .author(id: author, name: "Author Renamed in Write \(count)")
  }
}
