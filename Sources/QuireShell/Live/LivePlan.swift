import QuireLive
import QuireModel
import QuireRow
public import QuireSQLite

/// A query that is to be followed: what is run, and by which columns a row is known again.
public struct LivePlan: Sendable {
  /// As it was typed, without `live`.
  public let title: String
  public let sql: SQL
  /// Empty if only all its values identify a row.
  public let key: [String]
  /// The part that is updated by its changes; nil if the query must be run again.
  let selection: Selection?
  /// Whether other programs' commits would be noticed.
  let canBeFollowed: Bool
  /// Why it has to be, in words; nil for what has a selection.
  let reason: String?

  /// How it is kept up to date.
  ///
  /// - Parameter knowsRows: Whether the file records which rows another process has changed.
  func manner(knowsRows: Bool) -> LiveStrategy {
    LiveStrategy(isRunAgain: selection == nil, reason: reason, knowsRows: knowsRows)
  }
}

/// How a live answer is kept up to date.
public struct LiveStrategy: Hashable, Sendable, CustomStringConvertible {
  /// Whether the query is run again when a table it reads changes, and not kept by its changes.
  public let isRunAgain: Bool
  /// The reason, if there is more to say.
  let reason: String?
  let knowsRows: Bool

  /// In three words.
  public var short: String { isRunAgain ? "query run again" : "kept by changes" }

  public var description: String {
    if isRunAgain { return "run again when a table it reads changes" + (reason.map { ": \($0)" } ?? "") }
    return "kept by its changes"
      + (knowsRows ? "" : "; without a log in the file, other processes' commits are compared")
  }
}

extension ShellSession {
  /// The plan for a query of either language, with or without `live` before it.
  public func livePlan(_ text: String) throws(ShellFailure) -> LivePlan {
    input = text
    do {
      try refresh()
      return try livePlan(text, from: 0)
    } catch {
      throw explained(error)
    }
  }

  /// The plan for what begins at `start`: `live`, and `count` before a query of models, are words of their own.
  func livePlan(_ text: String, from start: Int) throws -> LivePlan {
    if isCopied { throw ShellFailure("\(printable(file)) cannot be followed: that needs a database", .usage) }
    let rest = text.utf8Suffix(from: start)
    if let failure = notAQuery(rest, from: start, "only a query can be followed") { throw failure }
    switch InputReader(models: models).kind(of: rest) {
    case .verb(.live, let next): return try livePlan(text, from: start + next)
    case .verb(.count, let next): return try livePlan(text, from: start, query: start + next, counts: true)
    case .model: return try livePlan(text, from: start, query: start, counts: false)
    default: return try sqlPlan(rest)
    }
  }

  private func livePlan(_ text: String, from start: Int, query place: Int, counts: Bool) throws -> LivePlan {
    let query = try selected(text, from: place).query
    let sql = try counts ? ModelSQL.count(query) : ModelSQL.select(query)
    let key = counts ? [] : query.model.map { models[$0].keyColumns } ?? []
    let (selection, reason) = try followed(query, counts: counts)
    return try plan(text.utf8Suffix(from: start), sql, key: key, selection, reason)
  }

  private func sqlPlan(_ text: String) throws -> LivePlan {
    let sql = Self.title(text)
    let columns = try source.connection.prepare(sql).columnNames
    let key = columns.first { $0.lowercased() == "id" }.map { [$0] } ?? []
    return try plan(text, ModelSQL(text: sql), key: key, nil, nil)
  }

  private func followed(_ query: ResolvedQuery, counts: Bool) throws -> (Selection?, reason: String?) {
    var translation = SelectionTranslation(models, parameters: parameters)
    do {
      return (try counts ? translation.tally(query) : translation.selection(query), nil)
    } catch let error as NotFollowed {
      return (nil, error.reason)
    }
  }

  private func plan(
    _ text: String, _ sql: ModelSQL, key: [String], _ selection: Selection?, _ reason: String?
  ) throws -> LivePlan {
    let statement = try prepare(sql)
    if !statement.isReadOnly { throw ShellFailure("the statement writes; only a query can be followed", .refused) }
    let columns = statement.columnNames
    if columns.isEmpty { throw ShellFailure("only a query can be followed: SELECT, WITH or VALUES", .usage) }
    var values: [String: Value] = [:]
    for (name, value) in parameters { for sigil in [":", "$", "@"] { values[sigil + name] = value } }
    return LivePlan(
      title: Self.title(text), sql: SQL(verbatim: sql.text, sql.values, named: values),
      key: Set(key).isSubset(of: columns) ? key : [], selection: selection,
      canBeFollowed: !source.connection.isUnlocked, reason: reason)
  }

  /// What was typed, without the semicolon.
  private static func title(_ text: String) -> String {
    var title = text[...].trimmed
    while title.hasSuffix(";") { title = title.dropLast().trimmed }
    return title
  }
}
