public import Foundation
public import QuireLive
import QuireModel
import QuireRow
import QuireSQLite

/// A query that is to be followed: what is run, and by which columns a row is known again.
public struct LivePlan: Sendable {
  /// As it was typed, without `live`.
  public let title: String
  public let sql: SQL
  /// Empty where only all of its values say which row it is.
  public let key: [String]
  /// How it is kept up to date, in words.
  public let manner: String
}

extension ShellSession {
  /// The plan for a query of either language, with or without `live` before it.
  public func livePlan(_ text: String) throws(ShellFailure) -> LivePlan {
    input = text
    do {
      try refresh()
      let reader = InputReader(models: models)
      switch reader.kind(of: text) {
      case .verb(.live, let start):
        let rest = text.utf8Suffix(from: start)
        let isModel = if case .model = reader.kind(of: rest) { true } else { false }
        return try livePlan(text, from: start, isModel: isModel)
      case .model(let start): return try livePlan(text, from: start, isModel: true)
      default: return try livePlan(text, from: 0, isModel: false)
      }
    } catch {
      throw explained(error)
    }
  }

  func livePlan(_ text: String, from start: Int, isModel: Bool) throws -> LivePlan {
    var title = text.utf8Suffix(from: start)[...].trimmed
    while title.hasSuffix(";") { title = title.dropLast().trimmed }
    var values: [String: Value] = [:]
    for (name, value) in parameters { for sigil in [":", "$", "@"] { values[sigil + name] = value } }
    var sql = title
    var key: [String] = []
    if isModel {
      let found = try selected(text, from: start)
      sql = found.sql.text
      for (place, value) in found.sql.values.enumerated() { values["?\(place + 1)"] = value }
      if let model = found.query.model { key = models[model].keyColumns }
    }
    let statement = try source.connection.prepare(sql)
    if !statement.isReadOnly { throw ShellFailure("the statement writes; only a query can be followed", .refused) }
    let columns = statement.columnNames
    if columns.isEmpty { throw ShellFailure("only a query can be followed: SELECT, WITH or VALUES", .usage) }
    if !isModel { key = columns.first { $0.lowercased() == "id" }.map { [$0] } ?? [] }
    if !Set(key).isSubset(of: columns) { key = [] }
    return LivePlan(
      title: title, sql: SQL(verbatim: sql, named: values), key: key,
      manner: "run again when a table it reads changes")
  }
}

/// Opens answers that follow a file, all on one store, which is opened for the first of them.
@MainActor public final class LiveAnswers {
  public let file: URL
  private var store: ModelContainer?
  private let footprint: Footprint

  public init(_ file: URL) {
    self.file = file
    footprint = Footprint(of: file.path(percentEncoded: false))
  }

  /// - Throws: what the store or the query is refused for, as a ``ShellFailure``.
  public func open(_ plan: LivePlan) throws(ShellFailure) -> LiveRecords {
    do {
      let store = try self.store ?? ModelContainer(reading: file)
      self.store = store
      return try store.mainContext.live(sql: plan.sql, key: plan.key)
    } catch {
      throw SQLFailure(input: plan.title, file: file.path(percentEncoded: false), names: { [] }).explained(error, nil)
    }
  }

  /// Ends them all; nothing is left beside the file.
  public func close() {
    try? store?.close()
    store = nil
    footprint.sweep()
  }
}
