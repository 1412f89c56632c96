public import Foundation
public import QuireLive
public import QuireModel
public import QuireSQLite

/// A result that follows its file: it always equals the same query.
///
/// A closure of `observe` that reads the records or the error runs again when they change. It follows as long as it is
/// referenced.
@MainActor public protocol LiveAnswer: AnyObject {
  var columns: [String] { get }
  var records: [SQLRecord] { get }
  /// Why it could not follow the last commit; nil while it does. The records stay what they were until it can.
  var error: (any Error)? { get }
  /// The commit that the records show.
  var commitNumber: Int64 { get }
  /// How many statements it has run since it was made.
  var queriesRun: Int { get }
  /// Calls `body` after each move that changed the records. Ends with the token.
  func onDifference(_ body: @escaping (Difference<SQLRecord>) -> Void) -> ChangeToken
}

extension LiveRecords: LiveAnswer {
  public var records: [SQLRecord] { Array(self) }
}
extension LiveSelection: LiveAnswer {}
extension LiveTally: LiveAnswer {}

/// The commits of a session.
public struct SessionCommits: Sendable {
  let own: LocalCommits
}

/// Opens answers that follow a file, all on one store, which is opened for the first of them.
@MainActor public final class LiveAnswers {
  public let file: URL
  private(set) var store: ModelContainer?
  private let footprint: SidecarFiles

  public init(_ file: URL) {
    self.file = file
    footprint = SidecarFiles(of: file.path(percentEncoded: false))
  }

  /// From now on ``writer`` knows these commits.
  public func recognize(_ commits: SessionCommits) throws(ShellFailure) {
    do {
      try context().recognize(commits.own)
    } catch {
      throw SQLFailure(input: "", file: file.path(percentEncoded: false), names: { [] }).explained(error, nil)
    }
  }

  /// The writers of the commits of which a result is being notified, as text. Valid inside
  /// ``LiveAnswer/onDifference(_:)``.
  public var writer: String {
    let origins = store?.mainContext.toldOrigins ?? []
    if !origins.contains(.sql) { return "another process" }
    return origins.count == 1 ? "this session" : "this session and another process"
  }

  /// - Parameter key: By which columns a row is known again, in place of the plan's; then the query is run again.
  /// - Throws: what the store or the query is refused for, as a ``ShellFailure``.
  public func open(_ plan: LivePlan, key: [String]? = nil) throws(ShellFailure) -> (
    answer: any LiveAnswer, manner: LiveStrategy
  ) {
    if !plan.canBeFollowed {
      throw ShellFailure(
        "\(printable(file.path(percentEncoded: false))) cannot be followed: nothing can be made in its folder, so that the "
          + "commits of other programs would not be noticed", .usage)
    }
    do {
      let context = try context()
      if let key {
        let strategy = LiveStrategy(isRunAgain: true, reason: nil, knowsRows: false)
        return (try context.live(sql: plan.sql, key: key), strategy)
      }
      return (try Self.answer(plan, context), plan.manner(knowsRows: context.knowsForeignRows))
    } catch {
      throw explained(error, plan)
    }
  }

  private static func answer(_ plan: LivePlan, _ context: ModelContext) throws -> any LiveAnswer {
    guard let selection = plan.selection else { return try context.live(sql: plan.sql, key: plan.key) }
    if let name = selection.tally { return try LiveTally(context, selection.select, named: name) }
    return try LiveSelection(context, selection.select, columns: selection.columns)
  }

  /// How it would be kept, which changes would wake it and what they would cost; nothing of it is run.
  ///
  /// - Throws: as ``open(_:key:)``.
  public func explanation(of plan: LivePlan) throws(ShellFailure) -> LiveExplanation {
    do {
      let context = try context()
      guard let selection = plan.selection else { return try context.explainLive(sql: plan.sql) }
      if selection.tally != nil { return try context.explainLive(countOf: selection.select) }
      return try context.explainLive(selection.select, columns: selection.columns)
    } catch {
      throw explained(error, plan)
    }
  }

  private func context() throws -> ModelContext {
    let store = try self.store ?? ModelContainer(reading: file, trustsSchema: true)
    self.store = store
    return store.mainContext
  }

  private func explained(_ error: any Error, _ plan: LivePlan) -> ShellFailure {
    SQLFailure(input: plan.title, file: file.path(percentEncoded: false), names: { [] }).explained(error, nil)
  }

  /// Ends them all; nothing is left beside the file.
  public func close() {
    try? store?.close()
    store = nil
    footprint.sweep()
  }
}
