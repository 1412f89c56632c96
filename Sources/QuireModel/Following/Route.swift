import QuireRow

/// Entries whose filters use the same columns of one table: a change's values in these columns are looked up once for
/// all.
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
  /// All buckets, while there are few: then comparing each is faster than hashing every row's key.
  private var few: [(key: RouteKey, bucket: RouteBucket)] = []
  private let isEmptied: () -> Void
  private var places: RoutePlaces?
  /// Set only by tests: ignores rows' old values, to prove that the differential test would fail.
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

  /// Adds every entry that the changes may affect.
  ///
  /// - Parameters:
  ///   - table: The position of `changes` in the batch.
  ///   - isAltered: Whether the table occurs in several forms: then values cannot be compared.
  /// - Complexity: O(rows) look-ups, and the entries found.
  func find(_ changes: TableChanges, table: Int, isAltered: Bool, into pass: inout RoutingPass) {
    let places = places(in: changes.table)
    guard places.isComplete, !isAltered else { return addAll(table, &pass) }
    var found: [RouteBucket] = []
    for (row, change) in changes.rows.enumerated() {
      if places.isSame(change) { continue }
      if form.choices.isEmpty { return addAll(table, &pass) }
      let old = forgetsOld || change.kind == .insert ? .absent : places.side(change.old, of: change)
      let new = change.kind == .delete ? .absent : places.side(change.new, of: change)
      if old == .unknown || new == .unknown { return addAll(table, &pass) }
      let before = bucket(old)
      let after = new == old ? nil : bucket(new)
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

/// The positions of a route's columns in the changes of their table: found by name once for each form of the table.
private final class RoutePlaces {
  let table: ChangedTable
  /// Nil if every column counts, or if one of them does not exist any more.
  private let columns: [Int]?
  private let choices: [Int]
  /// The column that is the row's integer key: captured with every change, and never changed by an update.
  private let key: Int?
  /// False if the table no longer has all these columns.
  let isComplete: Bool

  /// The look-up key of one side of a change.
  enum Side: Equatable {
    case absent
    /// Not captured, because the transaction began before the capture was requested.
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

  /// Whether an update certainly left all the columns unchanged.
  func isSame(_ change: RowChange) -> Bool {
    guard let columns else { return false }
    return change.isUnchanged(in: columns)
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
