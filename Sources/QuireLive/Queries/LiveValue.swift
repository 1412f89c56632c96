public import Foundation
public import Observation
public import QuireModel
import QuireRow
package import QuireSQLite

/// A number that follows its rows.
///
/// A change is judged by the old and new values of the columns the predicate reads, so that one commit costs what it
/// changed and not what there is. Where those were not captured, or the predicate looks at other tables, the number is
/// asked for again.
public final class LiveValue<Value: Equatable>: Observable, Participant {
  private let owner: Owner
  private let context: ModelContext
  private let select: SelectQuery
  private let ownColumns: Set<String>?
  private let convert: (Int) -> Value
  private let registrar = ObservationRegistrar()
  private var interest: InterestToken?
  private var count = 0
  private var next: (count: Int, commit: Int64, error: (any Error)?)?
  private var needsCounting = false
  public private(set) var commitNumber: Int64
  /// Why it could not follow the last commit; nil while it does.
  public private(set) var error: (any Error)?
  /// How many statements it has run since it was made.
  public private(set) var queriesRun = 0

  init(_ context: ModelContext, _ select: SelectQuery, convert: @escaping (Int) -> Value) throws {
    self.context = context
    self.owner = context.owner
    self.select = select
    self.convert = convert
    let columns = select.filter?.columns ?? []
    ownColumns = columns.allSatisfy(\.steps.isEmpty) ? Set(columns.map(\.column)) : nil
    commitNumber = owner.position.number
    if let ownColumns, !ownColumns.isEmpty {
      interest = owner.store?.database.addInterest(Interest(table: select.table, columns: ownColumns))
    }
    count = try owner.position.read { try counted(on: $0) }
    owner.participants.add(self)
  }

  deinit { owner.participants.remove(self) }

  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return convert(count)
  }

  package var tables: [String] { select.tables.sorted() }

  package func prepare(_ news: News, on connection: Connection) -> Bool {
    do {
      let count = needsCounting ? try counted(on: connection) : try judged(news) ?? counted(on: connection)
      needsCounting = false
      if count == self.count, error == nil {
        commitNumber = news.number
        return false
      }
      next = (count, news.number, nil)
    } catch {
      needsCounting = true
      next = (count, news.number, error)
    }
    return true
  }

  package func announce() { registrar.willSet(self, keyPath: \.value) }

  package func apply() {
    guard let next else { return }
    (count, commitNumber, error) = next
    self.next = nil
  }

  package func tell() { registrar.didSet(self, keyPath: \.value) }

  /// The count after the changes, from their values alone; nil where those do not tell.
  private func judged(_ news: News) throws -> Int? {
    guard let ownColumns, let changes = news[select.table] else { return nil }
    let columns = ownColumns.filter { $0 != select.key }.compactMap { changes.table.index(of: $0) }
    var count = count
    for change in changes.rows {
      guard case .integer(let key) = change.key else { continue }
      func accepts(_ image: RowChange.Image?) -> Bool? {
        guard let filter = select.filter else { return true }
        guard let image, columns.allSatisfy({ image[$0] != nil }) else { return nil }
        return filter.accepts { path in
          if path.column == select.key { return .integer(key) }
          return changes.table.index(of: path.column).flatMap { image[$0] } ?? .null
        }
      }
      if change.kind != .insert {
        guard let was = accepts(change.old) else { return nil }
        if was { count -= 1 }
      }
      if change.kind != .delete {
        guard let isNow = accepts(change.new) else { return nil }
        if isNow { count += 1 }
      }
    }
    return count
  }

  private func counted(on connection: Connection) throws -> Int {
    queriesRun += 1
    let sql = try select.count()
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    return try statement.step() ? Int(try statement.row.int64(0)) : 0
  }
}

extension ModelContext {
  /// How many rows match, followed.
  public func liveCount<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>? = nil) throws
    -> LiveValue<Int>
  {
    try owner.settleThrowing()
    let query = try ResolvedQuery(
      type, where: predicate, sortBy: [], limit: nil, offset: 0, in: try owner.requireStore())
    return try LiveValue(self, query.select) { $0 }
  }
}
