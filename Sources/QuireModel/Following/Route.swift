import QuireRow

/// RouteEntries whose concerns look at the same columns of one table: what a change has in those is looked up once for all.
final class Route {
  struct Form: Hashable {
    let table: String
    let columns: Set<String>?
    let choices: [String]

    init(_ changeFilter: ChangeFilter) {
      table = changeFilter.table
      columns = changeFilter.columns
      choices = changeFilter.choices.map(\.column)
    }
  }

  let form: Form
  private var buckets: [RouteKey: RouteBucket] = [:]
  /// All of them where they are few: then a look at each is quicker than to hash the key of every row.
  private var few: [(key: RouteKey, bucket: RouteBucket)] = []
  private let isEmptied: () -> Void
  private var places: RoutePlaces?
  /// Set by tests alone: forgets what a row was, to prove that the differential test would notice.
  var forgetsOld = false

  init(_ form: Form, isEmptied: @escaping () -> Void) {
    self.form = form
    self.isEmptied = isEmptied
  }

  func add(_ entry: RouteEntry, at key: RouteKey) {
    let bucket: RouteBucket
    if let known = buckets[key] {
      bucket = known
    } else {
      bucket = RouteBucket { [unowned self] in
        buckets[key] = nil
        findFew()
        if buckets.isEmpty { isEmptied() }
      }
      buckets[key] = bucket
      findFew()
    }
    bucket.add(entry)
  }

  private func findFew() { few = buckets.count <= 4 ? buckets.map { ($0, $1) } : [] }

  /// Everybody whom the changes may concern.
  ///
  /// - Parameters:
  ///   - table: The place of `changes` in the batch.
  ///   - isAltered: Whether the table comes in several forms: nothing is judged by its values then.
  /// - Complexity: O(rows) look-ups, and what is found.
  func find(_ changes: TableChanges, table: Int, isAltered: Bool, into pass: inout RoutingPass) {
    let places = places(in: changes.table)
    guard places.isComplete, !isAltered else { return addAll(table, &pass) }
    var found: [RouteBucket] = []
    for row in changes.rows.indices {
      if form.choices.isEmpty {
        if places.isSame(changes.rows[row]) { continue }
        return addAll(table, &pass)
      }
      let kind = changes.rows[row].kind
      let old = forgetsOld || kind == .insert ? .absent : places.side(changes.rows[row].old, of: changes.rows[row])
      let new = kind == .delete ? .absent : places.side(changes.rows[row].new, of: changes.rows[row])
      if old == .unknown || new == .unknown { return addAll(table, &pass) }
      let before = bucket(old)
      let after = new == old ? nil : bucket(new)
      if before == nil && after == nil || places.isSame(changes.rows[row]) { continue }
      if before?.note(row, in: pass.number) == true, let before { found.append(before) }
      if after?.note(row, in: pass.number) == true, let after { found.append(after) }
    }
    for bucket in found { for entry in bucket.entries { pass.add(entry, table: table, rows: bucket.rows) } }
  }

  private func bucket(_ side: RoutePlaces.Side) -> RouteBucket? {
    guard case .key(let key) = side else { return nil }
    if few.isEmpty { return buckets[key] }
    for place in few.indices where few[place].key == key { return few[place].bucket }
    return nil
  }

  private func addAll(_ table: Int, _ pass: inout RoutingPass) {
    for bucket in buckets.values { for entry in bucket.entries { pass.add(entry, table: table, rows: nil) } }
  }

  private func places(in table: ChangedTable) -> RoutePlaces {
    if let places, places.table === table { return places }
    let found = RoutePlaces(form, in: table)
    places = found
    return found
  }
}

/// Where a route's columns stand in the changes of their table: found by name once for each form of the table.
private struct RoutePlaces {
  let table: ChangedTable
  /// Nil where any column counts, or one of them is not there any more.
  private let columns: [Int]?
  private let choices: [Int]
  /// The column that is the row's integer key: captured with every change, and never another.
  private let key: Int?
  /// False where the table has no such column any more.
  let isComplete: Bool

  /// What one side of a change is looked up by.
  enum Side: Equatable {
    case absent
    /// Not captured: the transaction began before anybody asked.
    case unknown
    case key(RouteKey)
  }

  init(_ form: Route.Form, in table: ChangedTable) {
    self.table = table
    let key = table.keyColumns.count == 1 ? table.keyColumns[0] : nil
    self.key = key
    let choices = form.choices.compactMap(table.index)
    self.choices = choices
    isComplete = choices.count == form.choices.count
    let places = form.columns?.compactMap(table.index)
    columns = places?.count == form.columns?.count ? places?.filter { $0 != key } : nil
  }

  /// Whether an update surely left all the columns as they were.
  func isSame(_ change: RowChange) -> Bool {
    guard change.kind == .update, let columns, let old = change.old, let new = change.new else { return false }
    for place in columns {
      guard let before = old[place], let after = new[place], before == after else { return false }
    }
    return true
  }

  func side(_ image: RowChange.RowValues?, of change: RowChange) -> Side {
    var result = RouteKey()
    for place in choices {
      if place == key, case .integer(let key) = change.key {
        result.append(.integer(key))
      } else if let value = image?[place] {
        result.append(value.equalityKey)
      } else {
        return .unknown
      }
    }
    return .key(result)
  }
}
