import Foundation
import Quire
import QuireSQLite

@testable import QuireLive
@testable import QuireModel

/// A list that is followed: its keys against the query run afresh, its differences replayed, the rows they tell against
/// the table as it was and is.
final class ListProbe: Probe {
  let name: String
  private let list: LiveNode<WindowOperator>
  private var token: ChangeToken?
  private var distorted: Distorted?
  private let select: SelectQuery
  private let listener: Listener?
  private var keys: [Int64]
  private var rows: [Int64: [Value]]
  private(set) var differences = 0

  /// Not tied to an actor, as no list is.
  private final class Listener {
    let form: ChangedTable
    var told: [(difference: KeyDifference, rows: NotifiedRows, commit: Int64)] = []
    init(_ form: ChangedTable) { self.form = form }
  }

  init(_ question: RandomCase.Question, _ input: RandomCase, _ context: ModelContext, _ fault: RandomCase.Fault?) throws
  {
    name = "list of \(question.table)"
    select = question.select
    guard let table = input.tables.first(where: { $0.name == question.table }) else {
      throw CocoaError(.featureUnsupported)
    }
    let form = ChangedTable(name: table.name, columns: table.columns.map(\.name), keyColumns: [0])
    let database = context.owner.store?.database
    listener = question.listens ? Listener(form) : nil
    let window = WindowOperator(select, owner: context.owner, listenedForm: listener?.form)
    list = try LiveNode(window, select, in: context.owner)
    keys = window.keys
    rows = try database.map { try Self.rows(form, $0) } ?? [:]
    if let listener {
      token = list.onDifference { [unowned listener] in listener.told.append(($0.keys, $0.rows, $0.commit)) }
    }
    let base = question.table
    if fault == .frontier { distorted = Distorted(list, in: context.owner) { _ in window.forgetFrontier() } }
    if fault == .origins { distorted = Distorted(list, in: context.owner) { $0.forgetOldOrigins(but: base) } }
  }

  private static func rows(_ form: ChangedTable, _ database: Database) throws -> [Int64: [Value]] {
    let columns = form.columns.map { ColumnPath($0) }
    let sql = try SelectQuery(from: form.name, columns: columns).statement()
    var result: [Int64: [Value]] = [:]
    for row in try database.read({ try $0.query(sql.text, sql.bindings).rows }) {
      if case .integer(let key) = row[0] { result[key] = row }
    }
    return result
  }

  func problem(_ database: Database, _ commit: Int64) throws -> String? {
    let sql = try select.statement()
    let fresh = try database.read { try $0.query(sql.text, sql.bindings).rows }.compactMap { row in
      if case .integer(let key) = row[0] { key } else { nil as Int64? }
    }
    let (before, old) = (keys, rows)
    keys = list.content.keys
    if let error = list.error { return "\(error)" }
    if list.content.keys != fresh { return "shows \(list.content.keys), afresh \(fresh), before \(before)" }
    if list.commitNumber != commit { return "stands at \(list.commitNumber), not \(commit)" }
    guard let listener else { return nil }
    defer { listener.told = [] }
    rows = try Self.rows(listener.form, database)
    if listener.told.count > 1 { return "told \(listener.told.count) times" }
    guard let (difference, told, number) = listener.told.first else {
      if before != keys { return "\(before) → \(keys) untold" }
      return keys.contains { old[$0] != rows[$0] } ? "an update untold" : nil
    }
    differences += 1
    if number != commit || difference.isEmpty { return "told of \(number), \(difference)" }
    return problem(difference, told, before, old)
  }

  private func problem(_ difference: KeyDifference, _ told: NotifiedRows, _ before: [Int64], _ old: [Int64: [Value]])
    -> String?
  {
    func isOld(_ key: Int64) -> Bool { told.old[key].map { $0.image.values == old[key]?.map(Optional.some) } ?? false }
    func isNew(_ key: Int64) -> Bool { told.new[key].map { $0.image.values == rows[key]?.map(Optional.some) } ?? false }
    var result = before
    let leaving = difference.deletes.map { ($0.at, $0.key) } + difference.moves.map { ($0.from, $0.key) }
    for (at, key) in leaving.sorted(by: { $0.0 > $1.0 }) {
      if !result.indices.contains(at) || result[at] != key { return "\(key) does not leave \(at)" }
      if !isOld(key) { return "\(key) is told as \(told.old[key].debugDescription), was \(old[key] ?? [])" }
      result.remove(at: at)
    }
    let coming = difference.inserts.map { ($0.at, $0.key) } + difference.moves.map { ($0.to, $0.key) }
    for (at, key) in coming.sorted(by: { $0.0 < $1.0 }) {
      if at > result.count { return "\(key) comes to \(at) of \(result.count)" }
      if !isNew(key) { return "\(key) is told as \(told.new[key].debugDescription), is \(rows[key] ?? [])" }
      result.insert(key, at: at)
    }
    if result != keys { return "differences lead from \(before) to \(result), not \(keys)" }
    for (key, at) in difference.updates {
      if !keys.indices.contains(at) || keys[at] != key { return "update of \(key) at \(at)" }
      if !isOld(key) || !isNew(key) { return "\(key) is told wrongly as updated" }
    }
    let toldKeys = Set((difference.moves.map(\.key)) + difference.updates.map(\.key))
    let untold = Set(before).intersection(keys).filter { old[$0] != rows[$0] && !toldKeys.contains($0) }
    return untold.isEmpty ? nil : "updates of \(untold) untold"
  }
}
