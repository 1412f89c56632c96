internal import Foundation
internal import QuireRow

/// How far a store has followed its file's change log.
struct LogPlace {
  /// The version of the schema for which `state` holds; nil where it is not known what has happened.
  private var schema: Int64?
  private var tables: [SchemaReader.Object] = []
  /// Nil where the file keeps no log.
  private(set) var state: LogState?
  /// The last change that is in a numbered commit.
  private var end = LogEnd(place: 0, commit: nil)
  /// Where the log ended when the store was opened: nothing before has a number.
  private var start: Int64 = 0
  private var numbers = LogNumbers()
  /// Set by tests alone: overlooks rows that are gone, to prove that the differential test would notice.
  var forgetsDeletes = false

  /// Knows nothing yet.
  init() {}

  /// The present end of the log.
  ///
  /// - Parameter schemas: As for ``LogState/init(on:knowing:)``.
  init(on connection: Connection, knowing schemas: LogSchemas? = nil) throws {
    schema = try LogState.schema(of: connection)
    state = try LogState(on: connection, knowing: schemas)
    tables = try LogState.tables(of: connection)
    if state != nil { end = try LogEnd(of: connection) }
    start = last
  }

  /// Records the number under which another process's commit is reported.
  mutating func note(_ number: Int64, of set: LoggedSet) { numbers.add(number, at: set.place) }

  /// The number under which another process's commit was reported; 0 for one from before the store was opened.
  func number(of set: LoggedSet) -> Int64 { set.place <= start ? 0 : numbers.number(at: set.place) ?? 0 }

  var last: Int64 { end.place }

  var token: CommitToken? { state.map { end.token(in: $0.log) } }

  /// After a commit of the store's own.
  ///
  /// - Parameter schema: the schema in that transaction where it altered it.
  mutating func committed(_ state: LogState?, end: LogEnd?, schema: (version: Int64, tables: [SchemaReader.Object])?) {
    self.state = state
    if let end { self.end = end }
    guard let schema else { return }
    self.schema = schema.version
    tables = schema.tables
  }

  /// After another node's commit was repeated, with what it has logged.
  mutating func repeated(_ number: Int64, at end: LogEnd) {
    if end.place > last { self.end = end }
    numbers.add(number, at: end.place)
  }

  /// Unknown commits have been made: the next check compares everything.
  mutating func lose() { schema = nil }

  /// What others have committed since, on a connection that shows one of their commits.
  ///
  /// One set with unknown rows if the log is not sufficient: there is none, tables were altered, triggers are missing,
  /// the log was trimmed past this position, or a commit has left nothing in it. The latter is nothing if the file is
  /// shared: what sharing keeps beside the rows is written without the log. Rows are not, but for those of virtual tables.
  mutating func follow(_ connection: Connection, process: String?, _ schemas: LogSchemas) throws -> [LoggedSet] {
    if try schema != LogState.schema(of: connection) {
      let now = try LogPlace(on: connection, knowing: schemas)
      var goesOn = schema != nil && state?.isWhole == true && state?.log == now.state?.log && tables == now.tables
      // A copy that was put back has another commit there, if it is long enough.
      if goesOn, end.commit != nil { goesOn = try LogEnd(at: last, on: connection) == end }
      let before = self
      self = now
      forgetsDeletes = before.forgetsDeletes
      if before.state?.log == now.state?.log { (start, numbers) = (before.start, before.numbers) }
      if !goesOn { return [unknown] }
      end = before.end  // an index, a view, or a table of ours: nothing was altered that is logged
    }
    guard let state else { return [unknown] }
    let trimmed = try connection.query("SELECT trimmed FROM _quire_log").first ?? .null
    if state.isWhole, trimmed.compare(to: .integer(last)) <= 0 {
      let forms = try schemas.schema(of: state.log, on: connection).forms
      let sets = try LogReader(connection: connection, process: process, forms: forms).sets(after: last).sets
      if let last = sets.last {
        end = last.end
        return forgetsDeletes ? sets.map(\.withoutDeletes) : sets
      }
      if try NodePlace(on: connection) != nil, try !NodeTables.sharedInternals(of: connection).hasShadows { return [] }
    }
    end = try LogEnd(of: connection)
    return [unknown]
  }

  /// Others have committed, and what is not known.
  var unknown: LoggedSet { LoggedSet(tables: [], end: end, rowsUnknown: true) }
}
