import QuireRow
import QuireSQLite

@testable import QuireLive
@testable import QuireModel

/// A live result that receives other changes than were made, or forgets what it knows: proves that a test would notice.
///
/// Takes the result's place among its context's, for as long as it is referenced.
final class Distorted: CommitFollower {
  private let node: any LiveEngine
  private let owner: ContextCore
  private let distort: (inout CommitBatch) -> Void

  init(_ node: any LiveEngine, in owner: ContextCore, _ distort: @escaping (inout CommitBatch) -> Void) {
    self.node = node
    self.owner = owner
    self.distort = distort
    attach()
  }

  /// Again: a result that has replaced its query follows by itself.
  func attach() {
    owner.following.followers.remove(node)
    owner.following.followers.add(self)
  }

  var tables: [String] { node.tables }
  var filters: [ChangeFilter] { node.filters }
  var followsSchema: Bool { node.followsSchema }
  var isFollowing: Bool { node.isFollowing }
  var shownKeys: (table: String, keys: [Int64])? { node.shownKeys }

  func compute(_ batch: CommitBatch, on connection: Connection) -> Bool {
    if node.isPaused { return false }
    var batch = batch
    distort(&batch)
    defer { owner.following.followers.remove(node) }
    return node.compute(batch, on: connection)
  }

  func willChange() { node.willChange() }
  func apply() {
    node.apply()
    owner.following.followers.remove(node)
  }
  func didChange() { node.didChange() }
}

extension CommitBatch {
  /// Leaves out all tables but one.
  mutating func keep(only table: String) { tables.removeAll { $0.table.name != table } }

  mutating func drop(_ table: String) { tables.removeAll { $0.table.name == table } }

  /// Leaves out what rows of other tables were: whose they were is not known then.
  mutating func forgetOldOrigins(but base: String) {
    tables = tables.map { changes in
      if changes.table.name == base { return changes }
      let rows = changes.rows.compactMap { change -> RowChange? in
        change.kind == .delete ? nil : RowChange(key: change.key, kind: .insert, old: nil, new: change.new)
      }
      return TableChanges(table: changes.table, rows: rows)
    }
  }

  /// Leaves out the updates of rows that are not among these.
  mutating func keepUpdates(in table: String, of keys: Set<Int64>) {
    tables = tables.map { changes in
      if changes.table.name != table { return changes }
      let rows = changes.rows.filter { change in
        guard change.kind == .update, case .integer(let key) = change.key else { return true }
        return keys.contains(key)
      }
      return TableChanges(table: changes.table, rows: rows)
    }
  }
}

extension WindowOperator {
  /// Makes it take in what lies beyond the last row held.
  func forgetFrontier() { state.window = state.window.withoutFrontier }
}

extension Window {
  var withoutFrontier: Window {
    var window = Window(order: order, wanted: wanted)
    window.fill(entries, limit: nil)
    return window
  }
}

extension LiveQuery {
  var list: WindowOperator { node.content.window }
}

extension LiveGroups {
  var timesFilled: Int { node.content.tracker.timesFilled }
}

extension LiveValue {
  var timesFilled: Int { node.content.tracker.timesFilled }
}
