import QuireRow

/// A query, and the window of its rows: the knowledge of a ``WindowOperator``. A value.
struct WindowState {
  let select: SelectQuery
  /// Whether it is a search in the order of rank.
  let isRanked: Bool
  let terms: [OrderTerm]
  let columns: QueryColumns
  var cache: PlaceCache
  var window: Window
  private let limit: Int?
  let offset: Int

  /// - Parameter held: A window of the same rows in the same order: the rows it holds need not be read.
  init(_ select: SelectQuery, holding held: Window? = nil) {
    self.select = select
    isRanked = select.isRanked
    terms = select.totalOrder
    // As in SQLite, a negative limit means no limit; so does one larger than any table.
    limit = select.limit.flatMap { $0 < 0 || $0 > 1 << 40 ? nil : $0 }
    offset = min(max(select.offset, 0), 1 << 40)
    let wanted = limit.map { [offset] in $0 + offset }
    window =
      held.map { Window($0, wanted: wanted) }
      ?? Window(order: EntryOrder(ascending: terms.map(\.ascending)), wanted: wanted)
    columns = QueryColumns(select, select.decidingColumns, related: select.related)
    cache = PlaceCache(count: 1 + columns.reached.count)
  }

  /// How many rows are shown.
  var shownCount: Int { max(0, min(window.entries.count - offset, limit ?? .max)) }

  func shown(from start: Int, to end: Int) -> ArraySlice<Int64> {
    window.entries[min(offset + start, window.entries.count)..<min(offset + end, window.entries.count)].map(\.key)[...]
  }

  /// The index at which a row is shown; nil for one that is not.
  func place(of key: Int64) -> Int? {
    guard let at = window.position(of: key).map({ $0 - offset }), at >= 0, at < shownCount else { return nil }
    return at
  }

  /// Whether a row is held behind those shown.
  func isBehind(_ key: Int64) -> Bool { window.position(of: key).map { $0 >= offset + shownCount } ?? false }

  /// The section of a row that is held: the first value it is ordered by.
  func section(of key: Int64) -> Value { window.sort(of: key)?.first ?? .null }

  /// The positions of shown rows that changed and neither came nor moved.
  func places(of updated: some Collection<Int64>, besides difference: KeyDifference) -> [(key: Int64, at: Int)] {
    if updated.isEmpty { return [] }
    let others = Set(difference.inserts.map(\.key) + difference.moves.map(\.key))
    return updated.compactMap { key -> (key: Int64, at: Int)? in
      others.contains(key) ? nil : place(of: key).map { (key, $0) }
    }.sorted { $0.at < $1.at }
  }
}

extension SelectQuery {
  /// Whether the other query differs in limit and offset only.
  func isEqualButForPage(_ other: SelectQuery) -> Bool {
    var paged = self
    (paged.limit, paged.offset) = (other.limit, other.offset)
    return paged == other
  }
}
