internal import Foundation
internal import QuireRow

/// How far a store has followed its file's change log.
struct LogPlace {
  /// The version of the schema for which `state` holds; nil where it is not known what has happened.
  private var schema: Int64?
  private var tables: [[Value]] = []
  /// Nil where the file keeps no log.
  private(set) var state: LogState?
  /// The last change that is in a numbered commit.
  private(set) var last: Int64 = 0
  private var forms: LogForms?

  /// Knows nothing yet.
  init() {}

  /// The present end of the log.
  init(on connection: Connection) throws {
    schema = try LogState.schema(of: connection)
    state = try LogState(on: connection)
    tables = try LogState.tables(of: connection)
    if state != nil { last = try LogState.last(on: connection) }
  }

  var token: CommitToken? { state.map { CommitToken(log: $0.log, place: last) } }

  /// After a commit of the store's own.
  ///
  /// - Parameter schema: the schema in that transaction where it altered it.
  mutating func committed(_ state: LogState?, last: Int64?, schema: (version: Int64, tables: [[Value]])?) {
    self.state = state
    if let last { self.last = last }
    guard let schema else { return }
    self.schema = schema.version
    tables = schema.tables
    forms = nil
  }

  /// It is not known what has been committed: at the next look everything is looked at.
  mutating func lose() { schema = nil }

  /// What others have committed since, on a connection that shows one of their commits.
  ///
  /// One set that is a comparison where the log does not tell it all: there is none, tables were altered, triggers are
  /// missing, the log was trimmed beyond this place, or a commit has left nothing in it.
  mutating func follow(_ connection: Connection, process: String?, known: ChangedTables) throws -> [LoggedSet] {
    if try schema != LogState.schema(of: connection) {
      let now = try LogPlace(on: connection)
      let goesOn = schema != nil && state?.isWhole == true && state?.log == now.state?.log && tables == now.tables
      let place = last
      self = now
      if !goesOn { return [unknown] }
      last = place  // an index, a view, or a table of ours: nothing was altered that is logged
    }
    guard let state else { return [unknown] }
    let trimmed = try connection.query("SELECT trimmed FROM _quire_log").first ?? .null
    if state.isWhole, trimmed.compare(to: .integer(last)) <= 0 {
      let forms = try forms ?? LogForms(connection, known)
      self.forms = forms
      let sets = try LogReader(connection: connection, process: process, forms: forms).sets(after: last).sets
      if let end = sets.last {
        last = end.place
        return sets
      }
    }
    last = try LogState.last(on: connection)
    return [unknown]
  }

  private var unknown: LoggedSet { LoggedSet(tables: [], place: last, isComparison: true) }
}
